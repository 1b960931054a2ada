package tmux

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// launch runs a spawning chain, reads its lines as they come, and watches the
// program meanwhile.
func (s Server) launch(ctx context.Context, sp Spawn, start bool, cmds [][]string) (Spawned, error) {
	if s.hung(ctx) {
		return Spawned{}, s.unknown([]string{"new-session"}, -1, "", errHung())
	}
	if sp.Gate != nil {
		sp.Gate <- struct{}{}
	}
	began := time.Now()
	run, cancel := context.WithTimeout(ctx, s.timeout()+sp.Ready)
	defer cancel()
	words, stdin := encode(start, cmds)
	out := &lines{ch: make(chan string, 16)}
	ended := make(chan error, 1)
	go func() {
		err := s.invoke(run, start, stdin, out, words)
		ended <- err
		close(ended)
	}()
	made, err := s.begin(run, sp, start, out, ended)
	if sp.Gate != nil {
		<-sp.Gate
	}
	s.noteHung(ctx, began, err)
	if err == nil {
		err = s.attend(ctx, sp, &made, out, ended)
	}
	cancel()
	for range ended { // the process is gone when we return
	}
	switch {
	case err != nil && made.Pane.Pane != "" && made.Token == "":
		s.undo(ctx, made.Pane)
		return Spawned{}, err
	case made.Died:
		made.Pane = s.refresh(ctx, made.Pane)
	}
	return made, err
}

// begin waits until the pane is made and dressed.
func (s Server) begin(ctx context.Context, sp Spawn, start bool, out *lines, ended <-chan error) (Spawned, error) {
	var made Spawned
	limit := time.NewTimer(s.timeout())
	defer limit.Stop()
	for {
		select {
		case l := <-out.ch:
			if l == refused {
				return made, ErrNotOurs
			}
			if l != dressed {
				p, ok := s.parseIDs(l)
				if !ok {
					return made, s.unknown([]string{"new-session"}, 0, "", errors.New("the new pane's ids make no sense"))
				}
				made.Pane = p
			}
			if l == dressed || !start { // in a respawn the ids come last
				made.Ref, made.Item, made.Role, made.State, made.Token = sp.Ref, sp.Item, sp.Role, "running", sp.Token
				return made, nil
			}
		case err := <-ended:
			if len(out.ch) > 0 {
				ended = nil
				continue
			}
			if err == nil {
				err = s.unknown([]string{"new-session"}, 0, "", errors.New("it ended without a word"))
			}
			return made, err
		case <-limit.C:
			return made, s.unknown([]string{"new-session"}, -1, "", context.DeadlineExceeded)
		case <-ctx.Done():
			return made, s.unknown([]string{"new-session"}, -1, "", ctx.Err())
		}
	}
}

// attend waits for readiness, death, or the end of patience.
func (s Server) attend(ctx context.Context, sp Spawn, made *Spawned, out *lines, ended <-chan error) error {
	began := time.Now()
	tick := time.NewTimer(0)
	defer tick.Stop()
	waiting := len(sp.Detector) > 0 && sp.Ready > 0
	for {
		if gone(made.PID) {
			made.Died = true
			return nil
		}
		since := time.Since(began)
		if (!waiting || since >= sp.Ready) && since >= sp.Watch {
			return nil
		}
		select {
		case l := <-out.ch:
			made.Ready = made.Ready || l == "ready=1"
			made.Pane.Ready = made.Ready
			waiting = waiting && !made.Ready
		case err := <-ended:
			if err != nil && waiting {
				return err
			}
			ended = nil
		case <-tick.C: // most die at once if they die; thirty that are watched for seconds are to cost nothing
			wait := min(5*time.Millisecond+since/20, 50*time.Millisecond)
			if left := sp.Watch - since; left > 0 {
				wait = min(wait, left)
			}
			tick.Reset(wait)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s Server) parseIDs(l string) (Pane, bool) {
	f := strings.SplitN(l, "\t", 6)
	if len(f) != 6 || !sessionID.MatchString(f[2]) || !paneID.MatchString(f[3]) {
		return Pane{}, false
	}
	id, ok := s.identity(f[0], f[1])
	pid, err := strconv.Atoi(f[4])
	return Pane{Identity: id, Session: f[2], Pane: f[3], PID: pid, Name: f[5]}, ok && err == nil && pid > 1
}

// refresh fills in how a program died, as soon as the server knows.
func (s Server) refresh(ctx context.Context, p Pane) Pane {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		now, state, _ := s.Look(ctx, p.Target())
		if state == Dead {
			return now
		}
		if state == Absent || !sleep(ctx, 5*time.Millisecond) {
			return p
		}
	}
}

// undo ends a session that was made and could not be marked as ours: nobody
// would ever find it again.
func (s Server) undo(ctx context.Context, p Pane) {
	ctx = context.WithoutCancel(ctx)
	t := Target{Identity: p.Identity}
	conds := append(t.server(), same("session_id", p.Session), same("pane_pid", strconv.Itoa(p.PID)))
	_, _ = s.do(ctx, guard(p.Pane, conds, [][]string{{"kill-session", "-t", p.Session}}, nil))
}
