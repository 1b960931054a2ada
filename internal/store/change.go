package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Change is the one way to change a record (rule 9). Under the ref's lock it
// gives fn the record as it is, live or closed, or nil if there is none, and
// writes what fn returns: nil means no change. The record's status decides
// between the live and the closed ones. fn may be called only to look, must be
// quick, and must not call the store. What is returned is what is on disk.
func (s *Store) Change(ctx context.Context, ref work.Ref, fn func(*work.Record) (*work.Record, error)) (*work.Record, error) {
	unlock, err := s.lockRecord(ctx, ref.Slug())
	if err != nil {
		return nil, err
	}
	defer unlock()
	p, err := s.own(ref)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	next, err := fn(p.record)
	if err != nil {
		return nil, err
	}
	if next == nil && p.data == nil {
		return nil, nil
	}
	if next == nil { // fn may have changed what it was given
		if next, err = work.ParseRecord(p.data); err != nil {
			return nil, err
		}
	}
	if err := s.put(p, ref, next); err != nil {
		return nil, fmt.Errorf("record of %s: %w", ref, err)
	}
	return next, nil
}

// put writes a record where its status belongs. On the way between the two
// directories a file stands among the live ones with the status closed, which
// every reader takes for closed: so whatever is interrupted has either happened
// or not.
func (s *Store) put(p place, ref work.Ref, next *work.Record) error {
	if !next.Ref.Same(ref) || next.Harness == "" || next.Cwd == "" {
		return fmt.Errorf("refusing to write it with ref %q, harness %q and cwd %q", next.Ref, next.Harness, next.Cwd)
	}
	var err error
	switch {
	case p.path == "":
		if err = makeDir(s.local()); err == nil {
			p.path, _, err = free(s.local(), ref)
		}
	case next.Live() && filepath.Dir(p.path) == s.closed():
		p.path, err = s.bringBack(p.path, ref)
	}
	var end string // where a record that ended goes
	if err == nil && !next.Live() && filepath.Dir(p.path) == s.local() {
		end, err = s.placeAmongClosed(ref, next)
	}
	if err != nil {
		return err
	}
	if data := next.Encode(); !bytes.Equal(data, p.data) {
		if err := replace(p.path, s.temp(p.path), data); err != nil {
			return err
		}
	}
	if end != "" {
		return move(p.path, end)
	}
	return nil
}

func (s *Store) bringBack(from string, ref work.Ref) (string, error) {
	to, _, err := free(s.local(), ref)
	if err != nil {
		return "", err
	}
	return to, move(from, to)
}

// temp names the temporary file of a record: one for each, so that the next
// write replaces what a killed one left, and always among the live ones, so
// that leftovers are found without reading the directory of the closed ones.
func (s *Store) temp(path string) string {
	return filepath.Join(s.local(), "."+filepath.Base(path)+".tmp")
}

// placeAmongClosed gives where a record that ends goes. A closed file of the
// same ref, which only hands can have put there, is replaced after its pull
// requests and conversation ids were taken over.
func (s *Store) placeAmongClosed(ref work.Ref, next *work.Record) (string, error) {
	if err := makeDir(s.closed()); err != nil {
		return "", err
	}
	path, old, err := free(s.closed(), ref)
	if err != nil || old == nil {
		return path, err
	}
	return path, takeOver(next, old)
}

func takeOver(r, old *work.Record) error {
	ids := append(slices.Clone(old.FormerSessionIDs), old.HarnessSessionID)
	ids = append(ids, r.FormerSessionIDs...)
	r.FormerSessionIDs = nil
	for _, id := range ids {
		if id != "" && id != r.HarnessSessionID && !slices.Contains(r.FormerSessionIDs, id) {
			r.FormerSessionIDs = append(r.FormerSessionIDs, id)
		}
	}
	for _, e := range old.Damaged() {
		if !slices.ContainsFunc(r.Entries, func(have work.Entry) bool { return bytes.Equal(have.Raw, e.Raw) }) {
			r.Entries = append(r.Entries, e)
		}
	}
	for _, e := range old.PullRequests() {
		if _, err := r.Link(e); err != nil {
			return err
		}
	}
	return nil
}

// Remove forgets the ref's record on this machine, live and closed.
// ErrNotFound if there was none.
func (s *Store) Remove(ctx context.Context, ref work.Ref) error {
	unlock, err := s.lockRecord(ctx, ref.Slug())
	if err != nil {
		return err
	}
	defer unlock()
	for removed := false; ; removed = true {
		p, err := s.own(ref)
		if removed && errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := os.Remove(p.path); err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(p.path)); err != nil {
			return err
		}
	}
}
