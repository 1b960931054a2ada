package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Result is what is told about one event.
type Result struct {
	Event       string         `json:"event"`
	Action      string         `json:"action"`
	Delivery    string         `json:"delivery"`
	Key         string         `json:"key"`
	Refs        []event.Named  `json:"refs"`
	PullRequest work.Ref       `json:"pullRequest,omitzero"`
	Outcomes    []loop.Outcome `json:"outcomes"`
}

// Accepted is an event that is ours: it is on disk, or settled already. It is
// to be given to Handle, once.
type Accepted struct {
	event  event.Event
	ticket *store.Ticket  // nil if it is settled
	out    []loop.Outcome // what became of it then
}

// Event takes one webhook body and handles it. An error means that the caller
// still has the event; with none it was delivered, settled, or is held by us.
func (d *Loop) Event(ctx context.Context, name, delivery string, body []byte) (Result, error) {
	a, err := d.Accept(ctx, name, delivery, body)
	if err != nil {
		return Result{}, err
	}
	return d.Handle(ctx, a), nil
}

// Accept takes one webhook body without doing anything about it yet. An error
// means that the caller still has it; with none we do, whatever happens
// (rule 53).
func (d *Loop) Accept(ctx context.Context, name, delivery string, body []byte) (*Accepted, error) {
	e, err := event.Read(body, name, delivery)
	if err != nil {
		return nil, err
	}
	if e, err = d.byHead(e); err != nil {
		return nil, err
	}
	e = d.believed(ctx, e)
	if reason := loop.Screen(e); reason != "" {
		return &Accepted{event: e, out: []loop.Outcome{d.settled(e, reason)}}, nil
	}
	waiting, err := d.Store.Waiting()
	if err != nil {
		return nil, err
	}
	if out, ok := d.refused(e, len(waiting) == 0); ok {
		return &Accepted{event: e, out: out}, nil
	}
	t, err := d.Store.Accept(ctx, e.Name, delivery, body, d.Now())
	if err != nil {
		return nil, err
	}
	t.Body = nil // it was read
	return &Accepted{event: e, ticket: t}, nil
}

// Handle decides about an accepted event and acts.
func (d *Loop) Handle(ctx context.Context, a *Accepted) Result {
	return d.handleBeside(ctx, a, func(uint64) bool { return false })
}

// handleBeside is Handle for a caller that sees to the order of some events by
// itself: those whose numbers ours knows.
func (d *Loop) handleBeside(ctx context.Context, a *Accepted, ours func(seq uint64) bool) Result {
	if a.ticket == nil {
		return d.result(a.event, a.out...)
	}
	return d.result(a.event, d.inTurn(ctx, a.ticket, a.event, ours)...)
}

func (d *Loop) result(e event.Event, out ...loop.Outcome) Result {
	refs := e.Refs
	if refs == nil {
		refs = []event.Named{}
	}
	return Result{e.Name, e.Action, e.Delivery, e.Key, refs, e.PullRequest, out}
}

// byHead finds the pull request of a check that names none (a fork's) by the
// heads that live records remember (rule 16).
func (d *Loop) byHead(e event.Event) (event.Event, error) {
	if e.Kind != event.Check || len(e.Refs) > 0 || e.Head == nil {
		return e, nil
	}
	records, _, err := d.Store.Live()
	if err != nil {
		return e, err
	}
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if loop.HeadMatches(s, e) {
				e.PullRequest, e.Subject = s.Ref, s.Ref
				e.Refs = []event.Named{{Ref: s.Ref, Sources: []work.Source{work.FromRecord}}}
				return e, nil
			}
		}
	}
	return e, nil
}

