package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// inTurn handles an accepted event after all earlier ones that may go to the
// same conversation (rule 37). The order among those that ours knows is the
// caller's.
func (d *Loop) inTurn(ctx context.Context, t *store.Ticket, e event.Event, ours func(seq uint64) bool) []loop.Outcome {
	ctx = tmux.Once(ctx)
	blocked := d.before(ctx, t.Seq, e, ours)
	var out []loop.Outcome
	if blocked != "" {
		out = d.behind(e, blocked)
	} else {
		out = d.handle(ctx, e, nil)
	}
	d.conclude(ctx, t, out)
	return out
}

// behind holds an event for the reason that an earlier one is held for.
func (d *Loop) behind(e event.Event, why loop.Reason) []loop.Outcome {
	held := loop.Outcome{Fate: loop.Held, Reason: why, Message: "an earlier event for the same conversation is still held"}
	records, _, err := d.match(e)
	if err != nil || len(records) == 0 {
		return []loop.Outcome{d.told(e, held, nil)}
	}
	var out []loop.Outcome
	for _, r := range records { // our own copies: deciding may write into them
		held.Item, held.Endpoint = r.Ref, loop.Decide(r, e, d.Settings, d.at()).Endpoint
		out = append(out, d.told(e, held, nil))
	}
	return out
}

// conclude takes a handled event out of the inbox, or keeps what is held.
func (d *Loop) conclude(ctx context.Context, t *store.Ticket, out []loop.Outcome) {
	h := store.Held{At: d.at()}
	for _, o := range out {
		if o.Fate != loop.Held {
			continue
		}
		h.Reason = string(o.Reason)
		if !o.Item.IsZero() {
			h.Items = append(h.Items, o.Item)
			h.Endpoints = append(h.Endpoints, o.Endpoint)
		}
		if o.Reason == loop.SpawnFailed && !o.Waits {
			h.Tries = t.Held.Tries
		}
	}
	var err error
	was := t.Held.Reason != ""
	if h.Reason == "" {
		err = t.Done()
	} else {
		err = t.Hold(h)
	}
	if err != nil {
		d.note(journal.Line{What: "error", Delivery: t.Delivery, Message: err.Error()})
	}
	if was != (h.Reason != "") {
		d.ShowHeld(ctx)
	}
}

// before sees to it that every earlier event which may concern the same
// conversation is done. It returns why one of them still waits, or "".
func (d *Loop) before(ctx context.Context, seq uint64, e event.Event, ours func(seq uint64) bool) loop.Reason {
	entries, err := d.Store.Waiting()
	if err != nil {
		d.note(journal.Line{What: "error", Message: err.Error()})
		return ""
	}
	var mine []string
	for _, w := range entries {
		if w.Seq >= seq {
			break
		}
		if ours(w.Seq) {
			continue
		}
		if mine == nil {
			mine = d.conversations(e)
		}
		earlier, ok := d.peek(w)
		if !ok || !slices.ContainsFunc(d.conversations(earlier), func(c string) bool { return slices.Contains(mine, c) }) {
			continue
		}
		switch reason, err := d.take(ctx, w.Seq, time.Minute); {
		case errors.Is(err, store.ErrClaimed):
			return loop.HarnessWaiting
		case err != nil:
			return loop.TmuxSilent
		case reason != "":
			return reason
		}
	}
	return ""
}

// conversations names what an event belongs to: its pull request, or else its
// refs, and the endpoints that it would go to as things stand.
func (d *Loop) conversations(e event.Event) []string {
	var keys []string
	for _, n := range e.Refs {
		if e.PullRequest.IsZero() || n.Ref.Same(e.PullRequest) {
			keys = append(keys, n.Ref.Key())
		}
	}
	records, _, err := d.match(e)
	if err != nil {
		return keys
	}
	for _, r := range records { // our own copies: deciding may write into them
		keys = append(keys, loop.Decide(r, e, d.Settings, d.at()).Endpoint.Key())
	}
	return keys
}

