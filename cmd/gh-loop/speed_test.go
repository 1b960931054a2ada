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
		"GH_LOOP_CONFIG=" + dir + "/gh-loop.toml", "GH_LOOP_STATE_DIR=" + dir + "/state", "STUB_DIR=" + dir}}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), "default"), "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false"}, strings.Fields(lean)...), "-s -w", "-o", filepath.Join(dir, "gh-loop"), ".")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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

// BenchmarkTextInPane measures from the start of the process until the program
// in the pane has read the text, and says the median: a mean would tell of the
// machine.
func BenchmarkTextInPane(b *testing.B) {
	r := newRig(b)
	var took []time.Duration
	for n := range b.N {
		file := r.comment(n + 1)
		clock := filepath.Join(r.dir, "clock")
		_ = os.Remove(clock)
		began := time.Now()
		if out := r.run("event", "--event", "issue_comment", "--delivery", fmt.Sprint("d-", n), "--json", file); !strings.Contains(out, `"how":"pasted"`) {
			b.Fatal(out)
		}
		read, err := os.ReadFile(clock)
		if err != nil {
			b.Fatal(err)
		}
		first, _, _ := bytes.Cut(read, []byte("\n"))
		at, err := strconv.ParseInt(string(first), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Unix(0, at).Sub(began))
	}
	median(b, took)
}

// BenchmarkHookSessionClosed measures the whole process, for a session that is
// none of ours, as most are, and beside it the least that a hook in Go could
// take: a program that does nothing, and one call of tmux.
func BenchmarkHookSessionClosed(b *testing.B) {
	r := newRig(b)
	nothing := filepath.Join(r.dir, "nothing")
	if err := os.WriteFile(nothing+".go", []byte("package main\n\nfunc main() { println() }\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", nothing, nothing+".go").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var took, least []time.Duration
	for range b.N {
		began := time.Now()
		r.run("hook", "session-closed", "$77", "1", "1")
		took = append(took, time.Since(began))
		began = time.Now()
		for _, c := range []*exec.Cmd{exec.Command(nothing), exec.Command("tmux", "-N", "display-message", "-p", "x")} {
			c.Env = r.env
			if err := c.Run(); err != nil {
				b.Fatal(err)
			}
		}
		least = append(least, time.Since(began))
	}
	median(b, took)
	slices.Sort(least)
	b.ReportMetric(float64(took[len(took)/2])/float64(least[len(least)/2]), "×nothing+tmux")
}

// BenchmarkRestore measures how long it takes to bring 30 conversations back
// after the end of their tmux server. Agents start as fast as the stub does.
func BenchmarkRestore(b *testing.B) {
	r := newRig(b)
	for n := 16; n < 45; n++ {
		r.run("start", fmt.Sprint("octo/repo#", n), "--cwd", r.dir)
	}
	var took []time.Duration
	for range b.N {
		kill := exec.Command("tmux", "kill-server")
		kill.Env = r.env
		if err := kill.Run(); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if out := r.run("restore"); !strings.Contains(out, "30 brought back, 0 running, 0 not possible") {
			b.Fatal(out)
		}
		took = append(took, time.Since(began))
	}
	median(b, took)
}

func median(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)/10].Microseconds())/1000, "ms-10%")
	b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "ms-90%")
	b.ReportMetric(0, "ns/op")
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
