package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// unmatched deals with an event that no record matches (rules 24 and 25). was
// is what is known from an earlier try.
func (d *Loop) unmatched(ctx context.Context, e event.Event, was *store.Held) loop.Outcome {
	k, err := d.known(e, was)
	if err != nil {
		return held(loop.Outcome{}, loop.RecordDamaged, err)
	}
	switch c := d.Settings.Unmatched(e, k); c.Act {
	case loop.Command:
		return d.command(ctx, e, c.Verb, k, was)
	case loop.Spawn:
		return d.begin(ctx, e, k)
	default:
		out := loop.Outcome{Fate: loop.Settled, Reason: c.Reason, Message: d.advice(c, k)}
		if c.Reason == loop.Unmatched && was != nil && len(was.Items) > 0 && len(was.Endpoints) > 0 && d.ended(k.Item) { // since it was held
			out.Item, out.Endpoint, out.Reason = k.Item, was.Endpoints[0], loop.ClosedItem
		}
		return out
	}
}

// known gathers what an unmatched event needs to know of its item: its first
// ref, or the one that an earlier try was for.
func (d *Loop) known(e event.Event, was *store.Held) (loop.Known, error) {
	k := loop.Known{Item: loop.Target(nil, e)}
	if was != nil && len(was.Items) > 0 {
		k.Item = was.Items[0]
	}
	if !d.Settings.Concerned(e) {
		return k, nil
	}
	facts, err := d.Store.Portable(k.Item)
	if err != nil {
		return k, err
	}
	if facts.Control != nil {
		k.Last = loop.Verb(facts.Control.Word)
	}
	k.Ended, err = d.Store.FindClosed(k.Item)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return k, err
	}
	for name, dir := range d.Config.Workspace.Repos {
		if repo, err := work.ParseRepo(name); err == nil && repo.Same(k.Item.Repository()) {
			k.Dir = dir
		}
	}
	return k, nil
}

// advice says what would make a settled event count, where that is not plain
// from its reason.
func (d *Loop) advice(c loop.Decision, k loop.Known) string {
	switch {
	case c.Reason == loop.DeclinedTree, c.Reason == loop.ControlRejected && c.Verb == loop.Start:
		return fmt.Sprintf("there is no directory for %s to start in: name a clone, workspace.repos.%q = \"/path\", or start it with gh loop start", k.Item.Short(), k.Item.Repository())
	case c.Reason == loop.ControlRejected:
		return fmt.Sprintf("%s: %s is not paused here", c.Verb, k.Item.Short())
	case c.Reason == loop.AwaitingStart:
		return fmt.Sprintf("%s starts with gh loop start, or with %q in a comment of somebody who may", k.Item.Short(), d.Config.Routing.Control.Keywords.Start)
	}
	return ""
}

// begin starts work on an item because of an event that matched no record; the
// event is the first prompt of the item's session. The event's pull request is
// recorded after that, and a spawn that failed leaves nothing (rule 29).
func (d *Loop) begin(ctx context.Context, e event.Event, k loop.Known) loop.Outcome {
	out := loop.Outcome{Item: k.Item, Endpoint: k.Item}
	cwd, own, err := d.placeNew(ctx, k)
	if err != nil {
		return placeless(out, err)
	}
	if no, ok := d.mayStart(ctx, out); !ok {
		return no
	}
	_, err = d.Store.Change(ctx, k.Item, func(r *work.Record) (*work.Record, error) {
		if r != nil { // somebody was quicker
			return nil, nil
		}
		return &work.Record{Session: work.Session{
			Ref: k.Item, Harness: d.Config.Routing.DefaultHarness, Cwd: cwd, Tree: own, Status: work.Active, CreatedAt: d.at(),
		}}, nil
	})
	if err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	out = d.deliver(ctx, k.Item, k.Item, e, false)
	switch {
	case out.Fate == loop.Delivered:
		d.linkFirst(ctx, k.Item, e)
		d.announce(ctx, out)
	case out.Reason == loop.SpawnFailed:
		d.forget(ctx, k.Item)
	}
	return out
}

// placeNew says where an item that GitHub starts works: in a tree of its own if
// the user named a clone for its repository, as several may start at once, and
// the clone is the user's; else in the directory that was named.
func (d *Loop) placeNew(ctx context.Context, k loop.Known) (cwd, own string, err error) {
	cloned, err := d.Trees.Serves(ctx, k.Dir)
	if err != nil || !cloned {
		return k.Dir, "", err
	}
	own, err = d.Trees.Path(k.Item)
	return own, own, err
}

// placeless holds what waits for the place that the user named.
func placeless(out loop.Outcome, err error) loop.Outcome {
	out = held(out, loop.SpawnFailed, fmt.Errorf("%w: see workspace.repos in the configuration", err))
	out.Waits = true
	return out
}

// mayStart takes one of the places for sessions that GitHub starts within an
// hour. Without one the event is held, and the first that is says so.
func (d *Loop) mayStart(ctx context.Context, out loop.Outcome) (loop.Outcome, bool) {
	limit := d.Config.Routing.MaxSpawnsPerHour
	free, ok, err := d.Store.Spawn(ctx, limit, d.Now())
	if err != nil {
		return held(out, loop.RecordDamaged, err), false
	}
	if !ok {
		return held(out, loop.AwaitingStart, fmt.Errorf("%d sessions were started from GitHub within an hour (routing.maxSpawnsPerHour); the next may start at %s", limit, free.UTC().Format(time.RFC3339))), false
	}
	return out, true
}

// full says whether no session may be started from GitHub now, so that the
// events which wait for that need not be tried.
func (d *Loop) full() bool {
	_, ok, err := d.Store.MaySpawn(d.Config.Routing.MaxSpawnsPerHour, d.Now())
	return err == nil && !ok
}

// startless says whether an event still has no record that it could go to.
func (d *Loop) startless(e event.Event) bool {
	records, _, err := d.match(e)
	return err == nil && len(records) == 0
}

// linkFirst records an event's pull request on the item that it started, and that
// the item had the event.
func (d *Loop) linkFirst(ctx context.Context, item work.Ref, e event.Event) {
	linked := false
	r, err := d.Store.Change(ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		var err error
		linked, err = loop.Link(r, e, d.at())
		if pr := r.PullRequest(e.PullRequest); pr != nil {
			pr.Note(e.Delivery, e.Key, d.Now())
		}
		loop.Learn(&r.Session, e)
		return r, err
	})
	c := loop.Decision{Endpoint: item, Linked: linked, LinkErr: err}
	if r == nil {
		r = &work.Record{Session: work.Session{Ref: item}}
	}
	d.noteDecision(r, e, c)
}

// forget takes back the record of an item whose first session could not be
// started.
func (d *Loop) forget(ctx context.Context, item work.Ref) {
	if err := d.Store.Remove(ctx, item); err != nil && !errors.Is(err, store.ErrNotFound) {
		d.note(journal.Line{What: "error", Item: item.String(), Message: err.Error()})
	}
}
