package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// sick is a way to break one thing, and what its check says then.
type sick struct {
	check string
	spoil func(w *world)
	want  level
	saw   string
	tweak func(x *exam) // what no file can break
	mends bool
}

func listen(w *world, dir string) string {
	socket := filepath.Join(filepath.Dir(w.socket), dir)
	c := exec.Command("tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d", "-s", "x", "sleep", "600")
	if out, err := c.CombinedOutput(); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
	w.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	return socket
}

func session(socket string) func(*work.Record) {
	return func(r *work.Record) {
		r.TmuxTarget, r.Tmux = "loop-x", &work.Handle{Socket: socket, ServerPID: 1, Session: "$0", Pane: "%0", Token: "tok"}
	}
}

func (w *world) start() { w.tmux("new-session", "-d", "-s", "mine", "sleep", "600") }

func (w *world) loaded() {
	w.start()
	if code := w.run("tmux", "load"); code != 0 {
		w.Fatalf("tmux load: %s", w.err.String())
	}
}

var sicknesses = []sick{
	{"program", func(w *world) { _ = os.Remove(filepath.Join(w.home, "bin/gh-loop")); w.vars["PATH"] = "/bin" }, warning, "no gh-loop is on PATH", nil, false},
	{"program", func(w *world) {
		_ = os.Remove(filepath.Join(w.home, "bin/gh-loop"))
		_ = os.Symlink("/bin/true", filepath.Join(w.home, "bin/gh-loop"))
	}, warning, "another one first", nil, false},
	{"gh", func(w *world) { w.vars["PATH"] = "/nowhere" }, warning, "gh is not on PATH", nil, false},
	{"gh extension", func(w *world) {
		w.make(".local/share/gh/extensions/x")
		_ = os.Symlink("/nowhere", filepath.Join(w.home, ".local/share/gh/extensions/gh-loop"))
	}, bad, "a directory that is gone", nil, false},
	{"gh extension", func(w *world) { w.make(".local/share/gh/extensions/gh-loop/x") }, bad, "no program", nil, false},
	{"gh extension", func(w *world) { w.write(".local/share/gh/extensions/gh-loop/gh-loop", "old") }, warning, "another build", nil, false},
	{"sign-in", func(w *world) { w.item("ghe.example.com/octo/repo#1", nil) }, warning, "not signed in to ghe.example.com", nil, false},
	{"token", func(w *world) { scopes.Store("-") }, bad, "does not take the token", func(x *exam) { x.online = true }, false},
	{"token", func(w *world) { scopes.Store("gist, read:org") }, warning, "gist, read:org", func(x *exam) { x.online = true }, false},
	{"who may", func(w *world) { w.write("config.toml", "") }, bad, "every comment from there is refused", nil, false},
	{"configuration", func(w *world) { w.write("config.toml", "[routing]\nspawn = 1\n") }, bad, "config.toml:2: routing.spawn", nil, false},
	{"who may", func(w *world) { w.write("config.toml", "spawn = 1\n") }, skipped, "has mistakes", nil, false},
	{"clones", func(w *world) { w.write("config.toml", "spawn = 1\n") }, skipped, "has mistakes", nil, false},
	{"agent", func(w *world) { w.write("config.toml", "spawn = 1\n") }, skipped, "has mistakes", nil, false},
	{"agents of records", func(w *world) { w.write("config.toml", "spawn = 1\n") }, skipped, "has mistakes", nil, false},
	{"config permissions", func(w *world) { _ = os.Chmod(filepath.Join(w.home, "config.toml"), 0o666) }, bad, "written by others", nil, true},
	{"clones", func(w *world) { w.write("config.toml", "workspace.repos.\"octo/lib\" = \"/nowhere/lib\"\n") }, bad, "octo/lib = /nowhere/lib", nil, false},
	{"agent", func(w *world) { w.write("config.toml", "routing.defaultHarness = \"codex\"\n") }, warning, "\"codex\" is not installed", nil, false},
	{"agent", func(w *world) {
		w.write("config.toml", "routing.defaultHarness = \"codex\"\n")
		w.write("bin/codex", "#!/bin/sh\necho codex-cli 0.20.1\n")
		_ = os.Chmod(filepath.Join(w.home, "bin/codex"), 0o700)
	}, warning, "codex 0.20.1 is older than 0.171.0", nil, false},
	{"agents of records", func(w *world) { w.item("octo/repo#1", func(r *work.Record) { r.Harness = "mystery" }) }, bad, "mystery (not described)", nil, false},
	{"agents' hooks", func(w *world) {
		w.write("config.toml", "spawn = 1\n")
	}, skipped, "has mistakes", nil, false},
	{"agents' hooks", func(w *world) {
		h, _ := harness.HooksOf("claude")
		text, _, _ := h.Add("", "/opt/gh-loop")
		w.write(".claude/settings.json", strings.ReplaceAll(text, "Stop", "Halt"))
	}, warning, "another version, or not whole: ~/.claude/settings.json", nil, false},
	{"agents' hooks", func(w *world) {
		h, _ := harness.HooksOf("opencode")
		text, _, _ := h.Add("", "/opt/gh-loop")
		w.write("oc/plugins/gh-loop.js", text)
		w.item("octo/repo#1", func(r *work.Record) { r.Harness = "opencode" })
		w.vars["OPENCODE_CONFIG_DIR"] = filepath.Join(w.home, "oc")
		w.start()
		w.tmux("set-environment", "-gu", "OPENCODE_CONFIG_DIR")
	}, warning, "in ~/oc/plugins/gh-loop.js, and in tmux, where it runs, it reads ~/.config/opencode/plugins/gh-loop.js", nil, false},
	{"agents' hooks", func(w *world) {
		h, _ := harness.HooksOf("claude")
		text, _, _ := h.Add("", "/opt/gh-loop")
		w.write(".claude/settings.json", "// of mine\n"+strings.ReplaceAll(text, "Stop", "Halt"))
	}, warning, "another version, or not whole", nil, false},
	{"agents' hooks", func(w *world) {
		_ = syscall.Mkfifo(filepath.Join(w.home, "settings.json"), 0o600)
		w.vars["CLAUDE_CONFIG_DIR"] = w.home
	}, warning, "no plain file", nil, false},
	{"git", func(w *world) { w.vars["PATH"] = "/nowhere" }, warning, "git is not on PATH", nil, false},
	{"locale", func(w *world) { w.vars["LC_ALL"] = "POSIX" }, warning, "LC_ALL=POSIX", nil, false},
	{"locale", func(w *world) { w.vars["LANG"] = "" }, warning, "no locale", nil, false},
	{"clock", func(w *world) { w.item("octo/repo#1", nil); w.at = w.at.Add(-time.Hour) }, warning, "1h0m0s ahead", nil, false},
	{"tmux", func(*world) {}, bad, "too old", func(x *exam) { x.tmuxErr = tmux.Supported("3.1c") }, false},
	{"tmux traps", func(*world) {}, skipped, "no tmux", func(x *exam) { x.tmuxErr = errors.New("none") }, false},
	{"tmux server", func(w *world) {
		w.start()
		pid := 0
		_, _ = fmt.Sscan(w.tmux("display-message", "-p", "#{pid}"), &pid)
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		w.vars["GH_LOOP_TMUX_TIMEOUT"] = "200ms"
		w.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}, bad, "no clear answer", nil, false},
	{"tmux upgrade", (*world).start, warning, "the program is 9.9", func(x *exam) { x.version = "9.9" }, false},
	{"two servers", func(w *world) {
		w.start()
		s := listen(w, "other")
		_ = exec.Command("tmux", "-S", s, "set-option", "-p", "-t", "x:", "@loop_token", "tok").Run()
	}, warning, "/other", nil, false},
	{"sockets", func(w *world) { w.item("octo/repo#1", session("/elsewhere/tmux")) }, warning, "/elsewhere/tmux", nil, false},
	{"plugin", (*world).start, warning, "not loaded", nil, true},
	{"plugin version", func(w *world) { w.loaded(); w.tmux("set-option", "-g", "@loop-version", "old") }, warning, "another version", nil, false},
	{"plugin version", func(w *world) { w.loaded(); w.tmux("set-option", "-g", "@loop-bin", "/nowhere/gh-loop") }, bad, "which is gone", nil, false},
	{"plugin version", func(w *world) { w.loaded(); w.tmux("set-option", "-g", "@loop-bin", "/bin/true") }, warning, "another build", nil, false},
	{"hooks", func(w *world) { w.loaded(); w.tmux("set-hook", "-g", "session-closed", "display-message x") }, bad, "session-closed[8172]", nil, true},
	{"path in tmux", func(w *world) {
		w.start()
		w.tmux("set-environment", "-g", "PATH", "/nowhere")
	}, warning, "claude, git, tmux", nil, false},
	{"sessions", func(w *world) { w.start(); w.item("octo/repo#1", session(w.socket)) }, warning, "1 of 1 conversations have no running session: octo/repo#1", nil, false},
	{"orphan sessions", func(w *world) { w.start(); w.tmux("set-option", "-p", "-t", "mine:", "@loop_token", "lost") }, warning, "mine (%0", nil, false},
	{"claims", func(w *world) {
		for _, ref := range []string{"octo/repo#1", "octo/repo#2"} {
			w.item(ref, func(r *work.Record) {
				_, _ = r.Link(&work.Session{Ref: refOf("github:octo/repo#9"), Status: work.Active})
			})
		}
	}, warning, "octo/repo#9 (octo/repo#1 and octo/repo#2)", nil, false},
	{"state directory", func(w *world) { w.write("file", ""); w.vars["GH_LOOP_STATE_DIR"] = filepath.Join(w.home, "file/state") }, bad, "cannot be", nil, false},
	{"state disk", func(*world) {}, bad, "is on nfs", onDisk(store.Medium{Name: "nfs", Remote: true, Free: 1 << 40}), false},
	{"disk space", func(*world) {}, bad, "1 MB", onDisk(store.Medium{Free: 1 << 20}), false},
	{"permissions", func(w *world) { w.item("octo/repo#1", nil); _ = os.Chmod(filepath.Join(w.state, "local"), 0o755) }, warning, "others can read", nil, true},
	{"permissions", func(w *world) {
		w.item("octo/repo#1", nil)
		_ = os.Chmod(filepath.Join(w.state, "local/github-octo-repo-1.json"), 0o644)
	}, warning, "github-octo-repo-1.json", nil, true},
	{"records", func(w *world) { w.write("state/local/github-octo-repo-1.json", `{"workItem":`) }, bad, "github-octo-repo-1.json", nil, false},
	{"strays", func(w *world) {
		w.item("octo/repo#1", nil)
		b, _ := os.ReadFile(filepath.Join(w.state, "local/github-octo-repo-1.json"))
		w.write("state/local/github-octo-repo-2.json", string(b))
	}, warning, "github-octo-repo-2.json", nil, false},
	{"entries", func(w *world) {
		w.write("state/local/github-octo-repo-1.json", `{"workItem":{"ref":"github:octo/repo#1"},"harness":"claude","cwd":"/","status":"active","pullRequests":[{"workItem":5}]}`)
	}, warning, "octo/repo#1: workItem", nil, false},
	{"directories", func(w *world) { w.item("octo/repo#1", func(r *work.Record) { r.Cwd = "/nowhere" }) }, warning, "octo/repo#1 in /nowhere", nil, false},
	{"trees", func(w *world) {
		w.make("state/trees/github-octo-repo-9")
		w.write("state/trees/github-octo-repo-9/x", "")
	}, warning, "github-octo-repo-9 is no tree of ours", nil, false},
	{"locks", func(w *world) {
		s := &store.Store{Dir: w.state}
		unlock, err := s.LockEndpoint(context.Background(), refOf("github:octo/repo#1"))
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(unlock)
	}, warning, "endpoint.lock", nil, false},
	{"leftovers", func(w *world) {
		w.item("octo/repo#1", nil)
		w.make("state/local/lock/x")
		w.write("state/local/.github-octo-repo-1.json.tmp", "{")
	}, warning, ".github-octo-repo-1.json.tmp", nil, true},
	{"inbox", func(w *world) { w.accept(-2 * time.Hour) }, warning, "1 events wait, the oldest for 2h0m0s", nil, false},
	{"set aside", func(w *world) {
		if err := w.accept(0).SetAside(); err != nil {
			w.Fatal(err)
		}
	}, warning, "1 events brought us down", nil, false},
	{"event log", func(w *world) { w.make("state/log/events.jsonl/x") }, bad, "is a directory", nil, false},
}

