package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestEndHarness(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		other, _ := running(t, s, "loop-other")
		p, _ := running(t, s, "loop-a")
		run(t, s, "split-window", "-d", "-t", p.Pane, "sleep 1000")
		if err := s.EndHarness(t.Context(), p.Target(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		state(t, s, p.Target(), Dead)
		if n := run(t, s, "list-panes", "-t", p.Session+":", "-F", "#{pane_dead}"); n != "1\n0" {
			t.Errorf("the person's split: %q", n)
		}
		if err := s.EndHarness(t.Context(), p.Target(), time.Second); err != nil {
			t.Errorf("ended twice: %v", err)
		}

		p, _ = running(t, s, "loop-b", "stubborn")
		began := time.Now()
		if err := s.EndHarness(t.Context(), p.Target(), 300*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		state(t, s, p.Target(), Dead)
		if spent := time.Since(began); spent < 300*time.Millisecond {
			t.Errorf("no grace (rule 43): %v", spent)
		}

		p, file := running(t, s, "loop-c", "parent")
		var child int
		if _, err := fmt.Sscanf(read(file), "child %d\n", &child); err != nil || gone(child) {
			t.Fatalf("child %d: %v", child, err)
		}
		if err := s.EndHarness(t.Context(), p.Target(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if !gone(child) {
			t.Error("a child with a session of its own lives on")
		}
		stranger := other.Target()
		stranger.Token = Token()
		if err := s.EndHarness(t.Context(), stranger, 0); err != nil {
			t.Error(err)
		}
		state(t, s, other.Target(), Live)
	})
}

func TestNeverOurselves(t *testing.T) {
	for _, p := range inside(os.Getppid()) {
		if p.pid == os.Getpid() || p.pid <= 1 {
			t.Errorf("would end process %d", p.pid)
		}
	}
}

func TestKillSession(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		keep, _ := running(t, s, "loop-keep")
		p, _ := running(t, s, "loop-kill")
		wrong := p.Target()
		wrong.Start++
		if err := s.KillSession(t.Context(), wrong); !errors.Is(err, ErrNotOurs) {
			t.Errorf("another server's id: %v", err)
		}
		wrong = p.Target()
		wrong.Session = keep.Session
		if err := s.KillSession(t.Context(), wrong); !errors.Is(err, ErrNotOurs) {
			t.Errorf("another session's id: %v", err)
		}
		state(t, s, p.Target(), Live)
		for range 2 {
			if err := s.KillSession(t.Context(), p.Target()); err != nil {
				t.Error(err)
			}
			state(t, s, p.Target(), Absent)
		}
		state(t, s, keep.Target(), Live)
		if err := s.KillSession(t.Context(), Target{Token: keep.Token}); err != nil {
			t.Error(err)
		}
		state(t, s, keep.Target(), Absent)
		if err := s.KillSession(t.Context(), keep.Target()); err != nil {
			t.Errorf("no server: %v", err)
		}
	})
}

func TestMovedPaneIsNotKilledWithItsHost(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		run(t, s, "new-session", "-d", "-s", "person", "sleep 1000")
		run(t, s, "new-window", "-d", "-t", p.Session+":", "sleep 1000")
		run(t, s, "join-pane", "-d", "-s", p.Pane, "-t", "=person:")
		if err := s.KillSession(t.Context(), p.Target()); !errors.Is(err, ErrNotOurs) {
			t.Errorf("joined into a person's session: %v", err)
		}
		state(t, s, p.Target(), Live)
		deliver(t, s, paste(p, "moved", "~m~"), Delivered)
	})
}

func TestCancelledEnd(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a", "stubborn")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := s.EndHarness(ctx, p.Target(), time.Minute); err == nil {
			t.Error("a harness that lives was reported as ended")
		}
	})
}
