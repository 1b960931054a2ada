package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/bench/turns"
	"github.com/gh-loop/gh-loop/internal/github/githubtest"
)

// polled is a state directory with paused items on a GitHub of its own: paused,
// so that what is measured is us and not the agents.
type polled struct {
	*testing.B
	bin    string
	env    []string
	state  string
	github *githubtest.Server
	cpu    time.Duration
}

func newPolled(b *testing.B, items int) *polled {
	dir := b.TempDir()
	p := &polled{B: b, bin: filepath.Join(dir, "gh-loop"), state: filepath.Join(dir, "state")}
	buildAsInstalled(b, p.bin)
	var err error
	if p.github, err = githubtest.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.github.Close)
	if err := p.github.Configure(filepath.Join(dir, "gh")); err != nil {
		b.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte("[routing]\nauthorizedUsers = [\"octocat\"]\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	p.env = append(os.Environ(), "HOME="+dir, "GH_CONFIG_DIR="+filepath.Join(dir, "gh"), "GH_TOKEN=none", "GH_LOOP_CONFIG="+config, "GH_LOOP_STATE_DIR="+p.state, "TMUX_TMPDIR="+dir, "TMUX=")
	if err := os.MkdirAll(filepath.Join(p.state, "local"), 0o700); err != nil {
		b.Fatal(err)
	}
	for n := 1; n <= items; n++ {
		p.change("issue", fmt.Sprintf("octo/repo#%d", n))
		record := fmt.Sprintf(`{"workItem":{"ref":"github:octo/repo#%d"},"harness":"echo","cwd":"/tmp","status":"paused","createdAt":"2026-08-07T09:00:00Z"}`+"\n", n)
		if err := os.WriteFile(filepath.Join(p.state, "local", fmt.Sprintf("github-octo-repo-%d.json", n)), []byte(record), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	p.sync()
	return p
}

func (p *polled) change(line ...string) {
	if err := p.github.Do(line...); err != nil {
		p.Fatal(err)
	}
}

func (p *polled) sync() {
	cmd := exec.Command(p.bin, "sync")
	cmd.Env = p.env
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("%v: %s", err, out)
	}
	p.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// begin forgets what making the world cost.
func (p *polled) begin() {
	p.github.Count()
	p.cpu = 0
}

func (p *polled) report() {
	requests, points, _ := p.github.Count()
	p.ReportMetric(float64(requests)/float64(p.N), "requests/op")
	p.ReportMetric(float64(points)/float64(p.N), "points/op")
	p.ReportMetric(float64(p.cpu.Milliseconds())/float64(p.N), "cpu-ms/op")
}

// BenchmarkSyncQuiet is one whole call of sync while nothing is new.
func BenchmarkSyncQuiet(b *testing.B) {
	p := newPolled(b, 100)
	p.begin()
	var took turns.Turns
	for b.Loop() {
		took.Time("sync", p.sync)
	}
	took.Report(b)
	p.report()
}

// BenchmarkSyncChanged is one whole call when each item has a new comment. The
// budget is put back before each, or a tenth of it would be used up.
func BenchmarkSyncChanged(b *testing.B) {
	p := newPolled(b, 100)
	p.begin()
	for b.Loop() {
		b.StopTimer()
		for n := 1; n <= 100; n++ {
			p.change("comment", fmt.Sprintf("octo/repo#%d", n), "text=look")
		}
		_ = os.Remove(filepath.Join(p.state, "local", "sync.json"))
		b.StartTimer()
		p.sync()
	}
	p.report()
}

// BenchmarkServe500 is 500 signed deliveries of 15 kB from eight senders, from
// the first byte to the last answer, with sync running beside.
func BenchmarkServe500(b *testing.B) {
	p := newPolled(b, 20)
	secret := filepath.Join(p.state, "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	serve := exec.Command(p.bin, "serve", "--secret-file", secret, "--listen", "127.0.0.1:0")
	serve.Env = p.env
	text, err := serve.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = serve.Process.Signal(os.Interrupt); _ = serve.Wait() })
	first := make([]byte, 200)
	n, _ := text.Read(first)
	go func() { _, _ = text.Read(make([]byte, 1<<20)) }()
	address := string(regexp.MustCompile(`http://(\S+);`).FindSubmatch(first[:n])[1])
	go func() {
		for buf := make([]byte, 1<<16); ; {
			if _, err := text.Read(buf); err != nil {
				return
			}
		}
	}()
	id := 0
	for b.Loop() {
		var wg sync.WaitGroup
		wg.Go(func() { p.sync() })
		next := make(chan int)
		for range 8 {
			wg.Go(func() {
				for i := range next {
					if got := deliver(address, i, 15000); !strings.HasPrefix(got, "202") {
						b.Error(got)
					}
				}
			})
		}
		for range 500 {
			id++
			next <- id
		}
		close(next)
		wg.Wait()
	}
	http.DefaultClient.CloseIdleConnections()
}
