package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrClaimed says that a living process handles the event.
var ErrClaimed = errors.New("another process handles it")

// Claim makes a waiting event ours: ErrNotFound if it is gone, ErrClaimed if a
// living process has it and wait is false or the store's LockTimeout passes. An
// event that cannot be read is set aside, and the error is a *DamagedError that
// names where it is now.
func (s *Store) Claim(ctx context.Context, seq uint64, wait bool) (*Ticket, error) {
	path := s.event(seq)
	claim, err := s.claim(ctx, path, wait)
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", seq, err)
	}
	_ = os.Remove(noteTemp(path)) // left by a killed holder
	b, err := readFile(path)
	if err != nil {
		return nil, errors.Join(&DamagedError{path, err}, claim.Unlock())
	}
	t, err := readEvent(b)
	t.Seq, t.store, t.claim, t.Held = seq, s, claim, readHeld(sidecar(path))
	if err != nil {
		to, aerr := t.setAside()
		return nil, errors.Join(&DamagedError{to, err}, aerr)
	}
	return &t, nil
}

func (s *Store) claim(ctx context.Context, path string, wait bool) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, or(s.LockTimeout, 10*time.Second), ErrClaimed)
	defer cancel()
	l, err := acquire(ctx, path, wait, flock.SetFlag(os.O_RDONLY))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	case !wait && errors.Is(err, ErrLocked):
		return nil, ErrClaimed
	}
	return l, err
}

// Done takes the event out of the inbox for good.
func (t *Ticket) Done() error {
	err := ignoreAbsent(os.Remove(t.store.event(t.Seq)))
	if err == nil {
		err = errors.Join(ignoreAbsent(os.Remove(t.sidecar())), syncDir(t.store.inbox()))
	}
	return errors.Join(err, t.claim.Unlock())
}

// Hold keeps the event for later, and what h says about it. Tries begins
// anew unless h carries it on.
func (t *Ticket) Hold(h Held) error {
	err := t.note(h)
	return errors.Join(err, t.claim.Unlock())
}

// Release lets somebody else have the event as it is.
func (t *Ticket) Release() { _ = t.claim.Unlock() }

// Try counts, on disk, that handling begins, and gives how often it began
// since the event was last held. More than MaxTries is poison: see SetAside.
func (t *Ticket) Try() (int, error) {
	h := t.Held
	h.Tries++
	return h.Tries, t.note(h)
}

// SetAside keeps the event where nobody takes it up again.
func (t *Ticket) SetAside() error {
	_, err := t.setAside()
	return err
}

func (t *Ticket) setAside() (string, error) {
	from := t.store.event(t.Seq)
	to, err := t.store.freePoison(t.Seq)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err == nil {
		err = ignoreAbsent(os.Rename(sidecar(from), sidecar(to)))
		err = errors.Join(err, syncDir(t.store.poison()), syncDir(t.store.inbox()))
	}
	return to, errors.Join(err, t.claim.Unlock())
}

// freePoison gives an unused name among the events set aside. Only the holder
// of an event's claim looks for one for its number.
func (s *Store) freePoison(seq uint64) (string, error) {
	if err := makeDir(s.poison()); err != nil {
		return "", err
	}
	path := filepath.Join(s.poison(), filepath.Base(s.event(seq)))
	base := strings.TrimSuffix(path, ".json")
	for n := 2; ; n++ {
		_, err := os.Lstat(path)
		_, serr := os.Lstat(sidecar(path))
		if errors.Is(err, fs.ErrNotExist) && errors.Is(serr, fs.ErrNotExist) {
			return path, nil
		}
		if err := errors.Join(ignoreAbsent(err), ignoreAbsent(serr)); err != nil {
			return "", err
		}
		path = fmt.Sprintf("%s-%d.json", base, n)
	}
}

// Poisoned gives the events that were set aside. They are never taken up; to
// have one tried again, move its file back into the inbox.
func (s *Store) Poisoned() ([]Entry, error) {
	names, err := os.ReadDir(s.poison())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []Entry
	for _, d := range names {
		var e Entry
		if _, err := fmt.Sscanf(d.Name(), "%016d", &e.Seq); err != nil || strings.HasSuffix(d.Name(), heldSuffix) {
			continue
		}
		e.Path = filepath.Join(s.poison(), d.Name())
		e.Held = readHeld(sidecar(e.Path))
		entries = append(entries, e)
	}
	return entries, err
}

func (t *Ticket) sidecar() string { return sidecar(t.store.event(t.Seq)) }

func sidecar(event string) string { return strings.TrimSuffix(event, ".json") + heldSuffix }

func noteTemp(event string) string {
	return filepath.Join(filepath.Dir(event), "."+filepath.Base(sidecar(event))+".tmp")
}

func (t *Ticket) note(h Held) error {
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(t.sidecar(), noteTemp(t.store.event(t.Seq)), append(b, '\n')); err != nil {
		return err
	}
	t.Held = h
	return nil
}

// readHeld gives nothing for a file that is damaged: it only describes.
func readHeld(path string) Held {
	var h Held
	b, err := readFile(path)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Held{}
	}
	return h
}
