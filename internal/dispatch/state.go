package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Report is what a harness's own hook says of its conversation.
type Report struct {
	State        string   // as the hook was called, see IsState
	Ref          work.Ref // the endpoint; zero in a pane that was registered
	Socket, Pane string   // where the hook was called
	Payload      harness.Payload
}

// IsState says whether a hook may say that word. "asks" and "answered" are
// "waiting" and "running" of a harness that may ask several things at once: it
// waits until each tool that it asked about was answered for.
func IsState(word string) bool {
	return slices.Contains([]string{"running", "waiting", "idle", "submitted", "asks", "answered"}, word)
}

// ErrNoSession says that a hook was called for a session that has ended, or
// from another pane than its harness's.
var ErrNoSession = errors.New("this pane is not, or no longer, that of a session of ours")

// Heard is what came of a report.
type Heard struct {
	Item, Ref work.Ref
	Waits     bool // it began to wait for its user, just now
	More      bool // there is more to do, which takes longer: see Follow
	tmux.Marked
}

// Report writes a harness's state down beside its pane, in one tmux process,
// and what else the hook told: the conversation's id, and that a delivery was
// submitted.
func (d *Loop) Report(ctx context.Context, r Report) (Heard, error) {
	var out Heard
	if !IsState(r.State) {
		return out, fmt.Errorf("no harness has the state %q: it is running, waiting, idle, submitted, asks or answered", r.State)
	}
	state := r.Payload.State(r.State)
	if state == "" {
		return out, nil
	}
	r.find(d)
	mark := tmux.Mark{
		Pane: r.Pane, State: state, At: d.Now(), Settled: r.State == "submitted", Nonce: r.Payload.Nonce(),
		Clients: state == "waiting" && d.Config.Notify.Word == "osc",
	}
	switch r.State {
	case "asks":
		mark.Asks = r.Payload.Tool
	case "answered":
		mark.Answers = r.Payload.Tool
	}
	if mark.Settled && mark.Nonce == "" && r.Payload.Prompt != "" {
		mark.Settled = false // somebody else's prompt
	}
	if !r.Ref.IsZero() {
		mark.Ref = r.Ref.String()
	}
	got, err := d.server(r.Socket).Mark(ctx, mark)
	switch {
	case errors.Is(err, tmux.ErrNotOurs) && r.Ref.IsZero():
		return out, nil // an agent of the user's own, in a pane that is none of ours
	case errors.Is(err, tmux.ErrNotOurs), errors.Is(err, tmux.ErrNoServer):
		return out, ErrNoSession
	case err != nil:
		return out, err
	}
	out.Marked, out.Ref, out.Item = got, refOf(got.Ref), refOf(got.Item)
	out.Waits = state == "waiting" && mark.New(got)
	d.noteReport(r, out)
	if err := d.learn(ctx, r, out); err != nil {
		return out, err
	}
	if out.More = out.Waits || got.Was == "waiting" && got.Now != "waiting"; !out.More && got.Now != "waiting" {
		out.More, err = d.holds(out.Ref)
	}
	return out, err
}

// find fills in the pane where the harness keeps its environment from its
// hooks: from the record.
func (r *Report) find(d *Loop) {
	if r.Pane != "" || r.Ref.IsZero() {
		return
	}
	rec, err := d.Record(r.Ref)
	if err != nil {
		return
	}
	if s := rec.At(r.Ref); s != nil && s.Tmux != nil {
		r.Socket, r.Pane = s.Tmux.Socket, s.Tmux.Pane
	}
}

func (d *Loop) noteReport(r Report, h Heard) {
	line := journal.Line{Item: h.Item.String(), Endpoint: h.Ref.String()}
	if r.State == "idle" { // a tool's error is no news
		line.Message = r.Payload.Why
	}
	if h.Said != "" {
		confirmed := line
		confirmed.What, confirmed.Delivery, confirmed.Message = "confirmed", h.Said, "its harness says that it was submitted"
		d.note(confirmed)
	}
	switch {
	case h.Waits:
		line.What, line.Message = "waiting", "it asks its user something: events are held until it is answered"
		d.note(line)
	case line.Message != "": // a limit, a login, an end: where the harness tells
		line.What, line.Reason = "hook", "harness "+r.State
		d.note(line)
	}
}

// learn takes down the id of a conversation whose harness chooses it, from the
// harness's own hook and only once. It must come from the pane that the record
// names, so that nobody else's conversation is ever taken for this one.
func (d *Loop) learn(ctx context.Context, r Report, h Heard) error {
	if r.Payload.ID == "" {
		return nil
	}
	ours := func(rec *work.Record, s *work.Session) bool {
		name := s.Harness
		if name == "" {
			name = rec.Harness
		}
		return s.HarnessSessionID == "" && !d.Harnesses[name].TakesID() && s.Tmux != nil && (s.Tmux.Token == h.Token || s.Tmux.Next == h.Token)
	}
	rec, err := d.Store.Find(h.Item)
	if err != nil {
		return err
	}
	if s := rec.At(h.Ref); s == nil || !ours(rec, s) {
		return nil
	}
	_, err = d.Store.Change(ctx, h.Item, func(now *work.Record) (*work.Record, error) {
		if now == nil {
			return nil, store.ErrNotFound
		}
		s := now.At(h.Ref)
		if s == nil || !ours(now, s) {
			return nil, nil
		}
		s.SetConversation(r.Payload.ID)
		return now, nil
	})
	if err == nil {
		d.note(journal.Line{What: "learnt", Item: h.Item.String(), Endpoint: h.Ref.String(), Message: "conversation " + r.Payload.ID})
	}
	return err
}

