package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/gh-loop/gh-loop/bench/turns"
)

// terminal is a client on a terminal whose every byte has a time.
type terminal struct {
	b    testing.TB
	tty  *os.File
	data chan chunk
}

type chunk struct {
	at   time.Time
	text []byte
}

func (r *rig) socket() string {
	return filepath.Join(r.dir, "tmux-"+strconv.Itoa(os.Getuid()), "default")
}

// tmux runs commands on the rig's server.
func (r *rig) tmux(words ...string) string {
	r.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", r.socket()}, words...)...)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %q: %v: %s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *rig) attach(session string) *terminal {
	cmd := exec.Command("tmux", "-u", "-S", r.socket(), "attach-session", "-t", "="+session)
	cmd.Env = append(slices.Clone(r.env), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		r.t.Fatal(err)
	}
	c := &terminal{b: r.t, tty: tty, data: make(chan chunk, 1<<10)}
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
	})
	go func() {
		for {
			b := make([]byte, 1<<16)
			n, err := tty.Read(b)
			if err != nil {
				return
			}
			c.data <- chunk{time.Now(), b[:n]}
		}
	}()
	c.settle()
	return c
}

// settle waits until nothing is drawn any more: what is measured next is to
// begin with a terminal at rest.
func (c *terminal) settle() {
	for {
		select {
		case <-c.data:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// press types keys, and gives the time from there until all marks were drawn.
func (c *terminal) press(keys string, marks ...string) time.Duration {
	c.b.Helper()
	c.settle()
	var seen []byte
	began := time.Now()
	if _, err := c.tty.WriteString(keys); err != nil {
		c.b.Fatal(err)
	}
	for {
		select {
		case got := <-c.data:
			seen = append(seen, got.text...)
			if !slices.ContainsFunc(marks, func(m string) bool { return !bytes.Contains(seen, []byte(m)) }) {
				return got.at.Sub(began)
			}
		case <-time.After(10 * time.Second):
			c.b.Fatalf("after %q nothing shows %q, but %q", keys, marks, seen)
		}
	}
}

// pair gives item 15 a pull request with a session, loads the keys, and writes
// into each session's pane and status line what tells that it is drawn.
func (r *rig) pair() (ids, marks []string) {
	body, err := newBody([]string{"comment", "-pr", "16", "-text", "measured", "-body", "Closes #15"}, 1)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := body.encode()
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, "pr.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.run("event", "--delivery", "d-pr", file)
	r.run("tmux", "load")
	for _, n := range []string{"15", "16"} {
		at := "=loop-github-octo-repo-" + n + ":"
		ids = append(ids, r.tmux("display-message", "-p", "-t", at, "#{session_id}"))
		marks = append(marks, "MARK"+n)
		r.tmux("send-keys", "-t", at, "-l", "MARK"+n)
	}
	r.tmux("set-option", "-g", "assume-paste-time", "0", ";", "set-option", "-g", "status-interval", "0", ";", "set-option", "-g", "status-right", "at #{session_id} now")
	return ids, marks
}

// BenchmarkJump is one jump, from the key until pane and status line of the
// target are drawn on a client's terminal: by our key; by a key that has the
// target's id written in it, which is the least that tmux takes; by one that
// asks the least of helpers, a shell that calls tmux; and by one that runs the
// program. The four take turns.
func BenchmarkJump(b *testing.B) {
	r := newRig(b)
	ids, marks := r.pair()
	r.tmux("bind-key", "-T", "prefix", "H", "switch-client", "-T", "measured", ";",
		"bind-key", "-T", "measured", "0", "switch-client", "-t", ids[0], ";", "bind-key", "-T", "measured", "1", "switch-client", "-t", ids[1], ";",
		"bind-key", "-T", "measured", "h", "run-shell", "tmux switch-client -c '#{client_name}' -t '#{@loop_next}'", ";",
		"bind-key", "-T", "measured", "p", "run-shell", "'"+filepath.Join(r.dir, "gh-loop")+"' jump next --client '#{client_name}'")
	c := r.attach("loop-github-octo-repo-15")
	ways := []struct {
		name string
		keys func(to int) string
	}{
		{"ours", func(int) string { return "\x02Gn" }},
		{"fixed", func(to int) string { return "\x02H" + strconv.Itoa(to) }},
		{"shell", func(int) string { return "\x02Hh" }},
		{"gh-loop-jump", func(int) string { return "\x02Hp" }},
	}
	var took turns.Turns
	at := 0
	for b.Loop() {
		for _, w := range ways {
			for range 2 { // there and back, so that each way begins at the same place
				at = 1 - at
				took.Add(w.name, c.press(w.keys(at), marks[at], "at "+ids[at]+" now"))
			}
		}
	}
	took.Report(b)
}

// BenchmarkPick is from the key until the picker's first row is drawn, with 100
// items that each have a session; and beside it a popup of the same size
// with a program that only prints that row.
func BenchmarkPick(b *testing.B) {
	r := newRig(b)
	for n := 101; n < 200; n++ {
		pane := r.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", fmt.Sprint("p", n), "-x", "120", "-y", "40", "--", "sleep", "100000")
		r.run("register", fmt.Sprint("octo/repo#", n), "--pane", pane, "--session-id", fmt.Sprint("id-", n), "--harness", "stub", "--cwd", r.dir)
	}
	r.run("tmux", "load")
	bin := filepath.Join(r.dir, "gh-loop")
	popup := func(command string) string {
		return `display-popup -EE -w 90% -h 85% "` + command + `"`
	}
	r.tmux("set-option", "-g", "assume-paste-time", "0", ";", "set-option", "-g", "status", "off", ";", "bind-key", "-T", "prefix", "H", "switch-client", "-T", "measured", ";",
		"bind-key", "-T", "measured", "o", "run-shell", "-C", popup("exec '"+bin+"' pick --plain"), ";",
		"bind-key", "-T", "measured", "e", "run-shell", "-C", popup("echo octo/repo#1; cat"))
	r.tmux("send-keys", "-t", "=loop-github-octo-repo-15:", "-l", "MARKED") // seen again when the popup is gone
	c := r.attach("loop-github-octo-repo-15")
	ways := []struct{ name, keys, end string }{{"own", "\x02Ho", "\x1b"}, {"echo", "\x02He", "\x04"}}
	if _, err := exec.LookPath("fzf"); err == nil {
		ways = append(ways, struct{ name, keys, end string }{"fzf", "\x02Gg", "\x1b"})
	}
	var took turns.Turns
	for b.Loop() {
		for _, w := range ways {
			took.Add(w.name, c.press(w.keys, "octo/repo#1"))
			c.settle()
			c.press(w.end, "MARKED")
		}
	}
	took.Report(b)
}
