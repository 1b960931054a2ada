package tmux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"
)

// TestMain makes the test binary three programs: the tests, a harness that
// runs in panes, and the detector.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "harness":
			os.Exit(harness(os.Args[2], os.Args[3:]))
		case "detect":
			if err := (Server{}).Detect(context.Background(), os.Stdin, os.Args[2:]); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// harness behaves as agents do: it takes the terminal, asks for bracketed
// paste, shows what it is told, and notes every byte in a file.
func harness(file string, moods []string) int {
	note, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 2
	}
	has := func(mood string) bool { return strings.Contains(" "+strings.Join(moods, " ")+" ", " "+mood+" ") }
	switch {
	case has("dies"):
		return 3
	case has("slow"):
		<-time.After(300 * time.Millisecond)
	case has("stubborn"):
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	case has("parent"):
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if child.Start() != nil {
			return 2
		}
		fmt.Fprintf(note, "child %d\n", child.Process.Pid)
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 2
	}
	if has("alternate") {
		fmt.Print("\x1b[?1049;2004h")
	} else if !has("plain") {
		fmt.Print("\x1b[?2004h")
	}
	if has("brief") {
		<-time.After(150 * time.Millisecond)
		return 4
	}
	fmt.Print("hello\r\n")
	buf := make([]byte, 1<<16)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 0
		}
		_, _ = note.Write(buf[:n])
		if !has("mute") {
			shown := strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "", "\n", "\r\n", "\r", "\r\n").Replace(string(buf[:n]))
			fmt.Print(shown)
		}
	}
}

// each runs a test on every tmux of GH_LOOP_TMUX_MATRIX, else the installed one.
func each(t *testing.T, test func(t *testing.T, s Server)) {
	for _, bin := range matrix(t) {
		version, err := Server{Bin: bin}.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Run(version, func(t *testing.T) {
			if err := Supported(version); err != nil {
				t.Skip(err)
			}
			test(t, fresh(t, bin))
		})
	}
}

func matrix(t *testing.T) []string {
	if list := os.Getenv("GH_LOOP_TMUX_MATRIX"); list != "" {
		return filepath.SplitList(list)
	}
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux is installed")
	}
	return []string{bin}
}

// fresh is a server of its own, which is not started, and ends with the test.
func fresh(t testing.TB, bin string) Server {
	dir, err := os.MkdirTemp("/tmp", "loop") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("TMUX", "")
	s := Server{Bin: bin, Socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_, _ = s.Run(context.Background(), nil, "kill-server")
		_ = os.RemoveAll(dir)
	})
	return s
}

// request is a spawn of the harness, and the file in which it notes.
func request(t *testing.T, name string, moods ...string) (Spawn, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "notes")
	return Spawn{
		Name: name, Title: "a title", Dir: t.TempDir(), Argv: append([]string{self, "harness", file}, moods...),
		Ref: "github:octo/repo#15", Item: "github:octo/repo#15", Role: "item", Token: Token(),
		Detector: []string{self, "detect"}, Ready: 10 * time.Second,
	}, file
}

func spawn(t *testing.T, s Server, sp Spawn) Spawned {
	t.Helper()
	made, err := s.Spawn(t.Context(), sp)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// running spawns a harness that is ready.
func running(t *testing.T, s Server, name string, moods ...string) (Pane, string) {
	t.Helper()
	sp, file := request(t, name, moods...)
	made := spawn(t, s, sp)
	if !made.Ready || made.Died {
		t.Fatalf("ready %v, died %v", made.Ready, made.Died)
	}
	return made.Pane, file
}

func run(t *testing.T, s Server, words ...string) string {
	t.Helper()
	out, err := s.Run(t.Context(), nil, words...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// until polls for an outcome.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came true: %s", what)
		}
	}
}

// notes waits until the harness has noted exactly this.
func notes(t *testing.T, file, want string) {
	t.Helper()
	var got string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		if got = read(file); got == want {
			return
		}
	}
	if len(got) > 500 {
		got = got[:200] + "…" + got[len(got)-200:]
	}
	t.Fatalf("noted %q, want %d bytes: %.200q", got, len(want), want)
}

func read(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}

func state(t *testing.T, s Server, target Target, want State) Pane {
	t.Helper()
	p, got, err := s.Look(t.Context(), target)
	if got != want || (err != nil) != (want == Unknown) {
		t.Fatalf("state %s (%v), want %s", got, err, want)
	}
	return p
}

func noBuffers(t *testing.T, s Server) {
	t.Helper()
	if left := run(t, s, "list-buffers"); left != "" {
		t.Errorf("buffers are left behind: %s (rule 52)", left)
	}
}

// fake writes a program that stands in for tmux.
func fake(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tmux")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