// holds says whether an event waits for an endpoint, or is being handled now.
func (d *Loop) holds(ref work.Ref) (bool, error) {
	entries, err := d.Store.Waiting()
	return slices.ContainsFunc(entries, func(e store.Entry) bool { return mayConcern(e, ref) }), err
}

func mayConcern(e store.Entry, ref work.Ref) bool {
	return len(e.Held.Endpoints) == 0 || slices.ContainsFunc(e.Held.Endpoints, ref.Same)
}

// Background starts `hook follow`, which does what a hook has no time for.
func (d *Loop) Background(item, ref work.Ref) error {
	return harness.Detach([]string{d.Bin, "hook", "follow", item.String(), ref.String()})
}

// followBound is how long that may take.
const followBound = 2 * time.Minute

// Follow does what a report has time for: the siblings' status lines are told,
// and what is held for the endpoint is handed over, in order, as soon as its
// harness listens and for as long as what was typed may still show. It holds
// nothing meanwhile, so that nobody is kept waiting. It waits for whoever handles
// one of these events at this moment, and may have seen the state of before.
func (d *Loop) Follow(ctx context.Context, item, ref work.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, followBound)
	defer cancel()
	d.ring(ctx, item)
	alone := *d
	alone.unwatched = true
	d = &alone
	for began, known := time.Now(), uint64(0); ; {
		if held, err := d.holds(ref); err != nil || !held || !d.listens(ctx, item, ref) {
			return err
		}
		entries, err := d.heldFor(ref)
		if err != nil || len(entries) == 0 {
			return err
		}
		newest := entries[len(entries)-1].Seq
		waits, err := d.takeAll(ctx, entries)
		again := waits && !d.mayShow(ctx, item, ref)
		switch {
		case errors.Is(err, store.ErrClaimed): // whoever has it goes on
			return nil
		case err != nil:
			return err
		case again && (known == 0 || newest <= known):
			return nil
		case waits && !again && !pause(ctx, wait(began)):
			return nil
		}
		// What does not show is typed again only if something came meanwhile.
		if d.looking = !again; again || known == 0 {
			known = newest
		}
	}
}

// heldFor gives what waits for an endpoint, in order.
func (d *Loop) heldFor(ref work.Ref) ([]store.Entry, error) {
	entries, err := d.Store.Waiting()
	return slices.DeleteFunc(entries, func(w store.Entry) bool {
		e, ok := d.peek(w)
		return !mayConcern(w, ref) || !ok || !slices.Contains(d.conversations(e), ref.Key()) && !slices.ContainsFunc(w.Held.Endpoints, ref.Same)
	}), err
}

// takeAll takes up events until one of them still waits.
func (d *Loop) takeAll(ctx context.Context, entries []store.Entry) (waits bool, err error) {
	for _, w := range entries {
		if reason, err := d.take(ctx, w.Seq, time.Minute); err != nil || reason != "" {
			return true, err
		}
	}
	return false, nil
}

// wait is how long to let pass before the next look: ever longer.
func wait(began time.Time) time.Duration {
	return min(lookAgain+time.Since(began)/8, time.Second)
}

// mayShow says whether the harness starts, maybe anew, or was typed at so lately
// that the text may still show.
func (d *Loop) mayShow(ctx context.Context, item, ref work.Ref) bool {
	pane, starts := d.starting(ctx, item, ref)
	return starts || pane.State != "waiting" && d.Now().Sub(pane.Typed) < settles
}

// listens waits for a harness that starts, for as long as a start may take. A
// harness that asked for bracketed paste, and whose hook did not come until
// then, counts as listening; one that did neither may show a login, and is left
// to whoever comes next. One process waits, and takes up what came meanwhile.
func (d *Loop) listens(ctx context.Context, item, ref work.Ref) bool {
	pane, starts := d.starting(ctx, item, ref)
	if !starts {
		return true
	}
	unlock, err := d.Store.TryLockStart(ref)
	if err != nil {
		return false
	}
	defer unlock()
	for began := time.Now(); starts; pane, starts = d.starting(ctx, item, ref) {
		if pane.State == "waiting" || !pause(ctx, wait(began)) {
			return false
		}
	}
	return pane.Ready || pane.Asked || pane.Pane == "" // the last is gone, and a fresh one takes over
}

// starting looks at an endpoint's pane, and says whether its harness may still
// be starting.
func (d *Loop) starting(ctx context.Context, item, ref work.Ref) (pane tmux.Pane, starts bool) {
	r, err := d.Store.Find(item)
	if err != nil {
		return pane, false
	}
	s := r.At(ref)
	if s == nil || s.Tmux == nil {
		return pane, false
	}
	at := target(item, ref, s.Tmux)
	if s.Tmux.Next != "" {
		at = begun(item, ref, s.Tmux)
	}
	pane, state, _ := d.server(s.Tmux.Socket).Look(ctx, at)
	if state != tmux.Live {
		return tmux.Pane{}, false
	}
	return pane, d.starts(*s.Tmux, pane)
}

// refOf reads a ref that we wrote; a damaged one is no ref.
func refOf(text string) work.Ref {
	r, _ := work.ParseRef(text)
	return r
}