func (d *Loop) peek(w store.Entry) (event.Event, bool) {
	t, err := d.Store.Peek(w.Seq)
	if err != nil {
		return event.Event{}, false
	}
	e, err := d.read(t)
	return e, err == nil
}

func (d *Loop) read(t *store.Ticket) (event.Event, error) {
	e, err := event.Read(t.Body, t.Name, t.Delivery)
	if err != nil {
		return e, err
	}
	return d.byHead(e)
}

// take claims one event of the inbox and handles it. It returns why the event
// still waits, or "" when it is done, by us or by somebody else. A claim is
// waited for as long as that and the store's own bound allow.
func (d *Loop) take(ctx context.Context, seq uint64, wait time.Duration) (loop.Reason, error) {
	ctx = tmux.Once(ctx)
	claiming, cancel := context.WithTimeoutCause(ctx, wait, store.ErrClaimed)
	t, err := d.Store.Claim(claiming, seq, wait > 0)
	cancel()
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	e, err := d.read(t)
	e = d.believed(ctx, e)
	tries, tryErr := t.Try()
	if err != nil || tryErr != nil || tries > store.MaxTries {
		return "", d.setAside(ctx, t, errors.Join(err, tryErr))
	}
	was := t.Held
	out := d.handle(ctx, e, &was)
	d.conclude(ctx, t, out)
	for _, o := range out {
		if o.Fate == loop.Held {
			return o.Reason, nil
		}
	}
	return "", nil
}

func (d *Loop) setAside(ctx context.Context, t *store.Ticket, why error) error {
	message := "set aside after too many tries; gh loop doctor lists it"
	if why != nil {
		message = why.Error()
	}
	d.note(journal.Line{What: "error", Event: t.Name, Delivery: t.Delivery, Reason: t.Held.Reason, Message: message})
	defer d.ShowHeld(ctx)
	return t.SetAside()
}

// Drain takes up what was left in the inbox: by a crash, or held. Of one
// conversation that still cannot take an event no further one is tried, and a
// silent tmux ends the round: it costs one bound, not one for each event.
func (d *Loop) Drain(ctx context.Context) {
	ctx = tmux.Once(ctx)
	entries, err := d.Store.Waiting()
	if err != nil {
		return
	}
	stuck := map[string]bool{}
	full := sync.OnceValue(d.full)
	for _, w := range entries {
		e, ok := d.peek(w)
		if ok && w.Held.Reason == string(loop.AwaitingStart) && full() && d.startless(e) {
			continue
		}
		var keys []string
		if ok {
			keys = d.conversations(e)
		}
		if slices.ContainsFunc(keys, func(k string) bool { return stuck[k] }) {
			continue
		}
		claim := time.Duration(0)
		if slices.ContainsFunc(w.Held.Endpoints, d.Asked.Same) { // it may be looked for at this moment
			claim = patience
		}
		if reason, err := d.take(ctx, w.Seq, claim); err != nil || reason != "" {
			if reason == loop.TmuxSilent || ctx.Err() != nil {
				return
			}
			for _, k := range keys {
				stuck[k] = true
			}
		}
	}
}

// Conclude takes up what is held for a ref that has just ended, so that its fate
// does not depend on what happens next.
func (d *Loop) Conclude(ctx context.Context, ref work.Ref) {
	ctx = tmux.Once(ctx)
	entries, err := d.Store.Waiting()
	if err != nil {
		return
	}
	for _, w := range entries {
		if !slices.ContainsFunc(slices.Concat(w.Held.Items, w.Held.Endpoints), ref.Same) {
			continue
		}
		if _, err := d.take(ctx, w.Seq, patience); err != nil {
			d.note(journal.Line{What: "error", Endpoint: ref.String(), Message: err.Error()})
		}
	}
}

// Held counts the events that wait for each endpoint, by its key.
func Held(entries []store.Entry) map[string]int {
	n := map[string]int{}
	for _, w := range entries {
		for _, ref := range w.Held.Endpoints {
			n[ref.Key()]++
		}
	}
	return n
}
