package store

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"
)

// LockRound keeps asking GitHub for the caller until unlock, so that two rounds
// at once find each thing once. Whoever comes second waits, and then asks for
// what is new since.
func (s *Store) LockRound(ctx context.Context) (unlock func(), err error) {
	return s.lock(ctx, "sync.lock", 5*time.Minute)
}

// TryLockWatch is held by the one process that asks all the time; others get
// ErrLocked, and may stand by.
func (s *Store) TryLockWatch() (unlock func(), err error) { return s.tryLock("watch.lock") }

// Asked reads what is known about asking GitHub, by host, into into. A damaged
// file is as none: it only saves GitHub's time.
func (s *Store) Asked(into any) {
	if b, err := readFile(s.asked()); err == nil {
		_ = json.Unmarshal(b, into)
	}
}

// SetAsked keeps that. The caller holds LockRound.
func (s *Store) SetAsked(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := makeDir(s.local()); err != nil {
		return err
	}
	return replace(s.asked(), filepath.Join(s.local(), ".sync.json.tmp"), append(b, '\n'))
}

func (s *Store) asked() string { return filepath.Join(s.local(), "sync.json") }
