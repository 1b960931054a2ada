package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Live gives all records that are live, in the order of their files' names, and
// what stands among them that cannot be read or is not believed (ErrStray).
func (s *Store) Live() ([]*work.Record, []*DamagedError, error) {
	return s.scan(s.local(), everything, func(r *work.Record) bool { return r.Live() })
}

// Closed gives all records that ended, as Live does.
func (s *Store) Closed() ([]*work.Record, []*DamagedError, error) {
	recs, damaged, err := s.scan(s.closed(), everything, func(*work.Record) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	moving, _, err := s.scan(s.local(), everything, func(r *work.Record) bool { return !r.Live() })
	return append(recs, moving...), damaged, err
}

func everything([]byte) (bool, error) { return true, nil }

// Listing gives the live records that have an entry for the pull request,
// whatever the entry's status, or whose item has that name since it moved, and
// the live files that cannot be read: any of them may be one that lists it (rule
// 10). Only files in whose bytes the ref can be seen are parsed; the others get
// the check of sound.
func (s *Store) Listing(ref work.Ref) ([]*work.Record, []*DamagedError, error) {
	n := newNeedle(ref)
	recs, damaged, err := s.scan(s.local(), func(b []byte) (bool, error) {
		if n.in(b) {
			return true, nil
		}
		return false, sound(b)
	}, func(r *work.Record) bool { return r.Live() && (r.PullRequest(ref) != nil || r.MovedTo.Same(ref)) })
	damaged = slices.DeleteFunc(damaged, func(d *DamagedError) bool { return errors.Is(d, ErrStray) })
	return recs, damaged, err
}

type found struct {
	name   string
	record *work.Record
	bad    *DamagedError
}

// scan reads every record's file of a directory. want sees its bytes and says
// whether it is worth parsing; keep sees the record.
func (s *Store) scan(dir string, want func([]byte) (bool, error), keep func(*work.Record) bool) ([]*work.Record, []*DamagedError, error) {
	files, err := listRecords(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	fd := int(d.Fd())
	hits := overAll(files, func(buf []byte, name string) (found, []byte) {
		f := found{name: name}
		b, err := readAt(fd, name, buf)
		if errors.Is(err, fs.ErrNotExist) {
			return f, buf // it moved meanwhile
		}
		if err == nil {
			f.record, err = s.judge(dir, name, b, want)
			buf = b
		}
		if err != nil {
			f.record, f.bad = nil, &DamagedError{filepath.Join(dir, name), err}
		}
		if f.record != nil && !keep(f.record) {
			f.record = nil
		}
		return f, buf
	})
	slices.SortFunc(hits, func(a, b found) int { return strings.Compare(a.name, b.name) })
	var recs []*work.Record
	var damaged []*DamagedError
	for _, f := range hits {
		if f.bad != nil {
			damaged = append(damaged, f.bad)
		} else {
			recs = append(recs, f.record)
		}
	}
	return recs, damaged, nil
}

func (s *Store) judge(dir, name string, b []byte, want func([]byte) (bool, error)) (*work.Record, error) {
	if ok, err := want(b); err != nil || !ok {
		return nil, err
	}
	r, err := work.ParseRecord(b)
	if err != nil {
		return nil, err
	}
	return r, s.believe(dir, name, r)
}

// believe refuses a record that stands under a name that is not its own.
func (s *Store) believe(dir, name string, r *work.Record) error {
	own := names(r.Ref)
	switch name {
	case own[0]:
		return nil
	case own[1]:
		if p, err := load(filepath.Join(dir, own[0])); err != nil || !p.record.Ref.Same(r.Ref) {
			return nil
		}
		return fmt.Errorf("%w: %s has its record in %q", ErrStray, r.Ref, own[0])
	}
	return fmt.Errorf("%w: it names %s, whose file is %q", ErrStray, r.Ref, own[0])
}

// listRecords gives the names in a directory that can be records, in no order.
func listRecords(dir string) ([]string, error) {
	all, err := listDir(dir)
	return slices.DeleteFunc(all, func(name string) bool { return !named(name) }), err
}

// named says whether a name is one that some ref's file has. Everything else
// in our directories is not ours.
func named(name string) bool {
	s, ok := strings.CutSuffix(name, ".json")
	if !ok || !strings.HasPrefix(s, "github-") {
		return false
	}
	if base, hash, ok := strings.Cut(s, "~"); ok {
		if len(hash) != 8 || strings.Trim(hash, "0123456789abcdef") != "" {
			return false
		}
		s = base
	}
	number := s[strings.LastIndexByte(s, '-')+1:]
	return number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == ""
}

// overAll calls read for every name, on all processors when there are many, and
// gives what it found. A processor's buffer goes from one call to its next.
func overAll(files []string, read func(buf []byte, name string) (found, []byte)) []found {
	const chunk = 16
	workers := min(runtime.GOMAXPROCS(0), 8, 1+len(files)/(2*chunk))
	var next atomic.Int64
	var all []found
	var mu sync.Mutex
	run := func() {
		buf := make([]byte, 0, 16<<10)
		var mine []found
		for {
			to := int(next.Add(chunk))
			if to-chunk >= len(files) {
				break
			}
			for _, name := range files[to-chunk : min(to, len(files))] {
				var f found
				if f, buf = read(buf, name); f.record != nil || f.bad != nil {
					mine = append(mine, f)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, mine...)
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Add(1)
		go func() { defer wg.Done(); run() }()
	}
	run()
	wg.Wait()
	return all
}
