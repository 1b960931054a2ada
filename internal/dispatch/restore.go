package dispatch

import (
	"context"
	"errors"
	"sync"

	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// restoring is how many sessions are brought back at once: waiting for their
// harnesses takes the time, not we. making is how many of them are being made:
// more would only keep tmux from answering within its bound.
const (
	restoring = 32
	making    = 4
)

// Restored is what became of one endpoint in a restore.
type Restored struct {
	Item, Endpoint work.Ref
	State          tmux.State // before
	Did            loop.How   // Spawned or Respawned; "" when nothing was done
	TmuxTarget     string
	Err            error // why it is not back; of a dry run always nil
}

// Restore brings back every live endpoint that had a session and has none now,
// each resumed by its id (rule 46). Whoever runs beside us does it once
// between us, as each endpoint has a lock. told is called as each one is
// settled, never by two at once. A dry run only says what would be done.
func (d *Loop) Restore(ctx context.Context, dry bool, told func(Restored)) error {
	records, damaged, err := d.Store.Live()
	if err != nil {
		return err
	}
	ctx = tmux.Once(ctx)
	listings, gate := d.listings(ctx, records), make(chan struct{}, making)
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, restoring)
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if !s.Live() || (s.TmuxTarget == "" && s.Tmux == nil) {
				continue
			}
			wg.Add(1)
			slots <- struct{}{}
			go func() {
				defer func() { <-slots; wg.Done() }()
				out := d.restore(ctx, r, s, listings, gate, dry)
				mu.Lock()
				defer mu.Unlock()
				told(out)
			}()
		}
	}
	wg.Wait()
	if !dry {
		d.retellAll(ctx, records)
	}
	var errs []error
	for _, b := range damaged {
		errs = append(errs, b)
	}
	return errors.Join(errs...)
}

// listings asks each server that has sessions of ours for all its panes, once.
func (d *Loop) listings(ctx context.Context, records []*work.Record) map[string]tmux.Listing {
	all := map[string]tmux.Listing{}
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if h := s.Tmux; h != nil && s.Live() {
				if _, asked := all[h.Socket]; !asked {
					all[h.Socket] = d.server(h.Socket).List(ctx)
				}
			}
		}
	}
	return all
}

// retellAll tells the sessions of many items how they stand now.
func (d *Loop) retellAll(ctx context.Context, records []*work.Record) {
	var all []tmux.Ring
	for _, was := range records {
		if r, err := d.Store.Find(was.Ref); err == nil {
			all = append(all, rings(r)...)
		}
	}
	d.set(ctx, all)
}

// restore brings one endpoint back. was is how its record stood before the
// listings were made.
func (d *Loop) restore(ctx context.Context, owner *work.Record, was *work.Session, listings map[string]tmux.Listing, gate chan struct{}, dry bool) Restored {
	item, endpoint := owner.Ref, was.Ref
	out := Restored{Item: item, Endpoint: endpoint}
	unlock, err := d.lock(ctx, endpoint)
	if err != nil {
		out.Err = err
		return out
	}
	defer unlock()
	r, err := d.Store.Find(item)
	if err != nil {
		out.Err = err
		return out
	}
	s := r.At(endpoint)
	if s == nil || !s.Live() {
		return out
	}
	out.TmuxTarget = s.TmuxTarget
	a := act{Loop: d, ctx: ctx, rec: r, s: s, out: loop.Outcome{Item: item, Endpoint: endpoint}, news: silence("restore"), quiet: true, gate: gate}
	if h := s.Tmux; h != nil && was.Tmux != nil && *h == *was.Tmux && h.Next == "" { // nobody was quicker
		if l, ok := listings[h.Socket]; ok {
			a.told = &l
		}
	}
	state, pane, err := a.state()
	out.State = state
	switch {
	case state == tmux.Unknown:
		out.Err = err
	case state == tmux.Live:
		out.Err = a.settle()
	case !dry:
		a.open(pane)
		out.Did, out.TmuxTarget = a.out.How, a.s.TmuxTarget
		if a.out.Fate != loop.Delivered {
			out.Err = errors.New(string(a.out.Reason) + ": " + a.out.Message)
		}
	}
	return out
}

// silence is news that tell the harness nothing.
func silence(kind string) news {
	return news{kind: kind, text: func(string) string { return "" }}
}

// state asks tmux how the endpoint's session is. A spawn that was begun and
// not written down is found by the token that was saved before.
func (a *act) state() (tmux.State, *tmux.Pane, error) {
	h := a.s.Tmux
	if h == nil {
		return tmux.Absent, nil, nil
	}
	if h.Next != "" {
		pane, state, err := a.server(h.Socket).Look(a.ctx, begun(a.rec.Ref, a.s.Ref, h))
		switch state {
		case tmux.Unknown:
			return state, nil, err
		case tmux.Live, tmux.Dead:
			a.adopt(pane, false)
			return state, &pane, nil
		}
		a.s.Tmux.Next, a.s.Tmux.First = "", ""
	}
	at := target(a.rec.Ref, a.s.Ref, a.s.Tmux)
	if a.told != nil { // a pane that is gone stays so; a dead one may be gone since
		switch pane, state, _ := a.told.Find(at); state {
		case tmux.Absent:
			return state, nil, nil
		case tmux.Live:
			return state, &pane, nil
		}
	}
	pane, state, err := a.server(h.Socket).Look(a.ctx, at)
	if state == tmux.Absent {
		return state, nil, nil
	}
	return state, &pane, err
}

// settle writes down what state found, if it is news.
func (a *act) settle() error {
	r, err := a.Store.Find(a.rec.Ref)
	if err != nil {
		return err
	}
	if s := r.At(a.s.Ref); s != nil && s.Tmux != nil && a.s.Tmux != nil && *s.Tmux == *a.s.Tmux && s.TmuxTarget == a.s.TmuxTarget {
		return nil
	}
	return a.save(func(*work.Session) {})
}

// Bring sees to it that an endpoint's session lives, and says where it is.
func (d *Loop) Bring(ctx context.Context, ref work.Ref) (*work.Session, error) {
	r, err := d.Record(ref)
	if err != nil {
		return nil, err
	}
	s := r.At(ref)
	if s == nil {
		return nil, d.notHere(ref)
	}
	if !s.Live() || !r.Live() {
		return s, ErrEnded
	}
	unlock, err := d.lock(ctx, s.Ref)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r, err = d.Store.Find(r.Ref); err != nil {
		return nil, err
	}
	if s = r.At(ref); s == nil {
		return nil, store.ErrNotFound
	}
	a := act{Loop: d, ctx: ctx, rec: r, s: s, out: loop.Outcome{Item: r.Ref, Endpoint: s.Ref}, news: silence("attach")}
	a.revive()
	if a.out.Fate == loop.Held || a.out.Fate == loop.Failed || a.s.Tmux == nil {
		return nil, errors.New(string(a.out.Reason) + ": " + a.out.Message)
	}
	return a.s, nil
}

// ErrEnded says that a session's work has ended.
var ErrEnded = errors.New("its work has ended")
