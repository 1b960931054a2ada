package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// asked is how many bytes this process has read so far, and by how many calls.
func asked(t *testing.T) (read, calls int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("only Linux counts what a process reads: ", err)
	}
	for line := range strings.Lines(string(b)) {
		_, _ = fmt.Sscanf(line, "rchar: %d", &read)
		_, _ = fmt.Sscanf(line, "syscr: %d", &calls)
	}
	return read, calls
}

// Callers at once on one record read it once for each change, however many
// wait: what a change costs does not grow with them, and none is lost.
func TestCallersDoNotReadMore(t *testing.T) {
	cost := func(callers int) (read, calls int) {
		s := newStore(t, item)
		s.LockTimeout = time.Hour
		read0, calls0 := asked(t)
		done := make(chan error)
		for range callers {
			go func() {
				_, err := s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) {
					r.Title += "x"
					return r, nil
				})
				done <- err
			}()
		}
		var err error
		for range callers {
			err = errors.Join(err, <-done)
		}
		read, calls = asked(t)
		if r := must[*work.Record](t)(s.Find(item)); err != nil || len(r.Title) != callers {
			t.Errorf("of %d changes %d were kept: %v", callers, len(r.Title), err)
		}
		return read - read0, calls - calls0
	}
	one, oneCalls := cost(1)
	for _, n := range []int{8, 64} {
		read, calls := cost(n)
		t.Logf("%d callers: %d bytes in %d reads; one: %d in %d", n, read, calls, one, oneCalls)
		if read > n*(one+n) || calls > n*oneCalls+n {
			t.Errorf("%d callers read %d bytes in %d calls, one reads %d in %d", n, read, calls, one, oneCalls)
		}
	}
}

// A look-up reads each live record once, and no ended one, and what it takes
// of memory is for what it finds.
func TestLookUpGrows(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	var before float64
	for _, c := range []struct{ live, ended int }{{10, 0}, {10, 1000}, {1000, 1000}} {
		for _, dir := range []string{s.local(), s.closed()} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, s.local(), work.Active, 1, c.live)
		fill(t, s.closed(), work.Closed, 100001, c.ended)
		names, err := filepath.Glob(filepath.Join(s.local(), "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, n := range names {
			fi := must[os.FileInfo](t)(os.Stat(n))
			size += int(fi.Size())
		}
		look := func() {
			if recs, _, err := s.Listing(octo(1000000 + c.live/2)); len(recs) != 1 || err != nil {
				t.Fatal(len(recs), err)
			}
		}
		read0, calls0 := asked(t)
		look()
		read, calls := asked(t)
		if read-read0 > size+2000 || calls-calls0 > c.live+10 {
			t.Errorf("%+v: %d bytes in %d reads, there are %d bytes", c, read-read0, calls-calls0, size)
		}
		allocs := testing.AllocsPerRun(5, look)
		t.Logf("%+v: %d bytes in %d reads, %.0f allocations", c, read-read0, calls-calls0, allocs)
		if before > 0 && allocs > before+3*float64(c.live) {
			t.Errorf("%+v: %.0f allocations after %.0f", c, allocs, before)
		}
		before = allocs
	}
}
