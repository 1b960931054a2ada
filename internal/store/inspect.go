package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// Medium is what a directory is kept on.
type Medium struct {
	Name         string // of the file system; may be "" for a local one
	Remote       bool   // not on this machine, or not known to be
	Free, Inodes uint64 // bytes, and files that can still be made

	counted bool // a file system without inodes has none to run out of
}

// Full says whether the medium is about to have no room for a record.
func (m Medium) Full() bool { return m.Free < 50<<20 || m.counted && m.Inodes < 500 }

// Locked names the lock files that somebody holds at this moment. Held for
// microseconds they are as they should be.
func (s *Store) Locked() ([]string, error) {
	all, err := os.ReadDir(s.locks())
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	var held []string
	for _, d := range all {
		if !strings.HasSuffix(d.Name(), ".lock") || !d.Type().IsRegular() {
			continue
		}
		path := filepath.Join(s.locks(), d.Name())
		l := flock.New(path, flock.SetFlag(os.O_RDONLY))
		if ok, err := l.TryRLock(); err == nil && !ok {
			held = append(held, path)
		}
		_ = l.Unlock()
	}
	return held, nil
}

// Leftovers names temporary files among the records: Sweep removes those that
// nobody is writing.
func (s *Store) Leftovers() ([]string, error) {
	var left []string
	for _, dir := range []string{s.local(), s.portable()} {
		all, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, d := range all {
			if _, ours := leftover(d.Name()); ours {
				left = append(left, filepath.Join(dir, d.Name()))
			}
		}
	}
	return left, nil
}

// Exposed is a file or directory of ours that others may read or write.
type Exposed struct {
	Path string
	Mode fs.FileMode // as it is; without the bits of group and others it is as it should be
}

// Exposed lists what is open to others: directories first.
func (s *Store) Exposed() ([]Exposed, error) {
	var open []Exposed
	look := func(path string, fi fs.FileInfo) {
		if fi.Mode().Perm()&0o077 != 0 && fi.Mode()&fs.ModeSymlink == 0 {
			open = append(open, Exposed{path, fi.Mode().Perm()})
		}
	}
	for _, dir := range []string{s.Dir, s.local(), s.closed(), s.inbox(), s.locks(), s.portable(), filepath.Join(s.Dir, "log")} {
		fi, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return open, err
		}
		look(dir, fi)
	}
	for _, dir := range []string{s.local(), s.closed()} {
		names, err := listRecords(dir)
		if err != nil {
			return open, err
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if fi, err := os.Lstat(path); err == nil {
				look(path, fi)
			}
		}
	}
	return open, nil
}
