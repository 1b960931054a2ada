package tmux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		nobody := Target{Token: Token()}
		state(t, s, nobody, Absent)
		a, _ := running(t, s, "loop-a")
		b, _ := running(t, s, "loop-b")
		state(t, s, a.Target(), Live)
		state(t, s, Target{Token: a.Token}, Live)
		state(t, s, nobody, Absent)
		state(t, s, Target{Token: ""}, Absent)
		if err := syscall.Kill(a.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "dead", func() bool { _, st, _ := s.Look(t.Context(), a.Target()); return st == Dead })
		run(t, s, "kill-session", "-t", a.Session)
		state(t, s, a.Target(), Absent)
		run(t, s, "kill-session", "-t", b.Session) // the last one takes the server along (rule 39)
		state(t, s, b.Target(), Absent)
	})
}

func TestLookAtAServerWithoutSessions(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		run(t, s, "set-option", "-g", "exit-empty", "off", ";", "kill-session", "-t", p.Session)
		state(t, s, p.Target(), Absent)
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
			t.Errorf("%v, %v", panes, err)
		}
	})
}

func TestLookAtAnotherServer(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		quick := s
		quick.Timeout = 2 * time.Second
		old, _ := running(t, s, "loop-a")
		if err := os.Remove(s.Socket); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(old.Identity.PID, syscall.SIGKILL) })
		state(t, quick, old.Target(), Unknown) // nobody listens, and the server lives
		now, _ := running(t, s, "loop-a")
		if now.Pane != old.Pane || now.Identity == old.Identity {
			t.Fatalf("not another server: %+v %+v", now, old)
		}
		state(t, quick, old.Target(), Unknown)
		deliver(t, s, paste(old, "to the other", "~x~"), Refused) // rule 49
		if err := syscall.Kill(old.Identity.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "the old server is gone", func() bool { return gone(old.Identity.PID) })
		state(t, quick, old.Target(), Absent)
		state(t, quick, now.Target(), Live)
		if err := syscall.Kill(now.Identity.PID, syscall.SIGKILL); err != nil { // no hook runs, the socket stays
			t.Fatal(err)
		}
		until(t, "the new server is gone", func() bool { return gone(now.Identity.PID) })
		state(t, quick, now.Target(), Absent)
		reused := now.Target()
		other := exec.Command("sleep", "1000") // not us: the test's own name has "tmux" in it
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
		reused.PID = other.Process.Pid
		state(t, quick, reused, Absent) // the pid is another program's now
	})
}

func TestLookUnclear(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		s.Timeout = 300 * time.Millisecond
		for name, body := range map[string]string{
			"hangs":       "sleep 100 & sleep 100",
			"garbage":     "echo garbage",
			"half":        "printf '1\\t2'",
			"fails":       "echo no server running on x >&2; exit 1",
			"another one": "echo usage; exit 64",
			"endless":     "yes",
			"a lie":       "printf '12\\t13\\tx\\n14\\t15\\t$0\\t%%0\\n'",
		} {
			t.Run(name, func(t *testing.T) {
				odd := s
				odd.Bin = fake(t, body)
				began := time.Now()
				state(t, odd, p.Target(), Unknown) // rule 39: never by its words
				if spent := time.Since(began); spent > 3*time.Second {
					t.Errorf("took %v", spent)
				}
				var unknown *UnknownError
				if _, err := odd.Panes(t.Context()); !errors.As(err, &unknown) || errors.Is(err, ErrNoServer) {
					t.Errorf("error %v", err)
				}
			})
		}
		mended := s
		mended.Timeout = 5 * time.Second
		mended.Bin = fake(t, `if mkdir "$0.once" 2>/dev/null; then exit 1; fi; exec `+s.Bin+` "$@"`)
		state(t, mended, p.Target(), Live) // asked again
		missing := s
		missing.Bin = "/no/such/tmux"
		state(t, missing, p.Target(), Unknown)
		stop(t, p.Identity.PID)
		began := time.Now()
		state(t, s, p.Target(), Unknown)
		if spent := time.Since(began); spent > 3*time.Second {
			t.Errorf("a hung server cost %v", spent)
		}
	})
}

func TestSocketThatIsNone(t *testing.T) {
	s := fresh(t, "")
	file := s.Socket + ".file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, socket := range []string{file, s.Socket + ".gone", file + "/below"} {
		if !(Server{Socket: socket}).silent() {
			t.Errorf("%q answers", socket)
		}
	}
	if _, err := (Server{}).Panes(t.Context()); err == nil || errors.Is(err, ErrNoServer) {
		t.Errorf("without a socket: %v", err)
	}
}

func TestZombieIsGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "an unreaped process is gone (rule 39)", func() bool { return gone(cmd.Process.Pid) })
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !gone(cmd.Process.Pid) || gone(os.Getpid()) || gone(1) {
		t.Error("who is gone")
	}
}

func TestCommandsOfAnyName(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-a")
		program := sp.Dir + "/a\tb\nc"
		if err := os.Symlink("/bin/sleep", program); err != nil {
			t.Fatal(err)
		}
		sp.Argv, sp.Ready = []string{program, "1000"}, 0
		made := spawn(t, s, sp)
		until(t, "it runs", func() bool { // whatever it is called: 3.3a says "a b c", 3.8 nothing
			p := state(t, s, made.Target(), Live)
			return strings.HasPrefix(p.Command, "a") || p.Command == ""
		})
	})
}

func TestDefaultSocket(t *testing.T) {
	dir := t.TempDir()
	uid := "/tmux-" + strconv.Itoa(os.Getuid()) + "/default"
	for _, c := range []struct{ tmux, tmp, want string }{
		{"/x/y,12,0", dir, "/x/y"},
		{"/x,y/z,12,0", dir, "/x,y/z"},
		{"nonsense", dir, dir + uid},
		{"rel,1,0", dir, dir + uid},
		{"/x/y,pid,0", "", "/tmp" + uid},
		{"/x\x1b/y,1,0", "", "/tmp" + uid},
		{"", dir + "/gone", "/tmp" + uid},
	} {
		got := DefaultSocket(func(k string) string { return map[string]string{"TMUX": c.tmux, "TMUX_TMPDIR": c.tmp}[k] })
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestVersion(t *testing.T) {
	for version, ok := range map[string]bool{
		"3.1c": false, "3.2": true, "3.2a": true, "3.3a": true, "3.10": true, "4.0": true, "next-3.8": true, "master": true,
		"openbsd-7.5": true, "2.9": false, "": false, "x": false, "3": false, "next-3.1": false,
	} {
		if err := Supported(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
	if _, err := (Server{Bin: fake(t, "echo screen 4.0")}).Version(t.Context()); err == nil {
		t.Error("another program passed for tmux")
	}
	_, err := (Server{Bin: "no-such-tmux"}).Version(t.Context())
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "install tmux") {
		t.Errorf("no tmux: %v", err)
	}
	for _, bin := range matrix(t) {
		version, err := (Server{Bin: bin}).Version(t.Context())
		if err != nil || version == "" {
			t.Errorf("%s: %v", bin, err)
		}
	}
	hung, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := (Server{Bin: fake(t, "sleep 100")}).Version(hung); err == nil {
		t.Error("a hung tmux has a version")
	}
}
