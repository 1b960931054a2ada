package dispatch

import (
	"context"
	"fmt"

	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Jump moves one client to a session of an item (rule 57). socket and session
// say where the client is now; where is item, next or prev.
func (d *Loop) Jump(ctx context.Context, socket, client, session, where string) error {
	records, _, err := d.Store.Live()
	if err != nil {
		return err
	}
	r, here := locate(records, socket, session)
	if r == nil {
		return fmt.Errorf("this session belongs to no item: gh loop list shows those that do")
	}
	var members []*work.Session
	at := -1
	for _, s := range r.Endpoints() {
		if s.Tmux == nil || s.Tmux.Socket != socket || s.Tmux.Session == "" {
			continue
		}
		if s == here {
			at = len(members)
		}
		members = append(members, s)
	}
	n := len(members)
	var to *work.Session
	switch where {
	case "item":
		to = &r.Session
	case "next":
		to = members[(at+1)%n]
	case "prev":
		to = members[(at+n-1)%n]
	}
	return d.switchTo(ctx, socket, client, to)
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
