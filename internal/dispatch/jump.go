package dispatch

import (
	"context"
	"fmt"

	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Jump moves one client to another session of an item (rule 57), as the keys
// would. socket and session say where the client is now; where is item, next
// or prev.
func (d *Loop) Jump(ctx context.Context, socket, client, session, where string) error {
	records, _, err := d.Store.Live()
	if err != nil {
		return err
	}
	r, _ := locate(records, socket, session)
	if r == nil {
		return fmt.Errorf("this session belongs to no item: gh loop list shows those that do")
	}
	to := ""
	for _, ring := range rings(r) {
		for _, m := range ring.Members {
			if ring.Socket == socket && m.Session == session {
				to = map[string]string{"item": m.Parent, "next": m.Next, "prev": m.Prev}[where]
			}
		}
	}
	if to == "" {
		return fmt.Errorf("%s has no session in that direction: gh loop show %s says what it has", r.Ref.Short(), r.Ref.Short())
	}
	_, s := locate(records, socket, to)
	return d.switchTo(ctx, socket, client, s)
}

// JumpTo moves one client to the session of a ref.
func (d *Loop) JumpTo(ctx context.Context, socket, client string, ref work.Ref) error {
	r, err := d.Record(ref)
	if err != nil {
		return err
	}
	s := r.At(ref)
	if s == nil || s.Tmux == nil {
		return fmt.Errorf("%s has no session: gh loop start %s brings it back", ref.Short(), r.Ref.Short())
	}
	return d.switchTo(ctx, socket, client, s)
}

func (d *Loop) switchTo(ctx context.Context, socket, client string, s *work.Session) error {
	if s.Tmux == nil {
		return fmt.Errorf("%s has no session: gh loop start %s brings it back", s.Ref.Short(), s.Ref.Short())
	}
	if s.Tmux.Socket != socket {
		return fmt.Errorf("the session of %s is on another tmux server, %s", s.Ref.Short(), s.Tmux.Socket)
	}
	pane, state, err := d.server(socket).Look(ctx, target(work.Ref{}, s.Ref, s.Tmux))
	switch state {
	case tmux.Unknown:
		return err
	case tmux.Absent:
		return fmt.Errorf("the session of %s is gone: gh loop start %s brings it back", s.Ref.Short(), s.Ref.Short())
	}
	return d.server(socket).Switch(ctx, client, pane.Session)
}

func locate(records []*work.Record, socket, session string) (*work.Record, *work.Session) {
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if s.Tmux != nil && s.Tmux.Socket == socket && s.Tmux.Session == session {
				return r, s
			}
		}
	}
	return nil, nil
}

// Browse opens an item or pull request in the user's browser.
func (d *Loop) Browse(ctx context.Context, ref work.Ref) error {
	url := ref.URL()
	if url == "" {
		return fmt.Errorf("%s has no address that could be opened", ref)
	}
	return d.server("").Browse(ctx, "", url)
}
