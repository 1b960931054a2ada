package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gh-loop/gh-loop/internal/work"
)

// place is a record's file: where it stands and what it holds.
type place struct {
	path   string
	data   []byte
	record *work.Record
}

// load reads one file as a record; fs.ErrNotExist if nothing is there, else
// *DamagedError.
func load(path string) (place, error) {
	b, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return place{}, err
	}
	if err != nil {
		return place{}, &DamagedError{path, err}
	}
	r, err := work.ParseRecord(b)
	if err != nil {
		return place{}, &DamagedError{path, err}
	}
	return place{path, b, r}, nil
}

// in finds the ref's file in a directory: ErrNotFound if it has none there, and
// *DamagedError if it may have one that cannot be read.
func in(dir string, ref work.Ref) (place, error) {
	var damaged error
	for _, name := range names(ref) {
		p, err := load(filepath.Join(dir, name))
		switch {
		case err == nil && p.record.Ref.Same(ref):
			return p, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && damaged == nil:
			damaged = err
		}
	}
	if damaged != nil {
		return place{}, damaged
	}
	return place{}, fmt.Errorf("record of %s: %w", ref, ErrNotFound)
}

// Find gives the ref's own live record. A pull request that is only listed has
// none: see Listing.
func (s *Store) Find(ref work.Ref) (*work.Record, error) {
	p, err := in(s.local(), ref)
	if err != nil {
		return nil, err
	}
	if !p.record.Live() { // on its way to the closed ones
		return nil, fmt.Errorf("live record of %s: %w", ref, ErrNotFound)
	}
	return p.record, nil
}

// FindClosed gives the ref's own record if it ended.
func (s *Store) FindClosed(ref work.Ref) (*work.Record, error) {
	p, err := in(s.local(), ref)
	if err == nil && !p.record.Live() {
		return p.record, nil
	}
	p, err = in(s.closed(), ref)
	return p.record, err
}

// own finds the file that a change of the ref's record begins from: the one
// among the live ones, else the one among the closed ones. It is to be called
// under the ref's lock.
func (s *Store) own(ref work.Ref) (place, error) {
	p, err := in(s.local(), ref)
	if errors.Is(err, ErrNotFound) {
		p, err = in(s.closed(), ref)
	}
	return p, err
}

// Path gives the ref's file, or where it would be made.
func (s *Store) Path(ref work.Ref) string {
	p, err := s.own(ref)
	if err == nil {
		return p.path
	}
	if d := (*DamagedError)(nil); errors.As(err, &d) {
		return d.Path
	}
	path, _, err := free(s.local(), ref)
	if err != nil {
		return filepath.Join(s.local(), names(ref)[0])
	}
	return path
}

// free gives the path that the ref's file takes in a directory, and the file
// of the same ref that it would replace there, if any. A name that belongs to
// another ref or cannot be read is left alone.
func free(dir string, ref work.Ref) (string, *work.Record, error) {
	var last error
	for _, name := range names(ref) {
		path := filepath.Join(dir, name)
		p, err := load(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil, nil
		case err == nil && p.record.Ref.Same(ref):
			return path, p.record, nil
		case err == nil:
			last = &DamagedError{path, fmt.Errorf("%w: it names %s", ErrStray, p.record.Ref)}
		default:
			last = err
		}
	}
	return "", nil, last
}
