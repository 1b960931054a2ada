package dispatch

import (
	"context"
	"errors"
	"slices"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// overtaken says whether somebody started the thing at the terminal after the
// event was held: what was said last holds, and an event that would end it now
// comes too late.
func (d *Loop) overtaken(on work.Ref, was *store.Held) bool {
	if was == nil || was.At == "" {
		return false
	}
	f, err := d.Store.Portable(on)
	return err == nil && f.Control != nil && f.Control.Where == terminal && f.Control.At >= was.At
}

// command carries out a control word for one item (rule 24). Each step may be
// done twice; that the word was heard is written last, so that a call that is
// killed half way is finished by the next one.
func (d *Loop) command(ctx context.Context, e event.Event, v loop.Verb, k loop.Known, was *store.Held) loop.Outcome {
	out := loop.Outcome{Item: k.Item, Endpoint: k.Item, Fate: loop.Settled, Reason: loop.Control}
	heard, err := d.Store.Portable(e.Subject)
	if err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	if slices.ContainsFunc(loop.Heard(e, v), func(h string) bool { return slices.Contains(heard.Heard, h) }) {
		out.Reason = loop.Duplicate
		return out
	}
	if d.overtaken(k.Item, was) {
		out.Reason, out.Message = loop.ControlRejected, string(v)+" was held, and something else was said at the terminal since"
		return out
	}
	_, err = d.Store.ChangePortable(ctx, k.Item, func(f *store.Facts) error {
		f.Control = &store.Control{Word: string(v), By: e.Actor, At: d.at(), Where: e.URL}
		return nil
	})
	if err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	if out = d.carryOut(ctx, e, v, k, out); out.Fate == loop.Held {
		return out
	}
	if err := d.hear(ctx, e, v, k.Item); err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	return out
}

func (d *Loop) carryOut(ctx context.Context, e event.Event, v loop.Verb, k loop.Known, out loop.Outcome) loop.Outcome {
	if v == loop.Start {
		return d.startFor(ctx, e, k, out)
	}
	r, err := d.whole(k.Item)
	if errors.Is(err, store.ErrNotFound) {
		out.Item, out.Endpoint = work.Ref{}, work.Ref{}
		out.Message = string(v) + ": nothing of " + k.Item.Short() + " runs here; it is remembered"
		return out
	}
	if err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	ends := v == loop.Stop || v == loop.Cleanup
	var first error
	if ends && r.Live() { // once it is closed, only its own ref finds it
		first = d.endAll(ctx, r, r.Ref, v == loop.Cleanup)
	}
	did := false
	r, err = d.Store.Change(ctx, k.Item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		did = loop.Obey(r, r.Ref, v)
		return r, nil
	})
	if err != nil {
		return held(out, loop.RecordDamaged, err)
	}
	if out.Message = string(v); did {
		d.noteVerb(r.Ref, r.Ref, v, e.Name, e.Delivery)
	}
	if !ends {
		return out
	}
	if err := errors.Join(first, d.endAll(ctx, r, r.Ref, v == loop.Cleanup)); err != nil {
		return held(out, loop.TmuxSilent, err)
	}
	if v == loop.Cleanup {
		for _, s := range d.removeTrees(ctx, r, r.Ref, false) {
			if s.Err != nil {
				out.Message += "; " + s.Err.Error()
			}
		}
	}
	return out
}

// startFor starts an item because somebody said so on GitHub. Their words are
// not forwarded; an agent that has to be started is told to read the thread.
func (d *Loop) startFor(ctx context.Context, e event.Event, k loop.Known, out loop.Outcome) loop.Outcome {
	_, err := d.Store.Find(k.Item)
	fresh := errors.Is(err, store.ErrNotFound) && k.Ended == nil
	own := ""
	if fresh {
		if _, own, err = d.placeNew(ctx, k); err != nil {
			return placeless(out, err)
		}
		if no, ok := d.mayStart(ctx, out); !ok {
			return no
		}
	}
	s, err := d.start(ctx, k.Item, StartRequest{Ref: k.Item, Here: k.Dir, Tree: own != "", Opening: loop.Opening(k.Item, e.Actor)})
	out.TmuxTarget, out.Message = s.TmuxTarget, string(loop.Start)
	switch {
	case err != nil:
		reason := s.Reason
		if reason == "" {
			reason = loop.RecordDamaged
		}
		if fresh && reason == loop.SpawnFailed {
			d.forget(ctx, k.Item)
		}
		return held(out, reason, err)
	case fresh:
		d.linkFirst(ctx, k.Item, e)
	}
	return out
}

// hear notes that a control word was carried out: in the thread that it was
// said in, and on the record.
func (d *Loop) hear(ctx context.Context, e event.Event, v loop.Verb, item work.Ref) error {
	_, err := d.change(ctx, item, item, func(s *work.Session) { s.Note(e.Delivery, e.Key, d.Now()) })
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = d.Store.ChangePortable(ctx, e.Subject, func(f *store.Facts) error {
		for _, h := range loop.Heard(e, v) {
			f.Heard = work.Remember(f.Heard, h)
		}
		return nil
	})
	return err
}
