package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Read gives every line to fn, oldest first and the file before this one
// included, until fn returns false. A damaged line is skipped.
func (l Log) Read(fn func(Line) bool) error {
	more := true
	f, err := l.history(func(line Line) bool { more = fn(line); return more })
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	if more {
		_, err = newTail(f).lines(fn)
	}
	return err
}

// Follow is Read that goes on with what is written afterwards, until fn returns
// false or ctx ends. caughtUp is called once, when everything that was there has
// been given; it, too, ends it by false. It looks every so often.
func (l Log) Follow(ctx context.Context, every time.Duration, fn func(Line) bool, caughtUp func() bool) error {
	more := true
	f, err := l.history(func(line Line) bool { more = fn(line); return more })
	if err != nil || !more {
		return errors.Join(err, closeFile(f))
	}
	t := newTail(f)
	if more, err = t.lines(fn); err != nil || !more || !caughtUp() {
		return errors.Join(err, closeFile(f))
	}
	return l.goOn(ctx, t, every, fn)
}

// history reads the file before this one, and gives this one, opened; nil if
// there is none. It is opened first: if it is set aside meanwhile, it is the
// file before, and not read twice.
func (l Log) history(fn func(Line) bool) (*os.File, error) {
	f, err := openFile(l.Path)
	if err != nil {
		return nil, err
	}
	before, err := openFile(l.Path + ".1")
	if err != nil || before == nil {
		return f, err
	}
	defer before.Close()
	if f != nil && sameFile(f, l.Path+".1") {
		return f, nil
	}
	_, err = newTail(before).lines(fn)
	return f, err
}

// goOn reads what is appended, and when the file was set aside, reads it to its
// end once more before it goes to the new one.
func (l Log) goOn(ctx context.Context, t *tail, every time.Duration, fn func(Line) bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		aside := t.f != nil && !sameFile(t.f, l.Path)
		select {
		case <-ctx.Done():
			return closeFile(t.f)
		case <-tick.C:
		}
		more, err := t.lines(fn)
		if err == nil && more && (aside || t.f == nil) {
			err = closeFile(t.f)
			f, oerr := openFile(l.Path)
			t = newTail(f)
			if err = errors.Join(err, oerr); err == nil {
				more, err = t.lines(fn)
			}
		}
		if err != nil || !more {
			return errors.Join(err, closeFile(t.f))
		}
	}
}

// openFile gives nil for a file that is not there.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

func sameFile(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(mine, now)
}

// tail reads lines, and keeps half a line for the next time.
type tail struct {
	f    *os.File // nil while there is none
	r    *bufio.Reader
	half []byte
	skip bool // the line is too long to be one of ours
}

func newTail(f *os.File) *tail { return &tail{f: f, r: bufio.NewReader(f)} }

func (t *tail) lines(fn func(Line) bool) (more bool, err error) {
	for t.f != nil {
		b, err := t.r.ReadSlice('\n')
		if t.skip = t.skip || len(t.half)+len(b) > maxLine; t.skip {
			t.half = t.half[:0]
		} else {
			t.half = append(t.half, b...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		}
		line, ok := parse(t.half)
		t.half, t.skip = t.half[:0], false
		if ok && !fn(line) {
			return false, nil
		}
	}
	return true, nil
}

func parse(b []byte) (Line, bool) {
	var l Line
	err := json.Unmarshal(bytes.TrimSpace(b), &l)
	return l, err == nil && l.What != ""
}
