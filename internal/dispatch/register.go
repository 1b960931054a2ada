package dispatch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// RegisterRequest takes over a conversation that somebody started by hand.
type RegisterRequest struct {
	Ref                   work.Ref
	Harness, ID, Cwd      string
	Socket, Pane, Program string // the pane, and our own program's name, which is never a harness
}

// Register makes a pane that somebody else started an item's session. What is
// in front in it now must be in front whenever something is typed (rule 50).
func (d *Loop) Register(ctx context.Context, q RegisterRequest) (*work.Record, error) {
	if q.Harness == "" {
		q.Harness = d.Config.Routing.DefaultHarness
	}
	if _, ok := d.Harnesses[q.Harness]; !ok {
		return nil, d.unknownHarness(q.Harness)
	}
	if q.ID != "" && !work.UsableID(q.ID) {
		return nil, fmt.Errorf("conversation id %q cannot be used: it begins with a letter or digit, and has at most 128 of letters, digits, '.', '_' and '-'", q.ID)
	}
	unlock, err := d.lock(ctx, q.Ref)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := d.free(ctx, q.Ref); err != nil {
		return nil, err
	}
	pane, err := d.strange(ctx, q)
	if err != nil {
		return nil, err
	}
	sp := tmux.Spawn{Ref: q.Ref.String(), Item: q.Ref.String(), Role: "item", Token: rand.Text()}
	claimed, err := d.server(q.Socket).Claim(ctx, pane.Pane, sp)
	if err != nil {
		return nil, err
	}
	r, err := d.Store.Change(ctx, q.Ref, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			r = &work.Record{Session: work.Session{Ref: q.Ref, CreatedAt: d.at()}}
		} else if !r.Live() {
			r.Reopen()
		}
		r.Status, r.Harness, r.Cwd, r.TmuxTarget = work.Active, q.Harness, q.Cwd, claimed.Name
		r.SetConversation(q.ID)
		r.Tmux = &work.Handle{
			Socket: q.Socket, ServerPID: claimed.Identity.PID, ServerStart: claimed.Start, Session: claimed.Session, Pane: claimed.Pane,
			Token: sp.Token, Program: pane.Command, At: d.at(),
		}
		return r, nil
	})
	if err == nil {
		d.note(journal.Line{What: "registered", Item: q.Ref.String(), Endpoint: q.Ref.String(), Message: claimed.Name + " " + claimed.Pane})
		d.ring(ctx, q.Ref)
	}
	return r, err
}

// free refuses where the item has a session that lives.
func (d *Loop) free(ctx context.Context, ref work.Ref) error {
	r, err := d.Store.Find(ref)
	if err != nil || r.Tmux == nil {
		return nil //nolint:nilerr // nothing there to collide with; a damaged file is refused by the change
	}
	switch _, state, err := d.server(r.Tmux.Socket).Look(ctx, target(r.Ref, r.Ref, r.Tmux)); state {
	case tmux.Live:
		return fmt.Errorf("%s has a session already, %s: gh loop stop %s ends it first", ref.Short(), r.TmuxTarget, ref.Short())
	case tmux.Unknown:
		return err
	}
	return nil
}

// strange finds the pane to take over, and refuses what must not be typed at.
func (d *Loop) strange(ctx context.Context, q RegisterRequest) (tmux.Pane, error) {
	panes, err := d.server(q.Socket).Panes(ctx)
	if err != nil {
		return tmux.Pane{}, err
	}
	for _, p := range panes {
		switch {
		case p.Pane != q.Pane:
			continue
		case p.Token != "":
			return p, fmt.Errorf("pane %s belongs to %s already", p.Pane, p.Ref)
		case p.Dead:
			return p, fmt.Errorf("the program in pane %s has ended", p.Pane)
		case harness.IsShell(p.Command), p.Command == q.Program, p.Command == "gh":
			return p, fmt.Errorf("%q is in front in pane %s, and not an agent: start the agent, and register its pane from another one with --pane", p.Command, p.Pane)
		}
		return p, nil
	}
	return tmux.Pane{}, errors.New("there is no pane " + q.Pane + " on this tmux server: tmux list-panes -a shows all")
}