func onDisk(m store.Medium) func(*exam) {
	return func(x *exam) { x.medium = func(string) (store.Medium, error) { return m, nil } }
}

func (w *world) accept(when time.Duration) *store.Ticket {
	w.Helper()
	s := &store.Store{Dir: w.state}
	t, err := s.Accept(context.Background(), "issues", "d", []byte("{}"), w.at.Add(when))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(t.Release)
	return t
}

func examined(w *world, name string, tweak func(*exam), fix bool) finding {
	w.Helper()
	x, err := w.env().examine(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	if tweak != nil {
		tweak(x)
	}
	for _, k := range checks() {
		if k.name == name {
			f := k.look(x)
			if fix {
				f.fix()
			}
			f.Saw, f.Cure = x.plain(f.Saw), x.plain(f.Cure)
			return f
		}
	}
	w.Fatalf("no check is named %q", name)
	return finding{}
}

// Every check finds what it is for, says a cure, and finds nothing on a
// machine that is well.
func TestDoctor(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range sicknesses {
		tried[s.check] = true
		t.Run(s.check, func(t *testing.T) {
			w := newWorld(t)
			t.Cleanup(func() { scopes.Store("repo") })
			if f := examined(w, s.check, nil, false); f.Result != good && f.Result != skipped {
				t.Errorf("on a machine that is well: %+v", f)
			}
			s.spoil(w)
			f := examined(w, s.check, s.tweak, false)
			if f.Result != s.want || !strings.Contains(f.Saw, s.saw) {
				t.Fatalf("got %+v, want %s: %q", f, s.want, s.saw)
			}
			if f.Cure == "" && s.want != skipped {
				t.Error("it says no cure")
			}
			if strings.Contains(f.Saw+f.Cure, w.home) {
				t.Errorf("it tells the home directory: %+v", f)
			}
			if s.mends != (f.mend != nil) && f.mend == nil {
				t.Error("it does not mend")
			}
			if !s.mends {
				return
			}
			if f := examined(w, s.check, s.tweak, true); !f.Mended || f.Result != good {
				t.Errorf("mending: %+v", f)
			}
			if f := examined(w, s.check, s.tweak, false); f.Result != good {
				t.Errorf("after mending: %+v", f)
			}
		})
	}
	for _, k := range checks()[:len(checks())-len(dispatch.Cases())] {
		if !tried[k.name] {
			t.Errorf("nothing breaks %q", k.name)
		}
	}
	if n := len(checks()); n < 25 {
		t.Errorf("%d checks", n)
	}
}

// Output, exit code, and that a broken configuration does not stop it.
func TestDoctorCommand(t *testing.T) {
	w := newWorld(t)
	w.write("config.toml", "x = 1\n")
	if code := w.run("doctor", "--json", "--no-play"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	var found []finding
	if err := json.Unmarshal(w.out.Bytes(), &found); err != nil || len(found) != len(checks()) {
		t.Fatalf("%d findings: %v", len(found), err)
	}
	w.write("config.toml", "routing.authorizedUsers = [\"octocat\"]\n")
	if code := w.run("doctor", "--no-play"); code != exitOK {
		t.Errorf("exit %d: %s", code, w.out.String())
	}
	if _, err := os.Stat(w.state); err == nil {
		t.Error("looking made a state directory")
	}
}

// The dangerous cases hold with the tmux that is installed, and each is found
// where a tmux does otherwise: one that ignores conditions, one that loses text.
func TestRehearse(t *testing.T) {
	installed, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	broken := ""
	for _, c := range []struct{ name, script, bad string }{
		{"as installed", `exec TMUX "$@"`, ""},
		{"without conditions", `n=$#; while [ $n -gt 0 ]; do a=$1; shift; case $a in '#{&&:'*loop_token*) a=1 ;; esac; set -- "$@" "$a"; n=$((n-1)); done; exec TMUX "$@"`,
			"dead pane, somebody else's pane, pane without input, missing pane"},
		{"losing text", `case "$*" in *load-buffer*) TMUX -S "$4" set-buffer left; head -c 20 | TMUX "$@" ;; *) exec TMUX "$@" ;; esac`,
			"hostile text, long text, copy mode, another pane in front, nothing left behind"},
	} {
		broken += ", " + c.bad + ","
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("bin/tmux", "#!/bin/sh\n"+strings.ReplaceAll(c.script, "TMUX", installed)+"\n")
			if err := os.Chmod(filepath.Join(w.home, "bin/tmux"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", w.vars["PATH"])
			x, err := w.env().examine(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			x.play = true
			for _, k := range plays() {
				f := k.look(x)
				if want := strings.Contains(", "+c.bad+",", ", "+k.name+","); want != (f.Result == bad) && (want || c.bad == "") {
					t.Errorf("%s: %+v", k.name, f)
				}
			}
		})
	}
	for _, name := range dispatch.Cases() {
		if !strings.Contains(broken, ", "+name+",") {
			t.Errorf("nothing breaks %q", name)
		}
	}
}
