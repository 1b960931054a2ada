package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gh-loop/gh-loop/internal/github/githubtest"
	"github.com/gh-loop/gh-loop/internal/tmux"
)

// TestMain makes the test binary three programs: the tests, gh-loop itself,
// and the agent that the scripts put in an agent's place.
func TestMain(m *testing.M) {
	testscript.Main(m, actorCommands(map[string]func(){"gh-loop": main, "stub-agent": stubAgent}))
}

// TestScripts runs testdata/script on the installed tmux, or on each of
// GH_LOOP_TMUX_MATRIX (a list of programs, separated as PATH is). On one that is too old
// only the scripts run that say what is said then. The words that scripts may
// use are explained in testdata/README.md.
func TestScripts(t *testing.T) {
	list := filepath.SplitList(os.Getenv("GH_LOOP_TMUX_MATRIX"))
	if len(list) == 0 {
		bin, number := versioned(t, "tmux")
		t.Log("tmux", number)
		scripts(t, bin, number) // one alone is TestScripts/NAME
	}
	for _, name := range list {
		bin, number := versioned(t, name)
		t.Run("tmux-"+number, func(t *testing.T) { scripts(t, bin, number) })
	}
}

// versioned finds a tmux, and what it says that it is.
func versioned(t *testing.T, name string) (bin, number string) {
	t.Helper()
	bin, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(bin, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ = strings.Cut(strings.TrimSpace(string(version)), " ")
	return bin, number
}

// scripts runs what is meant for one tmux.
func scripts(t *testing.T, bin, number string) {
	old := tmux.Supported(number) != nil
	dir, files := "../../testdata/script", []string(nil)
	if old {
		var err error
		if files, err = filepath.Glob(dir + "/*_old_tmux.txtar"); err != nil {
			t.Fatal(err)
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files,
		Condition: func(cond string) (bool, error) {
			if cond != "old" {
				return false, fmt.Errorf("no condition %q", cond)
			}
			return old, nil
		},
		Setup:               func(env *testscript.Env) error { return newWorld(env, bin) },
		Cmds:                commands(),
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
	})
}

// world is what a script has for itself: a home, a state directory, a
// configuration, a tmux server that is not started yet, and agents that note
// what is typed at them.
type world struct {
	work, state, stub string
	tmux, socket      string
	ids               int64 // of comments
	clients           []*client
	github            *githubtest.Server // nil until a script says something of it
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// newWorld makes a script's world. A tmux socket's path has at most about 100
// bytes, so that it lives in a short directory of its own.
func newWorld(env *testscript.Env, tmux string) error {
	short, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		return err
	}
	w := &world{
		work: env.WorkDir, state: filepath.Join(env.WorkDir, "state", "gh-loop"), stub: filepath.Join(env.WorkDir, "stub"),
		tmux: tmux, socket: filepath.Join(short, "tmux-"+strconv.Itoa(os.Getuid()), "default"),
	}
	env.Values[worldKey{}] = w
	env.Defer(func() {
		for _, c := range w.clients {
			c.end()
		}
		// By socket: with TMUX_TMPDIR gone tmux would take the user's own server.
		_ = exec.Command(tmux, "-S", w.socket, "kill-server").Run()
		_ = os.RemoveAll(short)
		_ = os.RemoveAll(w.stub) // what still runs of the agents ends by that
	})
	for _, dir := range []string{"home", "config", "work", "stub"} {
		if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(tmux, filepath.Join(short, "tmux")); err != nil {
		return err
	}
	env.Setenv("PATH", short+string(filepath.ListSeparator)+env.Getenv("PATH"))
	for key, dir := range map[string]string{
		"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "GH_CONFIG_DIR": "config/gh",
		"GH_LOOP_CONFIG": "gh-loop.toml", "GH_LOOP_STATE_DIR": "state/gh-loop", "STUB_DIR": "stub",
	} {
		env.Setenv(key, filepath.Join(env.WorkDir, filepath.FromSlash(dir)))
	}
	env.Setenv("LOG", filepath.Join(w.state, "log", "events.jsonl"))
	env.Setenv("TMUX_TMPDIR", short)
	env.Setenv("SOCKET", w.socket)
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("ROOT", root)
	env.Setenv("GH_REPO", "octo/repo")
	env.Setenv("GH_TOKEN", "none")
	env.Setenv("GORACE", cmp.Or(os.Getenv("GORACE"), "atexit_sleep_ms=0"))
	return w.configure(defaults)
}

// defaults is the configuration of a script that brings none: one key a line,
// so that the command config can change each.
const defaults = `routing.authorizedUsers = ["octocat"]
routing.defaultHarness = "stub"
routing.control.requireStartCommand = false
routing.tmux.resumeProbeSeconds = 0.5
routing.tmux.harnessKillGraceSeconds = 1
harness.stub.start = ["stub-agent", "--session-id", "{id}", "{prompt}"]
harness.stub.resume = ["stub-agent", "--resume", "{id}", "{prompt}"]
`

func (w *world) configure(text string) error {
	path := filepath.Join(w.work, "gh-loop.toml")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err // the script brings its own
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// setting puts one line into the configuration, in place of the one that has
// the same key.
func (w *world) setting(line string) error {
	path := filepath.Join(w.work, "gh-loop.toml")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key, _, ok := strings.Cut(line, "=")
	if !ok {
		return fmt.Errorf("%q is no KEY = VALUE", line)
	}
	var out strings.Builder
	for old := range strings.Lines(string(b)) {
		if before, _, _ := strings.Cut(old, "="); strings.TrimSpace(before) != strings.TrimSpace(key) {
			out.WriteString(old)
		}
	}
	return os.WriteFile(path, []byte(out.String()+line+"\n"), 0o600)
}
