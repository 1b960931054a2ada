package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Sweep removes what killed writers left: temporary files, and notes about
// events that are done. What a living process works on stays. Accept and Waiting
// do this for the inbox by themselves.
func (s *Store) Sweep() error {
	seqs, others, err := s.readInbox()
	if err != nil {
		return err
	}
	s.sweep(seqs, others)
	return errors.Join(s.sweepRecords(s.local(), ""), s.sweepRecords(s.portable(), portableSuffix))
}

// sweep cleans the inbox, given the names in it. The temporary file of a note
// is cleared away by the next claim of its event, as long as there is one.
func (s *Store) sweep(seqs []uint64, others []string) {
	for _, name := range others {
		path := filepath.Join(s.inbox(), name)
		n, note := seqOf(strings.TrimPrefix(strings.TrimSuffix(name, ".tmp"), "."), heldSuffix)
		switch {
		case note:
			if _, waits := slices.BinarySearch(seqs, n); !waits && absent(s.event(n)) {
				_ = os.Remove(path)
			}
		case strings.HasPrefix(name, ".accept-") && strings.HasSuffix(name, ".tmp"):
			l := flock.New(path, flock.SetFlag(os.O_RDONLY)) // its writer claims it while it lives
			if ok, _ := l.TryLock(); ok {
				_ = os.Remove(path)
			}
			_ = l.Unlock()
		}
	}
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// sweepRecords removes temporary files whose record nobody is writing.
func (s *Store) sweepRecords(dir, lockSuffix string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return ignoreAbsent(err)
	}
	var errs []error
	for _, d := range all {
		name, ok := leftover(d.Name())
		if !ok {
			continue
		}
		slug, _, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "~")
		l := flock.New(filepath.Join(s.locks(), slug+lockSuffix+".lock"))
		if ok, _ := l.TryLock(); ok {
			errs = append(errs, ignoreAbsent(os.Remove(filepath.Join(dir, d.Name()))))
		}
		_ = l.Unlock()
	}
	return errors.Join(errs...)
}

// leftover gives the name of the record whose temporary file this is. What
// else there is in the directory is somebody else's.
func leftover(file string) (record string, ok bool) {
	record, ok = strings.CutSuffix(strings.TrimPrefix(file, "."), ".tmp")
	return record, ok && file[0] == '.' && named(record)
}
