package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// fill makes records of a usual size (some 1.5 kB, one pull request each).
func fill(b *testing.B, dir string, status work.Status, from, n int) {
	b.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := from; i < from+n; i++ {
		r := blank(octo(i))
		r.Status, r.HarnessSessionID, r.TmuxTarget = status, fmt.Sprintf("0f1c3b5a-0000-4000-8000-%012d", i), octo(i).SessionName()
		r.CreatedAt, r.LastEventAt = "2026-08-07T09:12:04Z", "2026-08-07T10:41:55Z"
		for d := range 10 {
			r.RecentDeliveries = append(r.RecentDeliveries, fmt.Sprintf("8f2c0000-0000-11ef-8000-%012d", d))
		}
		_, _ = r.Link(&work.Session{Ref: octo(i + 1000000), Harness: "claude", Status: status, HarnessSessionID: "77ab"})
		if err := os.WriteFile(filepath.Join(dir, names(r.Ref)[0]), r.Encode(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// processor reports the processor time of an operation, which a busy machine
// changes less than the time that passes.
func processor(b *testing.B) func() {
	spent := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	begin := spent()
	return func() { b.ReportMetric(float64(spent()-begin)/float64(b.N)/1e6, "cpu-ms/op") }
}

// BenchmarkListing looks a pull request up that one of the live records lists.
// Beside it, cat reads the same files and does nothing with them.
func BenchmarkListing(b *testing.B) {
	for _, c := range []struct{ live, closed int }{{100, 0}, {100, 10000}, {10000, 0}} {
		s := &Store{Dir: b.TempDir()}
		fill(b, s.local(), work.Active, 1, c.live)
		fill(b, s.closed(), work.Closed, 100001, c.closed)
		b.Run(fmt.Sprintf("live=%d/closed=%d/ours", c.live, c.closed), func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				recs, bad, err := s.Listing(octo(1000000 + c.live/2))
				if len(recs) != 1 || len(bad) != 0 || err != nil {
					b.Fatal(len(recs), bad, err)
				}
			}
		})
		b.Run(fmt.Sprintf("live=%d/closed=%d/cat", c.live, c.closed), func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				files, err := os.ReadDir(s.local())
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range files {
					if !f.IsDir() {
						_, _ = os.ReadFile(filepath.Join(s.local(), f.Name()))
					}
				}
			}
		})
	}
}

// BenchmarkChange is one change of a record, beside a bare write, fsync and
// rename of as many bytes.
func BenchmarkChange(b *testing.B) {
	s := &Store{Dir: b.TempDir()}
	fill(b, s.local(), work.Active, 15, 1)
	data, _ := os.ReadFile(s.Path(item))
	n := 0
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			n++
			if _, err := s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) { r.Title = fmt.Sprint(n); return r, nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "r.json")
		for b.Loop() {
			f, _ := os.Create(path + ".tmp")
			_, _ = f.Write(data)
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			f.Close()
			if err := os.Rename(path+".tmp", path); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLargeRecord changes a record of a thousand pull requests.
func BenchmarkLargeRecord(b *testing.B) {
	s := newStore(b, item)
	must[*work.Record](b)(s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) {
		for n := range 1000 {
			_, _ = r.Link(&work.Session{Ref: octo(1000 + n), Harness: "claude", Status: work.Active, Title: fmt.Sprintf("%0900d", n)})
		}
		return r, nil
	}))
	n := 0
	for b.Loop() {
		n++
		must[*work.Record](b)(s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) {
			r.Title = fmt.Sprint(n)
			return r, nil
		}))
	}
}
