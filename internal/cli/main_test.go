package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// scopes is what the fake GitHub says of the token; "-" refuses it.
var scopes atomic.Value

// TestMain makes the test binary the program as well, which tmux and the
// rehearsal call, and puts a fake GitHub in GitHub's place.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	os.Exit(withGitHub(m))
}

func withGitHub(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gl")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "github")
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	scopes.Store("repo")
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if scopes.Load() == "-" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("X-Oauth-Scopes", scopes.Load().(string))
			fmt.Fprint(w, "{}")
		}))
	}()
	if err := os.WriteFile(filepath.Join(dir, "config.yml"), []byte("http_unix_socket: "+socket+"\n"), 0o600); err != nil {
		panic(err)
	}
	for k, v := range map[string]string{"GH_CONFIG_DIR": dir, "GH_TOKEN": "none", "GH_REPO": "octo/repo", "GH_ENTERPRISE_TOKEN": "", "GITHUB_ENTERPRISE_TOKEN": ""} {
		os.Setenv(k, v)
	}
	return m.Run()
}

// world is a machine of its own: a home, a state directory, and a tmux server
// that is not started.
type world struct {
	*testing.T
	home, state, socket string
	vars                map[string]string
	out, err            bytes.Buffer
	at                  time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	short, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	w := &world{T: t, home: home, state: filepath.Join(home, "state"), at: time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC),
		socket: filepath.Join(short, "tmux-"+strconv.Itoa(os.Getuid()), "default")}
	t.Cleanup(func() {
		if _, err := os.Stat(w.socket); err == nil {
			_ = exec.Command("tmux", "-S", w.socket, "kill-server").Run()
		}
		_ = os.RemoveAll(short)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	w.make("bin/")
	for name, to := range map[string]string{"gh-loop": self, "gh": "/bin/true", "claude": "/bin/true"} {
		if err := os.Symlink(to, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.vars = map[string]string{"HOME": home, "GH_LOOP_STATE_DIR": w.state, "TMUX_TMPDIR": short, "LANG": "C.UTF-8",
		"PATH": bin + ":" + os.Getenv("PATH"), "GH_LOOP_CONFIG": filepath.Join(home, "config.toml")}
	w.write("config.toml", "routing.authorizedUsers = [\"octocat\"]\n")
	return w
}

func (w *world) make(path string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Join(w.home, filepath.Dir(path)), 0o700); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.Helper()
	w.make(path)
	if err := os.WriteFile(filepath.Join(w.home, path), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) env() *env {
	return &env{in: os.Stdin, out: &w.out, err: &w.err, getenv: func(k string) string { return w.vars[k] }, now: func() time.Time { return w.at }}
}

// run calls a command and gives its exit code.
func (w *world) run(args ...string) int {
	w.out.Reset()
	w.err.Reset()
	return w.env().run(context.Background(), append([]string{"gh-loop"}, args...))
}

// tmux starts the world's server if need be, and asks it.
func (w *world) tmux(args ...string) string {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.socket), 0o700); err != nil {
		w.Fatal(err)
	}
	c := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", w.socket}, args...)...)
	for k, v := range w.vars {
		c.Env = append(c.Env, k+"="+v)
	}
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// item writes a record as it stands on disk.
func (w *world) item(ref string, change func(*work.Record)) {
	w.Helper()
	r := &work.Record{Session: work.Session{Ref: refOf("github:" + ref), Harness: "claude", Cwd: w.home, Status: work.Active, CreatedAt: work.Stamp(w.at)}}
	if change != nil {
		change(r)
	}
	w.write("state/local/"+r.Ref.Slug()+".json", string(r.Encode()))
}
