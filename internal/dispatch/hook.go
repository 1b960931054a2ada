package dispatch

import (
	"context"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// SessionGone notes that a tmux session ended (rule 45): the work goes on, and
// the next event brings the conversation back. An id means nothing without the
// server that it came from.
func (d *Loop) SessionGone(ctx context.Context, session string, pid int, start int64) error {
	return d.hooked(ctx, session, pid, start, "session-closed", func(s *work.Session) {
		s.Tmux = &work.Handle{Socket: s.Tmux.Socket} // where it comes back; its ids are worth nothing now
	})
}

// SessionRenamed keeps the name that people see true. tmux hands over ids
// only, as a name could be shell code; the name is asked for.
func (d *Loop) SessionRenamed(ctx context.Context, session string, pid int, start int64) error {
	r, s, err := d.bySession(session, pid, start)
	if err != nil || s == nil {
		return err
	}
	pane, state, err := d.server(s.Tmux.Socket).Look(ctx, target(r.Ref, s.Ref, s.Tmux))
	if state != tmux.Live && state != tmux.Dead {
		return err
	}
	return d.hooked(ctx, session, pid, start, "session-renamed", func(s *work.Session) { s.TmuxTarget = pane.Name })
}

// PaneDied writes a line, and tells the siblings; the record's handle stays
// true, as the pane is kept.
func (d *Loop) PaneDied(ctx context.Context, session, pane, status string, pid int) error {
	records, _, err := d.Store.Live()
	if err != nil {
		return err
	}
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if h := s.Tmux; h != nil && h.Session == session && h.Pane == pane && h.ServerPID == pid {
				d.note(journal.Line{What: "hook", Item: r.Ref.String(), Endpoint: s.Ref.String(), Reason: "pane-died", Message: Ended(status)})
				if !s.Live() {
					return nil
				}
				d.tell(ctx, r, s, "dead")
				if held, err := d.holds(s.Ref); err != nil || !held {
					return err
				}
				return d.Background(r.Ref, s.Ref) // rule 51: the pane ended, so that a fresh conversation takes what was held
			}
		}
	}
	return nil
}

// Ended says how a program ended, as far as its exit status tells.
func Ended(status string) string {
	switch status {
	case "":
		return "killed by a signal"
	case "0":
		return "ended by itself or by its user, status 0"
	}
	return "died, status " + status
}

func (d *Loop) hooked(ctx context.Context, session string, pid int, start int64, what string, fn func(*work.Session)) error {
	r, s, err := d.bySession(session, pid, start)
	if err != nil || s == nil {
		return err
	}
	_, err = d.change(ctx, r.Ref, s.Ref, func(now *work.Session) {
		if now.Tmux != nil && now.Tmux.Token == s.Tmux.Token {
			fn(now)
		}
	})
	if err != nil {
		return err
	}
	d.note(journal.Line{What: "hook", Item: r.Ref.String(), Endpoint: s.Ref.String(), Reason: what})
	d.ring(ctx, r.Ref)
	return nil
}

// bySession finds the live endpoint whose session that is.
func (d *Loop) bySession(session string, pid int, start int64) (*work.Record, *work.Session, error) {
	records, _, err := d.Store.Live()
	if err != nil {
		return nil, nil, err
	}
	for _, r := range records {
		for _, s := range r.Endpoints() {
			if h := s.Tmux; h != nil && h.Session == session && h.ServerPID == pid && h.ServerStart == start {
				return r, s, nil
			}
		}
	}
	return nil, nil, nil
}
