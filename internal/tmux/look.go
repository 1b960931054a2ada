package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// State is what is known of a pane.
type State string

// The states. Dead is a pane that is kept after its program ended. Absent is
// certain: the pane, or the server that had it, is gone. Everything that is
// not certain is Unknown, and nothing may be started or ended upon it.
const (
	Live    State = "live"
	Dead    State = "dead"
	Absent  State = "absent"
	Unknown State = "unknown"
)

// unclear is how long an unclear answer is asked for again. A server that
// loses its last session is unclear for a moment.
const unclear = time.Second

// Look finds a pane of ours by its token. The error says why a state is
// Unknown; it is nil for every other state.
func (s Server) Look(ctx context.Context, t Target) (Pane, State, error) {
	if !tokenShape.MatchString(t.Token) {
		return Pane{}, Absent, nil // no pane of ours ever had such a token
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	for began, pause := time.Now(), 5*time.Millisecond; ; pause *= 2 {
		id, panes, err := s.list(ctx)
		pane, state, err := judge(t, id, panes, err)
		if state != Unknown || hopeless(err) || time.Since(began) > unclear || !sleep(ctx, pause) {
			var unknown *UnknownError
			if err != nil && !errors.As(err, &unknown) {
				err = s.unknown([]string{"list-panes"}, 0, "", err)
			}
			return pane, state, err
		}
	}
}

// hopeless says whether asking again would bring the same answer.
func hopeless(err error) bool {
	var old *OldError
	return errors.As(err, &old) || errors.Is(err, context.DeadlineExceeded)
}

// Listing is every pane of a server as one query told it, or why it did not.
type Listing struct {
	id    Identity
	panes []Pane
	err   error
}

// List asks once for all. Where nobody listens no process is started.
func (s Server) List(ctx context.Context) Listing {
	if s.silent() {
		return Listing{err: fmt.Errorf("%w on %q", ErrNoServer, s.Socket)}
	}
	id, panes, err := s.list(ctx)
	return Listing{id, panes, err}
}

// Find is Look in a listing: as it was when that was made. What is unknown in it
// may be known to Look, which asks again.
func (l Listing) Find(t Target) (Pane, State, error) {
	if !tokenShape.MatchString(t.Token) {
		return Pane{}, Absent, nil
	}
	return judge(t, l.id, l.panes, l.err)
}

// errElsewhere is why a pane is unknown though a server answers, or none does.
var errElsewhere = errors.New("the server that had the pane does not answer on this socket, and its process still runs")

func judge(t Target, id Identity, panes []Pane, err error) (Pane, State, error) {
	if err != nil && !errors.Is(err, ErrNoServer) {
		return Pane{}, Unknown, err
	}
	for _, p := range panes {
		if p.Token == t.Token {
			if t.Ref != "" && p.Ref != t.Ref || t.Item != "" && p.Item != t.Item {
				return Pane{}, Unknown, fmt.Errorf("pane %s, which has the token, says that it belongs to %q of item %q", p.Pane, p.Ref, p.Item)
			}
			if p.Dead {
				return p, Dead, nil
			}
			return p, Live, nil
		}
	}
	same := err == nil && id.PID == t.PID && id.Start == t.Start
	if same || t.PID == 0 || !stillServer(t.PID, t.Start) {
		return Pane{}, Absent, nil
	}
	return Pane{}, Unknown, errElsewhere
}

// find looks for a live or dead pane of ours where its id is not known.
func (s Server) find(ctx context.Context, t Target) (Target, error) {
	if !tokenShape.MatchString(t.Token) {
		return t, ErrNotOurs
	}
	if paneID.MatchString(t.Pane) && sessionID.MatchString(t.Session) {
		return t, nil
	}
	p, state, err := s.Look(ctx, t)
	switch {
	case err != nil:
		return t, err
	case state == Absent:
		return t, ErrNotOurs
	}
	found := p.Target()
	found.Ref, found.Item = t.Ref, t.Item
	return found, nil
}

// ErrNotOurs says that no pane carries the target's token any more, or that
// it is not where the target says: nothing was done.
var ErrNotOurs = errors.New("no such pane of ours")

// sleep waits, and says whether there is time left.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
