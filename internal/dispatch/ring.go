package dispatch

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// ring tells the sessions of an item where their jump keys lead, and how their
// siblings are. Keys and status line read these options themselves, so that no
// program starts when a key is pressed. It is called after whatever spawned,
// brought back, closed or renamed a session, when the outcome is decided.
func (d *Loop) ring(ctx context.Context, item work.Ref) {
	r, err := d.Store.Find(item)
	if err != nil {
		if r, err = d.Store.FindClosed(item); err != nil {
			return // whoever asks for the record next hears what is wrong with it
		}
	}
	d.set(ctx, rings(r))
}

// tell sets one session's @loop_state, and lets its siblings count anew.
func (d *Loop) tell(ctx context.Context, r *work.Record, s *work.Session, state string) {
	all := rings(r)
	for _, ring := range all {
		for i, m := range ring.Members {
			if s.Tmux != nil && m.Session == s.Tmux.Session && ring.Identity == target(r.Ref, s.Ref, s.Tmux).Identity {
				ring.Members[i].State = state
			}
		}
	}
	d.set(ctx, all)
}

// set tells the rings of any number of items, with one call to each server.
func (d *Loop) set(ctx context.Context, all []tmux.Ring) {
	on := map[string][]tmux.Ring{}
	for _, ring := range all {
		on[ring.Socket] = append(on[ring.Socket], ring)
	}
	for socket, rings := range on {
		if err := d.server(socket).SetRings(ctx, rings...); err != nil && !errors.Is(err, tmux.ErrNoServer) {
			d.note(journal.Line{What: "error", Message: "the jump keys may lead astray: " + err.Error()})
		}
	}
}

// rings lays out an item's sessions, for each tmux server that has some.
func rings(r *work.Record) []tmux.Ring {
	members := map[tmux.Identity][]*work.Session{}
	gone := 0
	for _, s := range r.Endpoints() {
		switch h := s.Tmux; {
		case h != nil && h.Session != "":
			id := target(r.Ref, s.Ref, h).Identity
			members[id] = append(members[id], s)
		case s.Live() && s.TmuxTarget != "":
			gone++
		}
	}
	var out []tmux.Ring
	for id, sessions := range members {
		out = append(out, tmux.Ring{Identity: id, Members: around(r, sessions), Gone: gone})
	}
	return out
}

// around leads from each session to its live neighbours, in the record's
// order, and up to the item's own. One that was closed and is kept to be read
// leads into the round, and nothing leads to it.
func around(r *work.Record, sessions []*work.Session) []tmux.Member {
	var out []tmux.Member
	n := len(sessions)
	step := func(from, by int) string {
		for i := 1; i < n; i++ {
			if s := sessions[(from+i*by+i*n)%n]; s.Live() {
				return s.Tmux.Session
			}
		}
		return ""
	}
	for i, s := range sessions {
		name := s.Ref.Short()
		if s.Ref.Repository().Same(r.Ref.Repository()) {
			_, number, _ := strings.Cut(name, "#")
			name = "#" + number
		}
		m := tmux.Member{Name: name, Session: s.Tmux.Session, Next: step(i, 1), Prev: step(i, -1), Title: s.Title, Closed: !s.Live()}
		if first := sessions[0]; i > 0 && first.Ref.Same(r.Ref) && first.Live() {
			m.Parent = first.Tmux.Session
		}
		out = append(out, m)
	}
	return out
}

// ShowHeld tells the status line how many events are held. It is called when
// that changes, and asks nothing of a tmux without the plugin.
func (d *Loop) ShowHeld(ctx context.Context) {
	entries, err := d.Store.Waiting()
	if err != nil {
		return
	}
	n := 0
	for _, w := range entries {
		if w.Held.Reason != "" {
			n++
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), telling)
	defer cancel()
	_ = d.server("").SetHeld(ctx, n) // a count that is not shown is no error of the event's
}

// telling bounds what is only said to the status line.
const telling = time.Second