// match finds the records that an event concerns, each once, in the order of
// its refs (rule 27). What closed or reopened is asked for by itself: its own
// record, ended ones too, and all that list it (rules 41 and 42).
func (d *Loop) match(e event.Event) ([]*work.Record, []*store.DamagedError, error) {
	var found []*work.Record
	var damaged []*store.DamagedError
	add := func(recs ...*work.Record) {
		for _, r := range recs {
			if !slices.ContainsFunc(found, func(have *work.Record) bool { return have.Ref.Same(r.Ref) }) {
				found = append(found, r)
			}
		}
	}
	refs := e.Refs
	ends := e.Closes || e.Reopens
	if ends && !e.Subject.IsZero() {
		refs = append([]event.Named{{Ref: e.Subject}}, refs...)
	}
	for i, n := range refs {
		own, err := d.Store.Find(n.Ref)
		subject := ends && i == 0
		if subject && errors.Is(err, store.ErrNotFound) {
			own, err = d.Store.FindClosed(n.Ref)
		}
		var broken *store.DamagedError
		switch {
		case err == nil:
			add(own)
			if !subject {
				continue
			}
		case errors.As(err, &broken):
			damaged = append(damaged, broken)
		case !errors.Is(err, store.ErrNotFound):
			return nil, nil, err
		}
		listing, bad, err := d.Store.Listing(n.Ref)
		if err != nil {
			return nil, nil, err
		}
		add(listing...)
		damaged = append(damaged, bad...)
	}
	return found, damaged, nil
}

// refused settles an event that needs neither the inbox nor a write: nobody
// is concerned, or everybody concerned refuses it as things stand. While other
// events wait, which may change how they stand, only what is refused for what
// it is itself is.
func (d *Loop) refused(e event.Event, quiet bool) ([]loop.Outcome, bool) {
	records, damaged, err := d.match(e)
	if err != nil || len(damaged) > 0 && (len(records) > 0 || d.Settings.MaySpeak(e)) {
		return nil, false
	}
	var out []loop.Outcome
	if len(records) == 0 {
		k, err := d.known(e, nil)
		c := d.Settings.Unmatched(e, k)
		if err != nil || c.Act != loop.Settle {
			return nil, false
		}
		out = append(out, loop.Outcome{Fate: loop.Settled, Reason: c.Reason, Message: d.advice(c, k)})
	}
	for _, r := range records {
		c := loop.Decide(r, e, d.Settings, d.at())
		if c.Act != loop.Settle || c.Changed {
			return nil, false
		}
		out = append(out, loop.Outcome{Item: r.Ref, Endpoint: c.Endpoint, Fate: loop.Settled, Reason: c.Reason})
	}
	if !quiet && slices.ContainsFunc(out, func(o loop.Outcome) bool { return !o.Reason.Final() }) {
		return nil, false
	}
	for _, o := range out {
		d.told(e, o, nil)
	}
	return out, true
}

func (d *Loop) settled(e event.Event, r loop.Reason) loop.Outcome {
	return d.told(e, loop.Outcome{Fate: loop.Settled, Reason: r}, nil)
}

// told writes an outcome's line and gives the outcome back. What is held again
// for the same reason has its line already.
func (d *Loop) told(e event.Event, o loop.Outcome, was *store.Held) loop.Outcome {
	if was != nil && o.Fate == loop.Held && string(o.Reason) == was.Reason {
		return o
	}
	d.note(journal.Line{
		What: string(o.Fate), Item: o.Item.String(), Endpoint: o.Endpoint.String(), Event: e.Name, Delivery: e.Delivery,
		How: string(o.How), Reason: string(o.Reason), Message: o.Message,
	})
	return o
}

// handle carries an accepted event out for every record that it matches. was
// is what is known from an earlier try, nil in the first.
func (d *Loop) handle(ctx context.Context, e event.Event, was *store.Held) []loop.Outcome {
	records, damaged, err := d.match(e)
	if err == nil && len(records) == 0 && len(damaged) > 0 {
		err = damaged[0]
	}
	if err != nil {
		return []loop.Outcome{d.told(e, held(loop.Outcome{}, loop.RecordDamaged, err), was)}
	}
	if len(records) == 0 {
		return []loop.Outcome{d.told(e, d.unmatched(ctx, e, was), was)}
	}
	target := loop.Target(records, e)
	var out []loop.Outcome
	for _, r := range records {
		out = append(out, d.told(e, d.forRecord(ctx, r, e, target, was), was))
	}
	return out
}

