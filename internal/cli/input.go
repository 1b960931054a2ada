package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// reading is a file to be read until ctx ends: a signal that a command waits for
// stops no read from a terminal or a pipe. What is read behind that is lost, as
// the program ends with it.
func reading(ctx context.Context, f *os.File) io.Reader {
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		return f // which never waits
	}
	return &interruptible{ctx: ctx, from: f}
}

// opened opens a file to be read. A named pipe that nobody writes to yet is waited
// for until ctx ends, which opening it would not notice.
func opened(ctx context.Context, name string) (*os.File, error) {
	type answer struct {
		f   *os.File
		err error
	}
	got := make(chan answer, 1)
	go func() {
		f, err := os.Open(name)
		got <- answer{f, err}
	}()
	select {
	case a := <-got:
		return a.f, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type interruptible struct {
	ctx  context.Context
	from io.Reader
	own  []byte // what a read that nobody waits for any more writes to
}

func (r *interruptible) Read(p []byte) (int, error) {
	if want := min(len(p), 64<<10); len(r.own) < want {
		r.own = make([]byte, want)
	}
	type answer struct {
		n   int
		err error
	}
	own, got := r.own[:min(len(p), len(r.own))], make(chan answer, 1)
	go func() {
		n, err := r.from.Read(own)
		got <- answer{n, err}
	}()
	select {
	case a := <-got:
		return copy(p, own[:a.n]), a.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}

// ask asks a person, and gives what they typed in one line: nothing is an
// answer, and a signal is an error.
func (e *env) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(e.err, question)
	answer, err := bufio.NewReader(reading(ctx, e.in)).ReadString('\n')
	if err == nil || ctx.Err() == nil { // the end of the input is one as well
		return strings.TrimSpace(clean(answer)), nil
	}
	fmt.Fprintln(e.err)
	return "", err
}
