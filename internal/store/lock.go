package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gh-loop/gh-loop/internal/work"
)

// ErrLocked says that a lock was not had within its deadline.
var ErrLocked = errors.New("locked by another process")

// pause is what lies between two tries for a lock that somebody holds, as the
// kernel's own waiting knows no deadline. It grows with what was waited already:
// sixty processes that try every millisecond leave their holder no processor.
// It ends early, with the cause, when ctx does.
func pause(ctx context.Context, began time.Time) error {
	t := time.NewTimer(max(time.Millisecond, min(time.Since(began)/16, 50*time.Millisecond)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lock takes a lock file, waiting no longer than timeout and ctx allow. Lock
// files are never deleted. Each holder has its own open file, so that this
// excludes goroutines as well as processes; a holder that dies frees it.
func (s *Store) lock(ctx context.Context, name string, timeout time.Duration) (unlock func(), err error) {
	if err := makeDir(s.locks()); err != nil {
		return nil, err
	}
	path := filepath.Join(s.locks(), name)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("lock %q is held for longer than %v: %w: wait for it, or see who holds it with fuser", path, timeout, ErrLocked))
	defer cancel()
	l, err := acquire(ctx, path, true)
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// acquire locks a file. Where somebody has it, it tries until ctx ends, whose
// cause is the error, or says ErrLocked at once.
func acquire(ctx context.Context, path string, wait bool, how ...flock.Option) (*flock.Flock, error) {
	for began := time.Now(); ; {
		l := flock.New(path, how...)
		ok, err := l.TryLock()
		switch {
		case err != nil:
			return nil, err
		case ok && same(l, path):
			return l, nil
		case !ok && !wait:
			return nil, ErrLocked
		}
		_ = l.Unlock() // also if somebody deleted the file: what we hold excludes nobody
		if err := pause(ctx, began); err != nil {
			return nil, err
		}
	}
}

// same says whether the path still names the file that is locked.
func same(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}

func (s *Store) lockRecord(ctx context.Context, slug string) (func(), error) {
	return s.lock(ctx, slug+".lock", or(s.LockTimeout, 10*time.Second))
}

// LockEndpoint keeps an endpoint for the caller until unlock (rule 37). It is
// meant to be held while tmux runs, and is another lock than the record's.
func (s *Store) LockEndpoint(ctx context.Context, ref work.Ref) (unlock func(), err error) {
	return s.lock(ctx, endpointLock(ref), or(s.EndpointTimeout, time.Minute))
}

// TryLockEndpoint is LockEndpoint without waiting: ErrLocked when somebody has it.
func (s *Store) TryLockEndpoint(ref work.Ref) (unlock func(), err error) {
	unlock, err = s.tryLock(endpointLock(ref))
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", ref, err)
	}
	return unlock, nil
}

// TryLockStart makes the caller the one who waits for an endpoint's harness to
// start: ErrLocked when there is one. It may be held for as long as that takes,
// and so is none of the locks that Locked looks at.
func (s *Store) TryLockStart(ref work.Ref) (unlock func(), err error) {
	return s.tryLock(ref.Slug() + "~" + ref.Hash8() + ".start")
}

func (s *Store) tryLock(name string) (unlock func(), err error) {
	if err := makeDir(s.locks()); err != nil {
		return nil, err
	}
	path := filepath.Join(s.locks(), name)
	l, err := acquire(context.Background(), path, false)
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

func endpointLock(ref work.Ref) string {
	return ref.Slug() + "~" + ref.Hash8() + ".endpoint.lock"
}

func or(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}
