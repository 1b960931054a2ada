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

	"github.com/gh-loop/gh-loop/bench/turns"
)

// rig is a world for measuring: the program as it is built for users, a tmux
// server, and one item whose agent listens.
type rig struct {
	t   testing.TB
	dir string
	env []string
}

func newRig(t testing.TB) *rig {
	dir, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, env: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMUX_TMPDIR=" + dir, "GH_CONFIG_DIR=" + dir,
		"GH_LOOP_CONFIG=" + dir + "/gh-loop.toml", stateVar + dir + "/state", "STUB_DIR=" + dir}}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), "default"), "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	buildAsInstalled(t, filepath.Join(dir, "gh-loop"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	for name, text := range map[string][]byte{"stub-agent": b, "gh-loop.toml": []byte(defaults), "mode": []byte("clock")} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o700)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r.run("start", "octo/repo#15", "--cwd", dir)
	return r
}

// run runs the program once, and gives what it printed.
func (r *rig) run(args ...string) string {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(r.dir, "gh-loop"), args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("gh-loop %q: %v: %s", args, err, out)
	}
	return string(out)
}

// comment writes a comment's body and gives its file.
func (r *rig) comment(n int) string {
	b, err := newBody([]string{"comment", "-issue", "15", "-text", fmt.Sprintf("measured %d", n)}, int64(n))
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := b.encode()
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, "body.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// program makes a command that runs in the rig's world.
func (r *rig) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	return cmd
}

const stateVar = "GH_LOOP_STATE_DIR="

// inState makes the rig use another state directory.
func (r *rig) inState(name string) {
	r.env = slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, stateVar) })
	r.env = append(r.env, stateVar+filepath.Join(r.dir, name))
}

func (r *rig) stateDir() string {
	at := slices.IndexFunc(r.env, func(v string) bool { return strings.HasPrefix(v, stateVar) })
	return strings.TrimPrefix(r.env[at], stateVar)
}

// do gives something to measure: commands, one after the other.
func (r *rig) do(commands ...[]string) func() {
	return func() {
		for _, c := range commands {
			if out, err := r.program(c[0], c[1:]...).CombinedOutput(); err != nil {
				r.t.Fatalf("%q: %v: %s", c, err, out)
			}
		}
	}
}

