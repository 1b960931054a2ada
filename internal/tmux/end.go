package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// EndHarness ends what runs in a pane of ours, which is looked up first: TERM
// to every process of the pane's session and to all their descendants, KILL to
// what is left after grace. It returns when the pane is dead or gone. A pane
// that is not there, or dead, is no error. We ourselves are spared, also when
// we run inside the pane.
func (s Server) EndHarness(ctx context.Context, t Target, grace time.Duration) error {
	p, state, err := s.Look(ctx, t)
	if err != nil || state != Live {
		return err
	}
	if first, err := lookProcess(p.PID); p.PID <= 1 || err == nil && first.parent != p.Identity.PID {
		return fmt.Errorf("%w: process %d is no child of tmux server %d", ErrNotOurs, p.PID, p.Identity.PID)
	}
	type who struct { // a pid alone may be used again
		pid   int
		start time.Time
	}
	asked := map[who]bool{}
	for end := time.Now().Add(grace); ; {
		sig := syscall.SIGTERM
		if time.Now().After(end) {
			sig = syscall.SIGKILL
		}
		left := inside(p.PID)
		if len(left) == 0 {
			break
		}
		for _, q := range left {
			if id := (who{q.pid, q.start}); sig == syscall.SIGKILL || !asked[id] {
				asked[id] = true
				_ = syscall.Kill(q.pid, sig)
			}
		}
		if time.Since(end) > s.timeout() || !sleep(ctx, 10*time.Millisecond) {
			return fmt.Errorf("%d processes in pane %s do not end", len(left), p.Pane)
		}
	}
	return s.untilDead(ctx, t)
}

// inside lists what runs in a pane: its first process's session, and all
// descendants. Zombies do not run.
func inside(first int) []process {
	all := processes()
	if all == nil && !gone(first) {
		all = []process{{pid: first, session: first}}
	}
	in := map[int]bool{first: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !in[p.pid] && (p.session == first || in[p.parent]) {
				in[p.pid], grew = true, true
			}
		}
	}
	var left []process
	for _, p := range all {
		if in[p.pid] && !p.zombie && p.pid > 1 && p.pid != os.Getpid() {
			left = append(left, p)
		}
	}
	return left
}

func (s Server) untilDead(ctx context.Context, t Target) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	for {
		_, state, err := s.Look(ctx, t)
		if err != nil || state != Live {
			return err
		}
		if !sleep(ctx, 10*time.Millisecond) {
			return s.unknown([]string{"list-panes"}, 0, "", fmt.Errorf("pane %s does not die", t.Pane))
		}
	}
}

// KillSession ends a session of ours. One that is gone is no error; ErrNotOurs
// says that the pane with the token is in another session now.
func (s Server) KillSession(ctx context.Context, t Target) error {
	t, err := s.find(ctx, t)
	if err == ErrNotOurs {
		return nil
	} else if err != nil {
		return err
	}
	conds := append(t.ours(), same("session_id", t.Session))
	out, err := s.do(ctx, guard(t.Pane, conds,
		[][]string{{"display-message", "-p", delivered}, {"kill-session", "-t", t.Session}},
		[][]string{{"display-message", "-p", refused}}))
	if strings.TrimSpace(out) == delivered {
		return nil
	}
	switch _, state, look := s.Look(ctx, t); {
	case state == Absent:
		return nil
	case look != nil:
		return look
	case err != nil:
		return err
	}
	return ErrNotOurs
}

// Shut ends the whole server and all that runs in it, and returns when nobody
// listens any more: for a server of our own making. None running is no error.
func (s Server) Shut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	if _, err := s.do(ctx, []string{"kill-server"}); err != nil && !errors.Is(err, ErrNoServer) {
		return err
	}
	for !s.silent() {
		if !sleep(ctx, 5*time.Millisecond) {
			return s.unknown([]string{"kill-server"}, 0, "", errors.New("the server does not end"))
		}
	}
	return nil
}
