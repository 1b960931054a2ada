package dispatch

import (
	"context"
	"errors"
	"slices"

	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// ErrNobodyWaits says that no agent asks its user anything.
var ErrNobodyWaits = errors.New("no agent waits for you")

// JumpWaiting moves one client to the session whose agent waits longest for
// its user; a client that is there already goes to the next one.
func (d *Loop) JumpWaiting(ctx context.Context, socket, client, session string) error {
	v, err := d.Look(ctx)
	if err != nil {
		return err
	}
	type waiter struct {
		*work.Session
		tmux.Pane
	}
	var all []waiter
	elsewhere := false
	for _, r := range v.Records {
		for _, s := range r.Endpoints() {
			p, ok := v.Pane(s)
			switch {
			case !ok || p.Dead || !s.Live() || v.State(s) != "waiting":
			case p.Socket != socket:
				elsewhere = true
			default:
				all = append(all, waiter{s, p})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b waiter) int { return a.Since.Compare(b.Since) })
	if len(all) > 1 && all[0].Pane.Session == session {
		all = all[1:]
	}
	switch {
	case len(all) == 0 && elsewhere:
		return errors.New("those who wait for you are on another tmux server: gh loop list --state waiting shows them")
	case len(all) == 0:
		return ErrNobodyWaits
	}
	return d.server(socket).Switch(ctx, client, all[0].Pane.Session)
}
