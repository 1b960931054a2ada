package dispatch

import (
	"context"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// ring tells the sessions of an item where its jump keys lead: to the next and
// the previous of the item's sessions, and up to its own. The keys read these
// options themselves, so that no program starts when one is pressed.
func (d *Loop) ring(ctx context.Context, r *work.Record) {
	byServer := map[string][]*work.Session{}
	for _, s := range r.Endpoints() {
		if s.Tmux != nil && s.Tmux.Session != "" {
			byServer[s.Tmux.Socket] = append(byServer[s.Tmux.Socket], s)
		}
	}
	for socket, members := range byServer {
		var set []tmux.Option
		for i, s := range members {
			n := len(members)
			set = append(set,
				tmux.Option{Session: s.Tmux.Session, Name: "@loop_next", Value: members[(i+1)%n].Tmux.Session},
				tmux.Option{Session: s.Tmux.Session, Name: "@loop_prev", Value: members[(i+n-1)%n].Tmux.Session})
			if !s.Ref.Same(r.Ref) && members[0].Ref.Same(r.Ref) {
				set = append(set, tmux.Option{Session: s.Tmux.Session, Name: "@loop_parent", Value: members[0].Tmux.Session})
			}
		}
		if err := d.server(socket).Set(ctx, set); err != nil {
			d.note(journal.Line{What: "error", Item: r.Ref.String(), Message: "the jump keys may lead astray: " + err.Error()})
		}
	}
}
