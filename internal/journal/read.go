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
	for _, path := range []string{l.Path + ".1", l.Path} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		more, err := (&tail{r: bufio.NewReader(f)}).lines(fn)
		f.Close()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Follow gives fn every line that is written from now on, until fn returns
// false or ctx ends. It looks every so often, and goes on where the file is set
// aside for a new one.
func (l Log) Follow(ctx context.Context, every time.Duration, fn func(Line) bool) error {
	f, err := os.Open(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f != nil {
		if _, err := f.Seek(0, io.SeekEnd); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return l.followFrom(ctx, f, every, fn)
}

func (l Log) followFrom(ctx context.Context, f *os.File, every time.Duration, fn func(Line) bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var t tail
	if f != nil {
		t.r = bufio.NewReader(f)
	}
	for aside := false; ; {
		more, err := t.lines(fn)
		if err != nil || !more {
			return errors.Join(err, closeFile(f))
		}
		if aside { // read to its end once more after it was set aside
			if err := closeFile(f); err != nil {
				return err
			}
			f, t, aside = nil, tail{}, false
		}
		if f == nil {
			if f, err = os.Open(l.Path); err == nil {
				t.r = bufio.NewReader(f)
				continue
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else {
			aside = !l.current(f)
		}
		select {
		case <-ctx.Done():
			return closeFile(f)
		case <-tick.C:
		}
	}
}

func (l Log) current(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(l.Path)
	return err == nil && os.SameFile(mine, now)
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// tail reads lines, and keeps half a line for the next time.
type tail struct {
	r    *bufio.Reader
	half []byte
	skip bool // the line is too long to be one of ours
}

func (t *tail) lines(fn func(Line) bool) (more bool, err error) {
	for t.r != nil {
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
		ok = ok && !t.skip
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
