package tmux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// attach is a real client on a terminal of its own.
func attach(t *testing.T, s Server, session string, readOnly bool) int {
	t.Helper()
	args := s.AttachArgs(session, readOnly)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "TMUX=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	drained := make(chan bool)
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := f.Read(buf); err != nil {
				close(drained)
				return
			}
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = f.Close(); <-drained })
	return cmd.Process.Pid
}

func TestClients(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		a, _ := running(t, s, "loop-a")
		b, _ := running(t, s, "loop-b")
		if clients, err := s.Clients(t.Context()); err != nil || len(clients) != 0 {
			t.Fatalf("%v, %v", clients, err)
		}
		one, two := attach(t, s, a.Session, true), attach(t, s, a.Session, false)
		where := func() map[int]Client {
			clients, err := s.Clients(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			by := map[int]Client{}
			for _, c := range clients {
				by[c.PID] = c
			}
			return by
		}
		until(t, "both are attached", func() bool { c := where(); return c[one].Session == a.Session && c[two].Session == a.Session })
		c := where()
		if !c[one].ReadOnly || c[two].ReadOnly || c[one].Control || c[one].Pane != a.Pane {
			t.Errorf("%+v", c)
		}
		if err := s.Switch(t.Context(), c[two].Name, b.Session); err != nil {
			t.Fatal(err)
		}
		until(t, "the second moved", func() bool { return where()[two].Session == b.Session })
		if where()[one].Session != a.Session {
			t.Error("another client moved as well (rule 57)")
		}
		for _, bad := range [][2]string{{"", b.Session}, {c[two].Name, "loop-a"}, {c[two].Name, ""}, {"/dev/none", a.Session}, {c[two].Name, "$999"}} {
			if err := s.Switch(t.Context(), bad[0], bad[1]); err == nil {
				t.Errorf("moved %q to %q", bad[0], bad[1])
			}
		}
		if got := where(); got[one].Session != a.Session || got[two].Session != b.Session {
			t.Errorf("moved: %+v", got)
		}
		deliver(t, s, paste(a, "while a read-only client looks on", "~r~"), Delivered) // rule 50
	})
}

func TestOptions(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		a, _ := running(t, s, "loop-a")
		b, _ := running(t, s, "loop-b")
		value := func(p Pane, name string) string { return run(t, s, "show-options", "-v", "-t", p.Session+":", name) }
		evil := "#(touch x) \"'$HOME \\ ; é\n   # not a comment\n};"
		if err := s.Set(t.Context(), []Option{
			{Session: a.Session, Name: "@loop_next", Value: b.Session},
			{Session: "$999", Name: "@loop_next", Value: "gone"},
			{Session: "loop-b", Name: "@loop_next", Value: "a name"},
			{Identity: Identity{PID: 1, Start: 1}, Session: b.Session, Name: "@loop_prev", Value: "another server"},
			{Identity: b.Identity, Session: b.Session, Name: "@loop_menu", Value: evil},
			{Session: b.Session, Name: "@loop_long", Value: strings.Repeat(evil, 1000)},
		}); err != nil {
			t.Fatal(err)
		}
		if value(a, "@loop_next") != b.Session || value(b, "@loop_menu") != evil || value(b, "@loop_long") != strings.Repeat(evil, 1000) {
			t.Error("options were not set, or not as they are")
		}
		if out, err := s.Run(t.Context(), nil, "show-options", "-v", "-q", "-t", b.Session+":", "@loop_prev"); err != nil || strings.TrimSpace(out) != "" {
			t.Errorf("another server's option was set: %q, %v", out, err)
		}
		if err := s.SetOptions(t.Context(), b.Target(), map[string]string{"@loop_state": "waiting", "@loop_prev": evil}); err != nil {
			t.Fatal(err)
		}
		if p := state(t, s, b.Target(), Live); p.State != "waiting" || value(b, "@loop_prev") != evil {
			t.Errorf("%+v", p)
		}
		wrong := b.Target()
		wrong.Token = Token()
		if err := s.SetOptions(t.Context(), wrong, map[string]string{"@loop_state": "x"}); !errors.Is(err, ErrNotOurs) {
			t.Error(err)
		}
	})
}

func TestCaptureAndSource(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		deliver(t, s, paste(p, strings.Repeat("line\n", 200), "~end~"), Delivered)
		for lines, want := range map[int]int{0: 49, 10: 59, -1: 201} {
			got, err := s.Capture(t.Context(), p.Target(), lines, lines == 10)
			if n := strings.Count(strings.TrimRight(got, "\n"), "\n"); err != nil || n < want-2 || n > want+2 {
				t.Errorf("%d lines of history: %d, %v", lines, n, err)
			}
		}
		wrong := p.Target()
		wrong.Start++
		if _, err := s.Capture(t.Context(), wrong, 0, false); !errors.Is(err, ErrNotOurs) {
			t.Error(err)
		}
		file := filepath.Join(t.TempDir(), "a [b]*? #{pid}';.conf")
		if err := os.WriteFile(file, []byte("set -g @loop_sourced yes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Source(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		if got := run(t, s, "show-options", "-gv", "@loop_sourced"); got != "yes" {
			t.Errorf("sourced: %q", got)
		}
	})
}
