package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestHooksOverAndOver proves rule 55: an agent's hooks are called GH_LOOP_HOOKS
// times, two at once, with states that are known and not. None says a word, the
// last one counts, what is wrong is a few lines a minute, and what is sent afterwards
// arrives once.
func TestHooksOverAndOver(t *testing.T) {
	calls := number(t, "GH_LOOP_HOOKS", 100)
	s := newStorm(t, 1, 0)
	tmux := func(words ...string) string {
		out, err := exec.Command(s.w.tmux, append([]string{"-S", s.w.socket}, words...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", words, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	outside := s.env
	s.env = append(s.env[:len(s.env):len(s.env)], "TMUX="+s.w.socket+",1,0", "GH_LOOP_REF=github:octo/repo#1", "TMUX_PANE="+tmux("list-panes", "-a", "-F", "#{pane_id}"))
	began := time.Now()
	hook := func(state string) {
		if out, err := s.command("", "hook", "harness", state).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v, said %q", state, err, out)
		}
	}
	var both sync.WaitGroup
	for _, states := range [][]string{{"waiting", "running"}, {"idle", "dancing", "asks", "answered"}} {
		both.Go(func() {
			for n := range calls / 2 {
				hook(states[n%len(states)])
			}
		})
	}
	both.Wait()
	took := time.Since(began)
	hook("running")
	hook("idle")
	if got := tmux("display-message", "-p", "-t", "=loop-github-octo-repo-1:", "#{@loop_state}#{@loop_asks}"); got != "idle" {
		t.Errorf("it is %q", got)
	}
	log, err := os.ReadFile(filepath.Join(s.w.state, "log", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	minutes := int(time.Since(began)/time.Minute) + 1
	if n := strings.Count(string(log), `"harness dancing"`); n < 1 || n > 4*minutes {
		t.Errorf("%d lines of a state that nobody knows in %d minutes", n, minutes)
	}
	s.env = outside
	delivery, body := s.next()
	s.run(body, "event", "--delivery", delivery)
	s.settle()
	lost, doubled, wrong := s.arrivals()
	torn := s.torn()
	if t.Logf("%d calls in %s, lost %d, torn %d, doubled %d, astray %d", calls, took, lost, torn, doubled, wrong); lost+torn+doubled+wrong > 0 {
		t.Error("something was lost, torn, doubled or led astray")
	}
}
