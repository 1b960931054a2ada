package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

const portableSuffix = ".portable"

// Facts is what is known about an item that holds on every machine. Members
// that we do not know survive.
type Facts struct {
	Ref     work.Ref
	Control *Control                   // the last control command
	Read    map[string]json.RawMessage // how far GitHub was read
	Heard   []string                   // control commands said in the item's thread that were carried out

	others map[string]json.RawMessage
}

// Control is a control command that was carried out.
type Control struct {
	Word  string `json:"word"`
	By    string `json:"by,omitempty"` // login
	At    string `json:"at,omitempty"` // RFC 3339
	Where string `json:"where,omitempty"`
}

// UnmarshalJSON reads facts and keeps what it does not know.
func (f *Facts) UnmarshalJSON(b []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	read := Facts{others: all}
	for name, at := range map[string]any{"ref": &read.Ref, "control": &read.Control, "read": &read.Read, "heard": &read.Heard} {
		if v, ok := all[name]; ok {
			if err := json.Unmarshal(v, at); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if read.Ref.IsZero() {
		return fmt.Errorf("ref is missing")
	}
	*f = read
	return nil
}

// MarshalJSON writes the facts with the members in the order of their names.
func (f Facts) MarshalJSON() ([]byte, error) {
	all := map[string]any{"ref": f.Ref}
	for name, v := range f.others {
		all[name] = v
	}
	all["ref"] = f.Ref
	delete(all, "control")
	delete(all, "read")
	delete(all, "heard")
	if f.Control != nil {
		all["control"] = f.Control
	}
	if len(f.Read) > 0 {
		all["read"] = f.Read
	}
	if len(f.Heard) > 0 {
		all["heard"] = f.Heard
	}
	return json.Marshal(all)
}

// Portable gives an item's facts; only Ref is set when nothing is known.
func (s *Store) Portable(ref work.Ref) (Facts, error) {
	f, _, err := s.facts(ref)
	return f, err
}

// ChangePortable changes an item's facts as Change changes a record. Nothing
// is written when fn changed nothing.
func (s *Store) ChangePortable(ctx context.Context, ref work.Ref, fn func(*Facts) error) (Facts, error) {
	unlock, err := s.lock(ctx, ref.Slug()+portableSuffix+".lock", or(s.LockTimeout, 10*time.Second))
	if err != nil {
		return Facts{}, err
	}
	defer unlock()
	f, path, err := s.facts(ref)
	if err != nil {
		return Facts{}, err
	}
	before, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return Facts{}, err
	}
	f.Read = maps.Clone(f.Read)
	if err := fn(&f); err != nil {
		return Facts{}, err
	}
	after, err := json.MarshalIndent(f, "", "  ")
	if err != nil || bytes.Equal(before, after) {
		return f, err
	}
	if err := makeDir(s.portable()); err != nil {
		return Facts{}, err
	}
	return f, replace(path, filepath.Join(s.portable(), "."+filepath.Base(path)+".tmp"), append(after, '\n'))
}

// facts reads an item's facts, and gives the file that they are in or belong in.
func (s *Store) facts(ref work.Ref) (Facts, string, error) {
	path, blank := "", Facts{Ref: ref}
	for _, name := range names(ref) {
		file := filepath.Join(s.portable(), name)
		b, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			if path == "" {
				path = file
			}
			continue
		}
		var f Facts
		if err == nil {
			err = json.Unmarshal(b, &f)
		}
		if err != nil {
			return blank, "", &DamagedError{file, err}
		}
		if f.Ref.Same(ref) {
			return f, file, nil
		}
	}
	if path == "" {
		return blank, "", fmt.Errorf("facts about %s: both their files belong to others: %w", ref, ErrStray)
	}
	return blank, path, nil
}
