package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// endAll ends the sessions of an endpoint: its own, or, where it is the item,
// first those of the pull requests. The error says that not all of them did.
func (d *Loop) endAll(ctx context.Context, r *work.Record, endpoint work.Ref, kill bool) error {
	// A caller inside the pane is hung up by the pane's end, and finishes all the same.
	ctx = context.WithoutCancel(ctx)
	defer d.ring(ctx, r.Ref)
	if !r.Ref.Same(endpoint) {
		return d.end(ctx, r.Ref, endpoint, kill)
	}
	var errs []error
	for _, pr := range r.PullRequests() {
		errs = append(errs, d.end(ctx, r.Ref, pr.Ref, kill))
	}
	return errors.Join(append(errs, d.end(ctx, r.Ref, r.Ref, kill))...)
}

// end ends one session as retention says (rule 43): the pane stays readable
// and what runs in it ends, or the session goes; with kill it goes in any case.
// Nothing that does not carry our token for this endpoint is touched. The
// error says that it may still run, and is noted; whoever has the event or the
// terminal tries again. What was dealt with once is not looked at again.
func (d *Loop) end(ctx context.Context, item, endpoint work.Ref, kill bool) error {
	unlock, err := d.lock(ctx, endpoint)
	if err != nil {
		return d.notEnded(item, endpoint, err)
	}
	defer unlock()
	r, err := d.whole(item)
	if err != nil {
		return d.notEnded(item, endpoint, err)
	}
	s := r.At(endpoint)
	if s == nil || s.Tmux == nil || s.Tmux.Ended && !kill {
		return nil
	}
	h := *s.Tmux
	for _, at := range []tmux.Target{target(item, endpoint, &h), begun(item, endpoint, &h)} {
		if at.Token == "" {
			continue
		}
		err := d.endPane(ctx, h, at, kill)
		var unknown *tmux.UnknownError
		if errors.As(err, &unknown) {
			return d.notEnded(item, endpoint, err)
		}
		if err != nil { // what can be done is done
			_ = d.notEnded(item, endpoint, err)
		}
	}
	_, err = d.change(ctx, item, endpoint, func(now *work.Session) {
		if !now.Live() && now.Tmux != nil && now.Tmux.Token == h.Token && now.Tmux.Next == h.Next {
			now.Tmux.Ended = true
		}
	})
	return err
}

// endPane ends what runs in one pane, down to what it started in the
// background. A pane that was only registered is its user's, with the shell
// below the agent: nothing in it is ended.
func (d *Loop) endPane(ctx context.Context, h work.Handle, at tmux.Target, kill bool) error {
	if h.Program != "" {
		return nil
	}
	t := d.Config.Routing.Tmux
	srv := d.server(h.Socket)
	kill = kill || !t.KeepSessionOnClose
	var err error
	if kill || t.KillHarnessOnClose {
		err = srv.EndHarness(ctx, at, time.Duration(t.HarnessKillGraceSeconds)*time.Second)
	}
	if kill && err == nil {
		err = srv.KillSession(ctx, at)
	}
	return err
}

func (d *Loop) notEnded(item, endpoint work.Ref, err error) error {
	d.note(journal.Line{What: "error", Item: item.String(), Endpoint: endpoint.String(), Message: "its session was not ended: " + err.Error()})
	return fmt.Errorf("the session of %s was not ended: %w", endpoint.Short(), err)
}

// whole gives an item's record, whether it is live or ended.
func (d *Loop) whole(item work.Ref) (*work.Record, error) {
	r, err := d.Store.Find(item)
	if errors.Is(err, store.ErrNotFound) {
		return d.Store.FindClosed(item)
	}
	return r, err
}

// ended says whether an item has a record that ended, and no live one.
func (d *Loop) ended(item work.Ref) bool {
	r, err := d.whole(item)
	return err == nil && !r.Live()
}

