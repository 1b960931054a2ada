package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// meter runs benchmarks: each package's are compiled once.
type meter struct {
	root, dir string
	short     bool
}

func newMeter(root string, short bool) (*meter, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	m := &meter{root, dir, short}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "nethttpomithttp2", "-gcflags", "all=-l", "-ldflags", "-s -w", "-o", m.program(), "./cmd/gh-loop")
	build.Dir, build.Stderr, build.Env = root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if err := build.Run(); err != nil { // as install.sh does
		m.close()
		return nil, fmt.Errorf("gh-loop: %w", err)
	}
	built := map[string]bool{}
	for _, r := range runs {
		if built[r.pkg] {
			continue
		}
		built[r.pkg] = true
		cmd := exec.Command("go", "test", "-c", "-o", m.binary(r.pkg), "./"+r.pkg)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		if err := cmd.Run(); err != nil {
			m.close()
			return nil, fmt.Errorf("the tests of %s: %w", r.pkg, err)
		}
	}
	return m, nil
}

func (m *meter) close() { _ = os.RemoveAll(m.dir) }

func (m *meter) program() string { return filepath.Join(m.dir, "gh-loop") }

func (m *meter) binary(pkg string) string {
	return filepath.Join(m.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
}

// figures are what a benchmark reported, by unit: see turns.Report.
type figures map[string]float64

// all runs the benchmarks and gives what each reported, by its name.
func (m *meter) all(some *regexp.Regexp) (map[string]figures, error) {
	got := map[string]figures{}
	for _, r := range runs {
		if !some.MatchString(r.name) {
			continue
		}
		began := time.Now()
		out, err := m.one(r)
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", r.name, time.Since(began).Seconds())
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", r.name, err, out)
		}
		if parse(out, got) == 0 {
			return nil, fmt.Errorf("%s measured nothing:\n%s", r.name, out)
		}
	}
	return got, nil
}

func (m *meter) one(r run) ([]byte, error) {
	n := r.full
	if m.short {
		n = r.short
	}
	cmd := exec.Command(m.binary(r.pkg), "-test.run", "^$", "-test.bench", "^Benchmark"+r.name+"$", "-test.benchtime", strconv.Itoa(n)+"x", "-test.timeout", "10m")
	cmd.Dir = filepath.Join(m.root, filepath.FromSlash(r.pkg))
	for _, v := range os.Environ() { // no tmux server, no session and no GitHub of whoever calls this
		if name, _, _ := strings.Cut(v, "="); !own.MatchString(name) || name == "GH_LOOP_PEERS" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GH_LOOP_BENCH_SHORT="+strconv.FormatBool(m.short), "GH_LOOP_BENCH_BIN="+m.program())
	return cmd.CombinedOutput()
}

var own = regexp.MustCompile(`^(TMUX|GH_|GITHUB_|GH_LOOP_)`)

// parse reads lines as Go's benchmarks print them, and says how many there were.
func parse(out []byte, into map[string]figures) (n int) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if at := strings.LastIndex(name, "-"); at > 0 {
			name = name[:at]
		}
		values := figures{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[f[i+1]] = v
			}
		}
		into[name] = values
		n++
	}
	return n
}
