// Package dispatch is the order of things: an event is accepted, decided on
// under its record's lock, saved, acted upon with the lock free, noted, and
// taken out of the inbox. It holds no policy and knows no flags.
package dispatch

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Loop is everything that a call needs, made by the command that was called.
type Loop struct {
	Store     *store.Store
	Log       journal.Log
	Config    config.Config
	Settings  loop.Settings
	Harnesses map[string]harness.Adapter
	Trees     tree.Trees
	Socket    string        // where new sessions go
	Timeout   time.Duration // for each call of tmux; 0 is tmux.Server's own
	Bin       string        // absolute path of this program
	Now       func() time.Time
	NewID     func() string // a new random UUID
	Warn      func(string)  // what a person at the terminal should know

	// Comment writes on an issue or pull request, with our marker; nil where
	// nothing may ask GitHub, as in a hook.
	Comment func(ctx context.Context, on work.Ref, text string) error

	// Hooked says whether a harness calls our hooks, and is to be typed at only
	// once it did; nil is no for all.
	Hooked func(name string) bool

	// Gone says whether GitHub definitely has no such issue or pull request;
	// nil where it is not asked.
	Gone func(context.Context, work.Ref) bool

	// Asked is the endpoint that a person wants brought on now, who has seen what its
	// agent shows: a text that is held for it and not there is typed again at once.
	Asked work.Ref

	unwatched bool // nobody waits for this process, which is the one that comes back
	looking   bool // what was typed is looked for, and not typed again
}

// Spawning bounds: how long a new program may take until it is called ready
// or the call stops waiting, and how long after its start a program that never
// said that it is ready is still taken for one that starts.
const (
	readyBound = 3 * time.Second
	slowStart  = 30 * time.Second
	patience   = 2 * time.Second  // how long a pasted text is looked for
	settles    = 20 * time.Second // and may show this long after it was typed: OpenCode's composer comes seconds after its first hook
	lookAgain  = 200 * time.Millisecond
	showsByte  = 20 * time.Microsecond // and longer for each byte of it: Claude Code took seconds to show 100 kB
)

func (d *Loop) server(socket string) tmux.Server {
	if socket == "" {
		socket = d.Socket
	}
	return tmux.Server{Socket: socket, Timeout: d.Timeout}
}

// target says how an endpoint's session is found again. A handle that somebody
// put on another's record finds nothing: the pane must say whose it is.
func target(item, endpoint work.Ref, h *work.Handle) tmux.Target {
	return tmux.Target{
		Identity: tmux.Identity{Socket: h.Socket, PID: h.ServerPID, Start: h.ServerStart},
		Session:  h.Session, Pane: h.Pane, Token: h.Token, Ref: endpoint.String(), Item: item.String(),
	}
}

// begun is target for a spawn that was not written down: only its token is known.
func begun(item, endpoint work.Ref, h *work.Handle) tmux.Target {
	return tmux.Target{Identity: tmux.Identity{Socket: h.Socket}, Token: h.Next, Ref: endpoint.String(), Item: item.String()}
}

// lock keeps an endpoint for the caller until unlock. Whoever waits for it
// hears why.
func (d *Loop) lock(ctx context.Context, endpoint work.Ref) (unlock func(), err error) {
	if d.Warn != nil {
		t := time.AfterFunc(patience, func() {
			d.Warn(endpoint.Short() + " is busy: another command works on it, and goes first")
		})
		defer t.Stop()
	}
	return d.Store.LockEndpoint(ctx, endpoint)
}

// pause waits, and says whether there is time left.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// note writes a line; the log is never worth failing for.
func (d *Loop) note(l journal.Line) {
	if err := d.Log.Note(l); err != nil && d.Warn != nil {
		d.Warn("the event log cannot be written: " + err.Error())
	}
}

func (d *Loop) at() string { return work.Stamp(d.Now()) }

// change changes one endpoint of an item's record.
func (d *Loop) change(ctx context.Context, item, endpoint work.Ref, fn func(*work.Session)) (*work.Record, error) {
	return d.Store.Change(ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		if s := r.At(endpoint); s != nil {
			fn(s)
		}
		return r, nil
	})
}

// DetectorArgs is the program that watches a new pane until its harness listens.
func (d *Loop) detector() []string { return []string{d.Bin, "hook", "ready"} }

func (d *Loop) stateDir() string { return filepath.Clean(d.Store.Dir) }
