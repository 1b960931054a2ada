// Package store keeps records, facts and accepted events on disk. It is the
// only place that reads or writes them: readers take no lock and never see half
// a file, writers exclude each other by lock files of their own, and whatever
// cannot be read is an error that names it, never an absence. The state
// directory must be on a local disk.
package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Store is a state directory. The zero value of everything but Dir is good.
type Store struct {
	Dir             string
	LockTimeout     time.Duration // how long a record's lock is waited for; 0 means 10 s
	EndpointTimeout time.Duration // the same for an endpoint's lock, which is held while tmux runs; 0 means 60 s
}

// ErrNotFound says that there is no such record or event.
var ErrNotFound = errors.New("not found")

// ErrStray marks a file that can be read but is not believed: it stands under
// the name of another ref, as a copy does, or repeats a ref that has its file.
var ErrStray = errors.New("stray file")

// DamagedError is a file that should be ours and cannot be read. It is never
// overwritten and never taken for absence.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	if errors.Is(e.Err, ErrStray) {
		return fmt.Sprintf("%q is not used: %v: move it out of the directory", e.Path, e.Err)
	}
	return fmt.Sprintf("%q cannot be read: %v: mend it by hand or move it away; gh-loop leaves it as it is", e.Path, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

func (s *Store) local() string    { return filepath.Join(s.Dir, "local") }
func (s *Store) closed() string   { return filepath.Join(s.Dir, "local", "closed") }
func (s *Store) locks() string    { return filepath.Join(s.Dir, "local", "lock") }
func (s *Store) inbox() string    { return filepath.Join(s.Dir, "local", "inbox") }
func (s *Store) poison() string   { return filepath.Join(s.Dir, "local", "inbox", "poison") }
func (s *Store) portable() string { return filepath.Join(s.Dir, "portable") }

// names gives the two names that a ref's file can have (rule 4), the usual one first.
func names(ref work.Ref) [2]string {
	return [2]string{ref.Slug() + ".json", ref.Slug() + "~" + ref.Hash8() + ".json"}
}

// makeDir makes a directory and what is missing above it, readable by its
// owner only, so that it outlives a power cut.
func makeDir(dir string) error {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if fi, serr := os.Stat(dir); serr == nil && fi.IsDir() {
			return nil
		}
		return notOurs(err)
	}
	return syncDir(parent)
}

// notOurs says what to do about a state directory that cannot be used.
func notOurs(err error) error {
	return fmt.Errorf("%w: gh-loop keeps its state there; set GH_LOOP_STATE_DIR to a directory that can be written", err)
}
