package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gh-loop/gh-loop/bench/turns"
	"github.com/gh-loop/gh-loop/internal/work"
)

// fill makes records of a usual size (some 1.5 kB, one pull request each).
func fill(b testing.TB, dir string, status work.Status, from, n int) {
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

// BenchmarkListing looks a pull request up that one of the live records lists.
// In turns with it, the same files are read and nothing is done with them.
func BenchmarkListing(b *testing.B) {
	for _, c := range []struct{ live, closed int }{{100, 0}, {100, 10000}, {10000, 0}} {
		if turns.Short() && c.live+c.closed > 100 {
			continue
		}
		b.Run(fmt.Sprintf("live=%d,closed=%d", c.live, c.closed), func(b *testing.B) {
			s := &Store{Dir: b.TempDir()}
			fill(b, s.local(), work.Active, 1, c.live)
			fill(b, s.closed(), work.Closed, 100001, c.closed)
			var took turns.Turns
			for b.Loop() {
				took.Time("look-up", func() {
					recs, bad, err := s.Listing(octo(1000000 + c.live/2))
					if len(recs) != 1 || len(bad) != 0 || err != nil {
						b.Fatal(len(recs), bad, err)
					}
				})
				took.Time("cat", func() {
					files, err := os.ReadDir(s.local())
					if err != nil {
						b.Fatal(err)
					}
					for _, f := range files {
						if !f.IsDir() {
							_, _ = os.ReadFile(filepath.Join(s.local(), f.Name()))
						}
					}
				})
			}
			took.Report(b)
		})
	}
}

// BenchmarkChange is one change of a record, in turns with a bare write, fsync
// and rename of as many bytes.
func BenchmarkChange(b *testing.B) {
	s := &Store{Dir: b.TempDir()}
	fill(b, s.local(), work.Active, 15, 1)
	data, _ := os.ReadFile(s.Path(item))
	path := filepath.Join(b.TempDir(), "r.json")
	syscall.Sync() // what was written before is not waited for
	var took turns.Turns
	for n := 0; b.Loop(); n++ {
		took.Time("change", func() {
			if _, err := s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) { r.Title = fmt.Sprint(n); return r, nil }); err != nil {
				b.Fatal(err)
			}
		})
		took.Time("rename", func() {
			f, err := os.Create(path + ".tmp")
			if err != nil {
				b.Fatal(err)
			}
			_, _ = f.Write(data)
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			f.Close()
			if err := os.Rename(path+".tmp", path); err != nil {
				b.Fatal(err)
			}
		})
	}
	took.Report(b)
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
