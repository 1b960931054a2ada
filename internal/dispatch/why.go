package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Why says how an issue or pull request is routed, and what said so.
type Why struct {
	Ref     work.Ref
	Owners  []Owner       // the records that have it, live ones first
	Damaged []string      // files that cannot be read and may have it
	GitHub  *event.Thing  // nil if GitHub was not asked, or did not answer
	Doubts  []event.Doubt // what was not believed
	Actor   string        // whose comment Next is about; "" if nobody may speak
	Next    []Next        // what a comment would do now
}

// Owner is a record that has the ref: as its item, or as a pull request.
type Owner struct {
	Item    work.Ref      `json:"item"`
	Role    string        `json:"role"` // item or pr
	Status  work.Status   `json:"status"`
	Since   string        `json:"since"`
	Linkage *work.Linkage `json:"linkage,omitempty"`
	State   string        `json:"state"`
	MovedTo work.Ref      `json:"movedTo,omitzero"`
	File    string        `json:"file"`
}

// Next is what an event would do to one record.
type Next struct {
	Item     work.Ref    `json:"item,omitzero"`
	Endpoint work.Ref    `json:"endpoint,omitzero"`
	Fate     loop.Fate   `json:"fate"`
	How      loop.How    `json:"how,omitempty"`
	Reason   loop.Reason `json:"reason,omitempty"`
}

// Why gathers that. look asks GitHub; nil asks nobody. Its error comes back
// beside what is known without it.
func (d *Loop) Why(ctx context.Context, ref work.Ref, look func(context.Context, work.Ref) (event.Thing, error)) (Why, error) {
	w := Why{Ref: ref}
	records, err := d.fillOwners(ctx, &w)
	if err != nil {
		return w, err
	}
	e := event.Event{Name: "issue_comment", Action: "created", Kind: event.Words, Subject: ref, Repo: ref.Repository(), Association: "OWNER", Actor: d.Settings.Somebody(ref.Host)}
	e.Refs = []event.Named{{Ref: ref, Sources: []work.Source{work.FromEntity}}}
	if slices.ContainsFunc(w.Owners, func(o Owner) bool { return o.Role == "pr" }) {
		e.PullRequest = ref
	}
	w.Actor = e.Actor
	var lookErr error
	if look != nil {
		var t event.Thing
		if t, lookErr = look(ctx, ref); lookErr == nil {
			w.GitHub, w.Doubts = &t, t.Doubts
			if len(t.Refs) > 0 {
				e.PullRequest, e.Refs = ref, t.Refs
			}
			d.doubt(ctx, &w, &e, records)
		}
	}
	if err := d.next(ctx, &w, e); err != nil {
		return w, err
	}
	return w, lookErr
}

