package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// endAll deals with the sessions of everything on a record that closed, pull
// requests first.
func (d *Loop) endAll(ctx context.Context, r *work.Record) {
	for _, pr := range r.PullRequests() {
		if !pr.Live() {
			d.end(ctx, r.Ref, pr)
		}
	}
	d.end(ctx, r.Ref, &r.Session)
	d.ring(ctx, r.Ref)
}

// endOne is endAll for one pull request.
func (d *Loop) endOne(ctx context.Context, item work.Ref, s *work.Session) {
	d.end(ctx, item, s)
	d.ring(ctx, item)
}

// end deals with a closed session as retention says (rule 43): the pane stays
// readable and its harness ends, or the session goes. Nothing that does not
// carry our token is touched, and a silent tmux leaves it for the next call.
func (d *Loop) end(ctx context.Context, item work.Ref, s *work.Session) {
	if s == nil || !s.Lingers() {
		return
	}
	unlock, err := d.Store.LockEndpoint(ctx, s.Ref)
	if err != nil {
		d.noteEnd(item, s, err)
		return
	}
	defer unlock()
	h := *s.Tmux
	if h.Pane == "" && h.Next != "" {
		h.Token = h.Next
	}
	srv, at := d.server(h.Socket), target(&h)
	t := d.Config.Routing.Tmux
	switch {
	case !t.KeepSessionOnClose:
		err = srv.KillSession(ctx, at)
	case t.KillHarnessOnClose:
		err = srv.EndHarness(ctx, at, time.Duration(t.HarnessKillGraceSeconds)*time.Second)
	}
	var unknown *tmux.UnknownError
	if errors.As(err, &unknown) {
		d.noteEnd(item, s, err)
		return
	}
	if err != nil {
		d.noteEnd(item, s, err)
	}
	_, err = d.change(ctx, item, s.Ref, func(now *work.Session) {
		if now.Tmux != nil && now.Tmux.Token == s.Tmux.Token {
			now.Tmux.Ended = true
		}
	})
	if err != nil {
		d.noteEnd(item, s, err)
	}
}

func (d *Loop) noteEnd(item work.Ref, s *work.Session, err error) {
	d.note(journal.Line{What: "error", Item: item.String(), Endpoint: s.Ref.String(), Message: "its session was not ended: " + err.Error()})
}

// Stop closes an item or a pull request's entry because a person said so.
func (d *Loop) Stop(ctx context.Context, ref work.Ref, by work.Ending) (*work.Record, error) {
	owner, err := d.owner(ref)
	if err != nil {
		return nil, err
	}
	r, err := d.Store.Change(ctx, owner, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		if r.Ref.Same(ref) {
			r.Close(by)
		} else if s := r.PullRequest(ref); s != nil {
			s.Close(by)
		}
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	d.note(journal.Line{What: "closed", Item: r.Ref.String(), Endpoint: ref.String(), Reason: string(by)})
	if r.Ref.Same(ref) {
		d.endAll(ctx, r)
	} else {
		d.endOne(ctx, r.Ref, r.PullRequest(ref))
	}
	return r, nil
}

// owner finds the item on whose live record a ref is an endpoint: its own, or
// the only one that lists it.
func (d *Loop) owner(ref work.Ref) (work.Ref, error) {
	r, err := d.Store.Find(ref)
	if err == nil {
		return r.Ref, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return work.Ref{}, err
	}
	records, damaged, err := d.Store.Listing(ref)
	switch {
	case err != nil:
		return work.Ref{}, err
	case len(records) == 1:
		return records[0].Ref, nil
	case len(records) > 1:
		return work.Ref{}, fmt.Errorf("%s is on the records of %s and %s: unlink it from one of them first", ref, records[0].Ref, records[1].Ref)
	case len(damaged) > 0:
		return work.Ref{}, damaged[0]
	}
	return work.Ref{}, fmt.Errorf("%s is not worked on here: gh loop list shows what is, gh loop start %s begins", ref, ref.Short())
}