// Obey carries out what a person says at the terminal about one ref, which is
// taken literally: a pull request's is never resolved to its item (rule 44).
// Where several records have that endpoint, it is carried out for each. It
// gives the records as they are then, and whether anything changed; what could
// not be ended is an error, and doing it once more finishes it.
func (d *Loop) Obey(ctx context.Context, ref work.Ref, v loop.Verb) ([]*work.Record, bool, error) {
	owners, err := d.owners(ref)
	if err != nil {
		return nil, false, err
	}
	if (v == loop.Pause || v == loop.Resume) && !slices.ContainsFunc(owners, func(r *work.Record) bool { return r.Live() && r.At(ref).Live() }) {
		return nil, false, fmt.Errorf("%s has ended: gh loop start %s brings it back", ref, ref.Short())
	}
	if err := d.remember(ctx, ref, v); err != nil {
		return nil, false, err
	}
	var out []*work.Record
	changed := false
	var errs []error
	for _, r := range owners {
		did := false
		now, err := d.Store.Change(ctx, r.Ref, func(r *work.Record) (*work.Record, error) {
			if r == nil {
				return nil, store.ErrNotFound
			}
			did = loop.Obey(r, ref, v)
			return r, nil
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if out = append(out, now); did {
			changed = true
			d.noteVerb(now.Ref, ref, v, "", "")
		}
		if v == loop.Stop || v == loop.Close || v == loop.Cleanup {
			err := d.endAll(ctx, now, ref, v == loop.Cleanup)
			if errs = append(errs, err); err == nil && v == loop.Close {
				d.removeTrees(ctx, now, ref, false)
			}
		}
	}
	return out, changed, errors.Join(errs...)
}

// noteVerb writes the line of a command that changed a record.
func (d *Loop) noteVerb(item, endpoint work.Ref, v loop.Verb, event, delivery string) {
	what := map[loop.Verb]string{loop.Start: "started", loop.Pause: "paused", loop.Resume: "resumed"}[v]
	if what == "" {
		what = "closed"
	}
	d.note(journal.Line{What: what, Item: item.String(), Endpoint: endpoint.String(), Event: event, Delivery: delivery, Reason: string(v)})
}

// terminal is where a command was given that was not said on GitHub.
const terminal = "terminal"

// remember keeps a command that was given at the terminal: it holds until the
// next one, also for what would start by itself. To close is no command: what
// closed comes back when it is reopened on GitHub.
func (d *Loop) remember(ctx context.Context, ref work.Ref, v loop.Verb) error {
	if v == loop.Close {
		return nil
	}
	_, err := d.Store.ChangePortable(ctx, ref, func(f *store.Facts) error {
		f.Control = &store.Control{Word: string(v), By: d.Settings.Logins[ref.Host], At: d.at(), Where: terminal}
		return nil
	})
	return err
}

// owners finds the records on which a ref is an endpoint: its own and all live
// ones that list it, or else its own that ended.
func (d *Loop) owners(ref work.Ref) ([]*work.Record, error) {
	var out []*work.Record
	r, err := d.Store.Find(ref)
	switch {
	case err == nil:
		out = append(out, r)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	listing, damaged, err := d.Store.Listing(ref)
	if err != nil {
		return nil, err
	}
	for _, r := range listing {
		if !r.Ref.Same(ref) {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(damaged) > 0 {
		return nil, damaged[0]
	}
	if r, err = d.Store.FindClosed(ref); err == nil {
		return []*work.Record{r}, nil
	}
	if errors.Is(err, store.ErrNotFound) {
		err = d.notHere(ref)
	}
	return nil, err
}

// owner finds the one item on whose live record a ref is an endpoint.
func (d *Loop) owner(ref work.Ref) (work.Ref, error) {
	all, err := d.owners(ref)
	switch {
	case err != nil:
		return work.Ref{}, err
	case len(all) > 1 && !all[0].Ref.Same(ref):
		return work.Ref{}, fmt.Errorf("%s is on the records of %s and %s: unlink it from one of them first", ref, all[0].Ref, all[1].Ref)
	}
	return all[0].Ref, nil
}