// fillOwners finds the records that have the ref.
func (d *Loop) fillOwners(ctx context.Context, w *Why) ([]*work.Record, error) {
	var records []*work.Record
	own, err := d.Store.Find(w.Ref)
	if errors.Is(err, store.ErrNotFound) {
		own, err = d.Store.FindClosed(w.Ref)
	}
	var broken *store.DamagedError
	switch {
	case err == nil:
		records = append(records, own)
	case errors.As(err, &broken):
		w.Damaged = append(w.Damaged, broken.Error())
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	listing, damaged, err := d.Store.Listing(w.Ref)
	if err != nil {
		return nil, err
	}
	for _, b := range damaged {
		if !slices.Contains(w.Damaged, b.Error()) {
			w.Damaged = append(w.Damaged, b.Error())
		}
	}
	for _, r := range listing {
		if own == nil || !r.Ref.Same(own.Ref) {
			records = append(records, r)
		}
	}
	v, err := d.view(ctx, records, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		s := r.At(w.Ref)
		o := Owner{Item: r.Ref, Role: "pr", Status: s.Status, Since: s.CreatedAt, Linkage: s.Linkage, State: v.State(s), MovedTo: s.MovedTo, File: d.Store.Path(r.Ref)}
		if s == &r.Session {
			o.Role = "item"
		}
		w.Owners = append(w.Owners, o)
	}
	return records, nil
}

// doubt adds where GitHub and the records disagree, and the guesses that GitHub
// denies; e loses those, as a real event would.
func (d *Loop) doubt(ctx context.Context, w *Why, e *event.Event, records []*work.Record) {
	for _, r := range records {
		if s := r.At(w.Ref); s != &r.Session && s.Live() && !slices.ContainsFunc(e.Refs, func(n event.Named) bool { return r.Names(n.Ref) }) {
			w.Doubts = append(w.Doubts, event.Doubt{What: "GitHub does not link it to " + r.Ref.Short(), Why: "the record does, and the record stands"})
		}
	}
	for _, n := range slices.Clone(e.Refs) {
		switch {
		case n.Ref.Same(w.Ref) || n.Ref.Same(w.GitHub.Ref) || d.worked(n.Ref):
		case guess(n) && d.Gone != nil && d.Gone(ctx, n.Ref):
			w.Doubts = append(w.Doubts, event.Doubt{What: "the branch's name says " + n.Ref.Short(), Why: "GitHub has no such issue"})
			e.Refs = slices.DeleteFunc(slices.Clone(e.Refs), func(have event.Named) bool { return have.Ref.Same(n.Ref) })
		default:
			w.Doubts = append(w.Doubts, event.Doubt{What: named(n) + " names " + n.Ref.Short(), Why: "nobody works on that here"})
		}
	}
}

func named(n event.Named) string {
	words := make([]string, len(n.Sources))
	for i, s := range n.Sources {
		words[i] = string(s)
	}
	return strings.Join(words, " and ")
}

func (d *Loop) worked(ref work.Ref) bool {
	if _, err := d.Store.Find(ref); !errors.Is(err, store.ErrNotFound) {
		return true
	}
	listing, damaged, err := d.Store.Listing(ref)
	return err != nil || len(listing)+len(damaged) > 0
}

// next plays a comment through without doing anything.
func (d *Loop) next(ctx context.Context, w *Why, e event.Event) error {
	records, damaged, err := d.match(e)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		w.Next = []Next{d.nextUnmatched(e, len(damaged) > 0)}
		return nil
	}
	v, err := d.view(ctx, records, nil)
	if err != nil {
		return err
	}
	for _, r := range records { // our own copies: deciding writes into them
		c := loop.Decide(r, e, d.Settings, d.at())
		n := Next{Item: r.Ref, Endpoint: c.Endpoint, Fate: loop.Settled, Reason: c.Reason}
		if c.Act == loop.Deliver {
			n.Fate = loop.Delivered
			n.How, n.Endpoint = how(v, r, c.Endpoint)
			if n.How == loop.Fallback {
				n.Reason = loop.Reason(r.At(c.Endpoint).Declined.Reason)
			}
		}
		w.Next = append(w.Next, n)
	}
	return nil
}

func (d *Loop) nextUnmatched(e event.Event, damaged bool) Next {
	k, err := d.known(e, nil)
	c := d.Settings.Unmatched(e, k)
	switch {
	case damaged || err != nil:
		return Next{Fate: loop.Held, Reason: loop.RecordDamaged}
	case c.Act == loop.Spawn:
		return Next{Item: k.Item, Endpoint: k.Item, Fate: loop.Delivered, How: loop.Spawned}
	}
	return Next{Fate: loop.Settled, Reason: c.Reason}
}

// how says in which way a delivery would arrive, and where.
func how(v View, r *work.Record, endpoint work.Ref) (loop.How, work.Ref) {
	s := r.At(endpoint)
	state := v.State(s)
	switch {
	case state == "none" && s.Declined != nil && s != &r.Session:
		return loop.Fallback, r.Ref
	case state == "none":
		return loop.Spawned, endpoint
	case state == "dead":
		return loop.Respawned, endpoint
	}
	return loop.Pasted, endpoint
}