// hello builds the program that does nothing, in Go: what ours costs beyond it
// is ours.
func (r *rig) hello() string {
	hello := filepath.Join(r.dir, "hello")
	if err := os.WriteFile(hello+".go", []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", hello, hello+".go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return hello
}

// asksTmux is the cheapest call of a tmux server.
func (r *rig) asksTmux() []string {
	return []string{"tmux", "-N", "-S", r.socket(), "display-message", "-p", "x"}
}

// BenchmarkStart is the whole process of a command that does nothing, beside a C
// program and a Go program that do nothing, one call of tmux, and what
// GH_LOOP_PEERS names (NAME=COMMAND ARGS;…, without quotes), which takes its turn
// with a list of one item.
func BenchmarkStart(b *testing.B) {
	r := newRig(b)
	bin := filepath.Join(r.dir, "gh-loop")
	ways := []struct {
		name string
		do   func()
	}{{"version", r.do([]string{bin, "--version"})}, {"true", r.do([]string{"true"})}, {"hello", r.do([]string{r.hello()})}, {"tmux", r.do(r.asksTmux())}, {"list", r.do([]string{bin, "list"})}}
	for peer := range strings.SplitSeq(os.Getenv("GH_LOOP_PEERS"), ";") {
		if name, command, ok := strings.Cut(peer, "="); ok && len(strings.Fields(command)) > 0 {
			cmd := r.program(strings.Fields(command)[0], strings.Fields(command)[1:]...)
			ways = append(ways, struct {
				name string
				do   func()
			}{"peer:" + strings.Join(strings.Fields(name), "-"), r.do(cmd.Args)})
		}
	}
	var took turns.Turns
	for b.Loop() {
		for _, w := range ways {
			took.Time(w.name, w.do)
		}
	}
	took.Report(b)
}

// BenchmarkTextInPane measures from the start of the process until the program
// in the pane has read the text; beside it, tmux pastes a text by hand.
func BenchmarkTextInPane(b *testing.B) {
	r := newRig(b)
	clock := filepath.Join(r.dir, "clock")
	pane := r.tmux("display-message", "-p", "-t", "=loop-github-octo-repo-15:", "#{pane_id}")
	arrived := func(began time.Time) time.Duration {
		var at int64
		poll(func() bool {
			read, _ := os.ReadFile(clock)
			first, _, whole := bytes.Cut(read, []byte("\n"))
			at, _ = strconv.ParseInt(string(first), 10, 64)
			return whole
		})
		return time.Unix(0, at).Sub(began)
	}
	measure := func(do func()) time.Duration {
		_ = os.Remove(clock)
		began := time.Now()
		do()
		return arrived(began)
	}
	least := r.do([]string{r.hello()}, r.asksTmux())
	var took turns.Turns
	for n := 1; b.Loop(); n++ {
		file := r.comment(n)
		took.Add("text", measure(func() {
			if out := r.run("event", "--event", "issue_comment", "--delivery", fmt.Sprint("d-", n), "--json", file); !strings.Contains(out, `"how":"pasted"`) {
				b.Fatal(out)
			}
		}))
		took.Add("paste", measure(r.do([]string{"tmux", "-N", "-S", r.socket(), "set-buffer", "-b", "by-hand", "measured", ";", "paste-buffer", "-d", "-b", "by-hand", "-t", pane})))
		took.Time("hello+tmux", least)
	}
	took.Report(b)
}

// BenchmarkHookSessionClosed measures the whole process, for a session that is
// none of ours, as most are, and beside it the least that a hook in Go could
// take: a program that does nothing, and one call of tmux.
func BenchmarkHookSessionClosed(b *testing.B) {
	r := newRig(b)
	hook, least := r.do([]string{filepath.Join(r.dir, "gh-loop"), "hook", "session-closed", "$77", "1", "1"}), r.do([]string{r.hello()}, r.asksTmux())
	var took turns.Turns
	for b.Loop() {
		took.Time("hook", hook)
		took.Time("hello+tmux", least)
	}
	took.Report(b)
}

// BenchmarkHookHarness measures what an agent waits for at each of its own
// hooks: one that says nothing new, as after most tools, and one that does;
// beside a program that does nothing, without and with one call of tmux.
func BenchmarkHookHarness(b *testing.B) {
	r := newRig(b)
	pane, err := r.program("tmux", "-N", "-S", r.socket(), "list-panes", "-a", "-F", "#{pane_id}").Output()
	if err != nil {
		b.Fatal(err)
	}
	r.env = append(r.env, "TMUX_PANE="+strings.TrimSpace(string(pane)), "GH_LOOP_REF=github:octo/repo#15")
	bin, hello := filepath.Join(r.dir, "gh-loop"), []string{r.hello()}
	says := func(state string) func() { return r.do([]string{bin, "hook", "harness", state}) }
	same, idle, running, alone, least := says("running"), says("idle"), says("running"), r.do(hello), r.do(hello, r.asksTmux())
	var took turns.Turns
	for b.Loop() {
		took.Time("same", same)
		took.Time("other", idle)
		running()
		took.Time("hello", alone)
		took.Time("hello+tmux", least)
	}
	took.Report(b)
}

// BenchmarkRestore measures how long it takes to bring 30 conversations back
// after the end of their tmux server, beside tmux starting 30 sessions with the
// same agent, one after the other.
func BenchmarkRestore(b *testing.B) {
	r := newRig(b)
	for n := 16; n < 45; n++ {
		r.run("start", fmt.Sprint("octo/repo#", n), "--cwd", r.dir)
	}
	var byHand [][]string
	for n := range 30 {
		byHand = append(byHand, []string{"tmux", "new-session", "-d", "-s", fmt.Sprint("s", n), "--", filepath.Join(r.dir, "stub-agent"), "--resume", fmt.Sprint("by-hand-", n)})
	}
	kill := func() {
		pid := r.tmux("display-message", "-p", "#{pid}")
		r.tmux("kill-server")
		poll(func() bool { return ended(pid, r.socket()) })
	}
	var took turns.Turns
	for b.Loop() {
		kill()
		took.Time("restore", func() {
			if out := r.run("restore"); !strings.Contains(out, "30 brought back, 0 running, 0 not possible") {
				b.Fatal(out)
			}
		})
		kill()
		took.Time("new-session", r.do(byHand...))
	}
	took.Report(b)
}

// TestPeakMemory: no command takes 30 MB (docs/performance.md). A process's peak
// counts what it was forked from, so that a program of few megabytes, which is
// made for it, starts each and asks.
func TestPeakMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	r := newRig(t)
	source, meter := filepath.Join(r.dir, "meter.go"), filepath.Join(r.dir, "meter")
	if err := os.WriteFile(source, []byte(meterSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", meter, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	big := filepath.Join(r.dir, "big.json")
	for _, args := range [][]string{
		{"event", "--delivery", "d-1", r.comment(1)}, {"list"}, {"list", "--json", "ref,state", "--jq", ".[].ref"}, {"show", "octo/repo#15"},
		{"log"}, {"config"}, {"hook", "session-closed", "$77", "1", "1"}, {"link", "octo/repo#16", "--to", "octo/repo#15"}, {"stop", "octo/repo#15"}, {"start", "octo/repo#15"},
		{"event", big},
	} {
		if args[len(args)-1] == big {
			if err := os.WriteFile(big, []byte(`{"action":"created","zen":"`+strings.Repeat("x", 25<<20-30)+`"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(meter, append([]string{filepath.Join(r.dir, "gh-loop")}, args...)...)
		cmd.Env, cmd.Dir = r.env, r.dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		peak, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%5.1f MB  %s", float64(peak)/(1<<20), strings.Join(args, " "))
		if peak > 30<<20 {
			t.Errorf("%q takes %d bytes, over 30 MB", args, peak)
		}
	}
}

// meterSource runs a command and prints the most memory that it had, in bytes.
const meterSource = `package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stderr = os.Stderr
	err := c.Run()
	peak := int64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "linux" {
		peak <<= 10 // KB there
	}
	fmt.Println(peak)
	if err != nil {
		os.Exit(1)
	}
}
`
