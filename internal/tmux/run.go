// Package tmux is the only caller of tmux. Requests go in as structs, answers
// come out typed, and what is unclear comes out as unknown: nothing here is
// decided by the wording of a message, which differs between versions and
// languages, but by exit status, by ids, and by whether somebody listens on
// the server's socket.
package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Server is a tmux server, named by its socket. It need not run.
type Server struct {
	Bin     string        // program; "" is tmux from PATH
	Socket  string        // absolute path
	Timeout time.Duration // for each invocation; 0 is five seconds
	Conf    string        // configuration of a server that is started; "" is the user's own
}

// ErrNoServer says that nobody listens on the socket. It is definite for the
// socket only: a server that lost its socket file may still run.
var ErrNoServer = errors.New("no tmux server listens")

// UnknownError is every answer of tmux that proves nothing: none within the
// time, an exit status that is not zero, or words that make no sense.
type UnknownError struct {
	Socket  string
	Command string // name of the first tmux command
	Exit    int    // exit status; -1 if it did not end by itself
	Said    string // what it wrote to standard error, cleaned, for people only
	Err     error  // what we know of the cause, may be nil
}

// Error names the server, the command and what is known.
func (e *UnknownError) Error() string {
	var old *OldError
	if errors.As(e.Err, &old) {
		return old.Error()
	}
	msg := fmt.Sprintf("tmux on %q gave no clear answer to %q", e.Socket, e.Command)
	if e.Exit > 0 {
		msg += fmt.Sprintf(", exit %d", e.Exit)
	}
	if e.Said != "" {
		msg += fmt.Sprintf(", saying %q", e.Said)
	}
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if errors.Is(e.Err, exec.ErrNotFound) {
		msg += "; install tmux 3.2 or newer"
	}
	return msg
}

// Unwrap gives the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// Run executes one invocation against a running server and returns what it
// printed, also beside an error. Words are passed as they are: a word ";"
// separates commands, see Word for those that come from elsewhere. No server
// is ever started. Errors are ErrNoServer or an *UnknownError.
func (s Server) Run(ctx context.Context, stdin io.Reader, words ...string) (string, error) {
	if s.hung(ctx) {
		return "", s.unknown(words, -1, "", errHung())
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	var out capped
	err := s.invoke(ctx, false, stdin, &out, words)
	s.noteHung(ctx, began, err)
	return out.String(), err
}

// capped keeps what a program prints, and breaks with one that never stops.
type capped struct{ buf bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	if c.buf.Len()+len(b) > 64<<20 {
		return 0, errors.New("it prints without end")
	}
	return c.buf.Write(b)
}

func (c *capped) String() string { return c.buf.String() }

// argsMax is how many bytes of words go on a command line: one message to a
// tmux server takes 16 KB (MAX_IMSGSIZE).
const argsMax = 12000

// do runs commands in one invocation, in order until one is refused. What is
// too long for a command line goes through standard input.
func (s Server) do(ctx context.Context, cmds ...[]string) (string, error) {
	words, stdin := encode(false, cmds)
	return s.Run(ctx, stdin, words...)
}

// encode lays commands out for one invocation, and gives what has to come
// through standard input, if any.
func encode(start bool, cmds [][]string) ([]string, io.Reader) {
	words := line(cmds)
	size := 0
	for _, w := range words {
		size += len(w) + 1
	}
	if size <= argsMax {
		return words, nil
	}
	words = []string{"source-file", "-"}
	if start { // source-file by itself starts no server
		words = append([]string{"start-server", ";"}, words...)
	}
	return words, strings.NewReader(script(cmds) + "\n")
}

func (s Server) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return 5 * time.Second
}

func (s Server) bin() string {
	if s.Bin != "" {
		return s.Bin
	}
	return "tmux"
}

// invoke is the only place that speaks to a server.
func (s Server) invoke(ctx context.Context, start bool, stdin io.Reader, stdout io.Writer, words []string) error {
	args := []string{"-u", "-N", "-S", s.Socket}
	if start {
		args = []string{"-u", "-S", s.Socket}
		if s.Conf != "" {
			args = append(args, "-f", s.Conf)
		}
	}
	if s.Socket == "" { // tmux would take the user's own server
		return s.unknown(words, -1, "", errors.New("no socket is named"))
	}
	var said capped
	cmd := s.command(ctx, append(args, words...))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &said
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well; the server, which is handed our pipes, may be late to close them
	case ctx.Err() != nil:
		return s.unknown(words, -1, said.String(), ctx.Err())
	case !errors.As(err, &exit):
		return s.unknown(words, -1, "", err)
	}
	var misfit error
	silent := s.silent()
	if start || !silent {
		misfit = s.misfit(ctx)
	}
	if silent && misfit == nil {
		return fmt.Errorf("%w on %q", ErrNoServer, s.Socket)
	}
	return s.unknown(words, exit.ExitCode(), said.String(), misfit)
}

// command is a tmux process with a group of its own, which ends with the
// context: a child that keeps the pipe open must not keep us.
func (s Server) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.bin(), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

func (s Server) unknown(words []string, exit int, said string, err error) *UnknownError {
	e := &UnknownError{Socket: s.Socket, Exit: exit, Said: brief(said), Err: err}
	if len(words) > 0 {
		e.Command = words[0]
	}
	return e
}

// silent says whether it is certain that nobody listens on the socket.
func (s Server) silent() bool {
	conn, err := net.DialTimeout("unix", s.Socket, time.Second)
	if err == nil {
		_ = conn.Close()
		return false
	}
	for _, no := range []error{syscall.ENOENT, syscall.ECONNREFUSED, syscall.ENOTSOCK, syscall.ENOTDIR, syscall.EPROTOTYPE} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// brief makes foreign words fit for an error message.
func brief(said string) string {
	said = strings.TrimSpace(clean(said))
	if len(said) > 200 {
		said = strings.ToValidUTF8(said[:200], "") + "…"
	}
	return said
}
