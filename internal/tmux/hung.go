package tmux

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

type hungKey struct{}

// Once gives a context in which a server that did not answer within its bound
// is not asked again: whatever an event still wants of it is unknown at once, so
// that a hung tmux costs one bound and not one for each question.
func Once(ctx context.Context) context.Context {
	if ctx.Value(hungKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, hungKey{}, new(sync.Map))
}

// errHung is as good as a bound that is over.
func errHung() error { return fmt.Errorf("it did not answer before: %w", context.DeadlineExceeded) }

func (s Server) hung(ctx context.Context) bool {
	m, ok := ctx.Value(hungKey{}).(*sync.Map)
	if !ok {
		return false
	}
	_, hung := m.Load(s.Socket)
	return hung
}

// noteHung remembers a server that was given its time. Whoever had less
// patience than that learnt nothing of it.
func (s Server) noteHung(ctx context.Context, began time.Time, err error) {
	if m, ok := ctx.Value(hungKey{}).(*sync.Map); ok && errors.Is(err, context.DeadlineExceeded) && time.Since(began) >= s.timeout()/2 {
		m.Store(s.Socket, true)
	}
}
