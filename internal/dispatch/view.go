package dispatch

import (
	"context"
	"errors"

	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// View is what there is, as far as the records and tmux tell.
type View struct {
	Records []*work.Record
	Damaged []*store.DamagedError
	Held    map[string]int // waiting events, by the key of the endpoint's ref
	Poison  int            // events that were set aside

	panes  map[string][]tmux.Pane
	silent map[string]bool
}

// Look gathers the live records, what waits for them, and, with one call to
// each tmux server that they name, the state of their sessions.
func (d *Loop) Look(ctx context.Context) (View, error) {
	records, damaged, err := d.Store.Live()
	if err != nil {
		return View{}, err
	}
	return d.view(ctx, records, damaged)
}

func (d *Loop) view(ctx context.Context, records []*work.Record, damaged []*store.DamagedError) (View, error) {
	v := View{Records: records, Damaged: damaged, panes: map[string][]tmux.Pane{}, silent: map[string]bool{}}
	waiting, err := d.Store.Waiting()
	if err != nil {
		return v, err
	}
	v.Held = Held(waiting)
	poisoned, err := d.Store.Poisoned()
	if err != nil {
		return v, err
	}
	v.Poison = len(poisoned)
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if s.Tmux != nil {
				d.ask(ctx, &v, s.Tmux.Socket)
			}
		}
	}
	return v, nil
}

func (d *Loop) ask(ctx context.Context, v *View, socket string) {
	if _, asked := v.panes[socket]; asked || v.silent[socket] {
		return
	}
	panes, err := d.server(socket).Panes(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		v.silent[socket] = true
		return
	}
	v.panes[socket] = panes
}

// State says how an endpoint's session is, in the contract's words.
func (v View) State(s *work.Session) string {
	switch {
	case s.Tmux == nil && s.TmuxTarget == "" && !Gone(s):
		return "none"
	case s.Tmux == nil:
		return "dead"
	case v.silent[s.Tmux.Socket]:
		return "unknown"
	}
	p, ok := v.Pane(s)
	switch {
	case !ok || p.Dead:
		return "dead"
	case p.Rang && p.Since.IsZero(): // it has no hooks: it wants something, or is done
		return "unknown"
	case p.State == "running" || p.State == "waiting" || p.State == "idle":
		return p.State
	}
	return "running"
}

// Gone says whether the directory that a live session works in is gone, so that
// it cannot be brought back there.
func Gone(s *work.Session) bool { return s.Live() && s.Cwd != "" && !there(s.Cwd) }

// Pane finds an endpoint's pane by its token.
func (v View) Pane(s *work.Session) (tmux.Pane, bool) {
	if s.Tmux == nil {
		return tmux.Pane{}, false
	}
	for _, p := range v.panes[s.Tmux.Socket] {
		if p.Token != "" && (p.Token == s.Tmux.Token || p.Token == s.Tmux.Next) {
			return p, true
		}
	}
	return tmux.Pane{}, false
}

// Record finds the one record that a person means by a ref: its own, live or
// ended, else one that lists it.
func (d *Loop) Record(ref work.Ref) (*work.Record, error) {
	r, err := d.Store.Find(ref)
	if !errors.Is(err, store.ErrNotFound) {
		return r, err
	}
	if owner, err := d.owner(ref); err == nil {
		return d.whole(owner)
	}
	r, err = d.Store.FindClosed(ref)
	if errors.Is(err, store.ErrNotFound) {
		return nil, d.notHere(ref)
	}
	return r, err
}

// LookAt is Look for one record.
func (d *Loop) LookAt(ctx context.Context, ref work.Ref) (View, error) {
	r, err := d.Record(ref)
	if err != nil {
		return View{}, err
	}
	return d.view(ctx, []*work.Record{r}, nil)
}