// forRecord decides under the record's lock, saves, and acts with it free. A
// control word is carried out for the target only.
func (d *Loop) forRecord(ctx context.Context, r *work.Record, e event.Event, target work.Ref, was *store.Held) loop.Outcome {
	if e.Closes && d.overtaken(e.Subject, was) {
		return loop.Outcome{Item: r.Ref, Endpoint: e.Subject, Fate: loop.Settled, Reason: loop.Reopened, Message: "it was started at the terminal since"}
	}
	var c loop.Decision
	saved, err := d.Store.Change(ctx, r.Ref, func(now *work.Record) (*work.Record, error) {
		if now == nil {
			return nil, store.ErrNotFound
		}
		if c = loop.Decide(now, e, d.Settings, d.at()); !c.Changed {
			return nil, nil
		}
		return now, nil
	})
	out := loop.Outcome{Item: r.Ref, Endpoint: r.Ref, Fate: loop.Settled}
	switch {
	case errors.Is(err, store.ErrNotFound):
		out.Reason = loop.Unmatched
		return out
	case err != nil && c.Act != loop.Deliver:
		out.Fate, out.Reason, out.Message = loop.Held, loop.RecordDamaged, err.Error()
		return out
	case err != nil: // rule 28: the event goes on, and a line says why nothing was recorded
		c = loop.Decide(r, e, d.Settings, d.at())
		d.note(journal.Line{What: "error", Item: r.Ref.String(), Endpoint: e.PullRequest.String(), Event: e.Name, Delivery: e.Delivery, Message: "the pull request could not be recorded: " + err.Error()})
	case saved != nil:
		r = saved
	}
	d.noteDecision(r, e, c)
	out.Endpoint, out.Reason = c.Endpoint, c.Reason
	switch c.Act {
	case loop.Deliver:
		out := d.deliver(ctx, r.Ref, c.Endpoint, e, was != nil)
		d.announce(ctx, out)
		return out
	case loop.Command:
		if r.Ref.Same(target) {
			return d.command(ctx, e, c.Verb, loop.Known{Item: r.Ref}, was)
		}
		out.Message = fmt.Sprintf("%s is carried out for %s, which comes first; say it on %s for this one", c.Verb, target.Short(), r.Ref.Short())
	case loop.CloseRecord, loop.CloseEndpoint:
		if err := d.endAll(ctx, r, c.Endpoint, false); err != nil {
			return held(out, loop.TmuxSilent, err)
		}
		d.removeTrees(ctx, r, c.Endpoint, false)
	case loop.Reopen:
		d.reopened(ctx, r, e)
	}
	return out
}

// reopened puts what is live again back into GitHub's and the keys' reach.
func (d *Loop) reopened(ctx context.Context, r *work.Record, e event.Event) {
	if r.Names(e.Subject) {
		d.readAnew(ctx, r.Ref)
	}
	d.ring(ctx, r.Ref)
}

func (d *Loop) noteDecision(r *work.Record, e event.Event, c loop.Decision) {
	line := journal.Line{Item: r.Ref.String(), Endpoint: c.Endpoint.String(), Event: e.Name, Delivery: e.Delivery}
	if c.Linked {
		linked := line
		linked.What, linked.Endpoint = "linked", e.PullRequest.String()
		if s := r.PullRequest(e.PullRequest); s != nil && s.Linkage != nil {
			linked.Reason = string(s.Linkage.Source)
		}
		d.note(linked)
	}
	if c.LinkErr != nil {
		line.What, line.Message = "error", c.LinkErr.Error()
		d.note(line)
	}
	switch c.Act {
	case loop.CloseEndpoint:
		line.What, line.Reason = "kept-open", string(loop.KeptOpen)
		line.Message = "the pull request closed; its item goes on"
	case loop.Reopen:
		line.What = "reopened"
	case loop.CloseRecord:
		line.What = "closed"
	default:
		return
	}
	d.note(line)
}
