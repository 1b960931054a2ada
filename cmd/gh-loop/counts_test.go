package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/work"
)

// counts is what one run of the program asks of the system.
type counts struct {
	processes, tmux int // started, and tmux commands in them
	opened, read    int // files, and bytes of whatever was read
	synced          int // files and directories made safe
	calls           int // system calls, without those of Go's own scheduler and memory
}

// cost is the table of what a hook, an event, a key's program and a list may
// cost, in a world with one item whose agent lives, one after the other.
// Processes, tmux commands and syncs are exact; what is opened, read and
// called has a third of room for other systems. Whoever has to raise a number
// says why in the commit.
var cost = []struct {
	name string
	most counts
	args []string
}{
	{"a hook of a session that is not ours", counts{0, 0, 13, 3600, 0, 80}, []string{"hook", "session-closed", "$77", "1", "1"}},
	{"a harness's hook outside our sessions", counts{0, 0, 8, 2400, 0, 40}, []string{"hook", "harness", "running"}},
	{"the event that tells an item's title", counts{3, 12, 42, 10000, 6, 510}, []string{"event", "--delivery", "d-1", "BODY"}},
	{"an event for a live session", counts{2, 11, 42, 10000, 5, 450}, []string{"event", "--delivery", "d-2", "BODY"}},
	{"the same event again", counts{0, 0, 16, 5000, 0, 120}, []string{"event", "--delivery", "d-2", "BODY"}},
	{"an event that concerns nobody", counts{0, 0, 14, 4000, 0, 100}, []string{"event", "--event", "push", "BODY"}},
	{"list", counts{1, 2, 16, 4100, 0, 180}, []string{"list"}},
	{"a pull request is linked", counts{0, 0, 16, 4000, 2, 120}, []string{"link", "octo/repo#16", "--to", "octo/repo#15"}},
	{"it is linked already", counts{0, 0, 16, 4000, 0, 100}, []string{"link", "octo/repo#16", "--to", "octo/repo#15"}},
	{"a hook of a session of ours", counts{0, 0, 20, 6000, 2, 150}, []string{"hook", "session-closed", "SESSION"}},
}

// Counting says what timing cannot on a busy machine: that a call costs no more
// than it did.
func TestCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	r := newRig(t)
	r.prompt()
	for _, c := range cost {
		args := slices.Clone(c.args)
		if at := slices.Index(args, "SESSION"); at >= 0 {
			args = append(args[:at], strings.Fields(r.tmux("display-message", "-p", "-t", "=loop-github-octo-repo-15:", "#{session_id} #{pid} #{start_time}"))...)
		}
		if at := slices.Index(args, "BODY"); at >= 0 {
			args[at] = r.comment(len(args[at-1]) + int(args[at-1][len(args[at-1])-1]))
		}
		got, whole := r.count(args...)
		t.Logf("%-40s %+v", c.name, got)
		exact := got.processes == c.most.processes && got.tmux == c.most.tmux
		if !whole && !exact {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.most)
		}
		if whole && (!exact || got.synced != c.most.synced || got.opened > c.most.opened || got.read > c.most.read || got.calls > c.most.calls) {
			t.Errorf("%s: %+v, want %+v at most", c.name, got, c.most)
		}
	}
}

// prompt makes an agent's screen show a text at once, as it is taken for: a
// machine that is too busy to show it in time costs a look more, and no commit did that.
func (r *rig) prompt() {
	file := filepath.Join(r.dir, "gh-loop.toml")
	if err := os.WriteFile(file, []byte(defaults+"harness.stub.composer = \".\"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// count runs the program and counts. Where strace does not work only what
// concerns tmux is counted, by a program of its name; whole says which it was.
func (r *rig) count(args ...string) (n counts, whole bool) {
	r.t.Helper()
	trace := filepath.Join(r.dir, "trace")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-s", "100000", "-o", trace, filepath.Join(r.dir, "gh-loop")}, args...)...)
	cmd.Env, cmd.Dir = r.env, r.dir
	if exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").Run() != nil {
		return r.countTmux(args...), false
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("gh-loop %q: %v: %s", args, err, out)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		r.t.Fatal(err)
	}
	return tally(string(b)), true
}

// countTmux puts a program in tmux's place that notes its words and goes on.
func (r *rig) countTmux(args ...string) (n counts) {
	bin, err := exec.LookPath("tmux")
	if err != nil {
		r.t.Fatal(err)
	}
	noted, fake := filepath.Join(r.dir, "noted"), filepath.Join(r.dir, "tmux")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' 'a process' \"$@\" >>'%s'\nexec '%s' \"$@\"\n", noted, bin)
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		r.t.Fatal(err)
	}
	r.run(args...)
	b, _ := os.ReadFile(noted) // none: tmux was not called
	_, _ = os.Remove(noted), os.Remove(fake)
	for line := range strings.Lines(string(b)) {
		switch line {
		case "a process\n":
			n.processes++
			n.tmux++
		case ";\n":
			n.tmux++
		}
	}
	return n
}

// scheduling are the calls that Go's runtime makes, and what starting a
// program takes: how many there are depends on the machine's mood.
var scheduling = strings.Fields(`futex nanosleep sched_yield sched_getaffinity epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 tgkill getpid gettid
	rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack mmap munmap madvise clone clone3 prctl arch_prctl brk mprotect rseq set_robust_list
	set_tid_address prlimit64 pidfd_open pidfd_send_signal waitid wait4 restart_syscall clock_gettime uname exit vfork getrandom`)

// tally reads what strace wrote. A call that was interrupted by another
// thread's is counted where it ends.
func tally(trace string) counts {
	var n counts
	others := map[string]bool{}
	type call struct {
		pid, name, args string
		result          int
	}
	var all []call
	begun := map[string]string{} // an execve that another thread's line cuts in two
	for line := range strings.Lines(trace) {
		pid, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		if strings.HasSuffix(rest, "<unfinished ...>") {
			begun[pid] = rest
			continue
		}
		if strings.HasPrefix(rest, "<... ") {
			rest = begun[pid] + rest
		}
		name, args, ok := strings.Cut(rest, "(")
		at := strings.LastIndex(rest, " = ")
		if !ok || at < 0 || strings.ContainsAny(name, " +-") {
			continue // a signal, or an end
		}
		value, _, _ := strings.Cut(rest[at+3:], " ")
		result, err := strconv.Atoi(value)
		if err != nil {
			result = 0
		}
		all = append(all, call{pid, name, args, result})
		if name == "execve" && result == 0 && len(all) > 1 {
			others[pid] = true
			n.processes++
			if strings.Contains(args, `"-S"`) {
				n.tmux += 1 + strings.Count(args, `, ";"`)
			}
		}
	}
	for _, c := range all {
		if others[c.pid] {
			continue
		}
		if !slices.Contains(scheduling, c.name) {
			n.calls++
		}
		switch c.name {
		case "open", "openat":
			if c.result >= 0 {
				n.opened++
			}
		case "read", "pread64", "readv":
			n.read += max(c.result, 0)
		case "fsync", "fdatasync":
			n.synced++
		}
	}
	return n
}

// A jump is tmux's own work: its server starts no process for it (rule 57).
func TestJumpStartsNoProcess(t *testing.T) {
	r := newRig(t)
	ids, marks := r.pair()
	c := r.attach("loop-github-octo-repo-15")
	trace := filepath.Join(r.dir, "server.trace")
	strace := exec.Command("strace", "-e", "trace=clone,clone3,fork,vfork,execve", "-o", trace, "-p", r.tmux("display-message", "-p", "#{pid}"))
	said, err := strace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := strace.Start(); err != nil {
		t.Skip(err)
	}
	if first, _ := bufio.NewReader(said).ReadString('\n'); !strings.Contains(first, "attached") {
		_ = strace.Wait()
		t.Skip(first)
	}
	r.tmux("run-shell", "true") // seen, if it is seen at all
	for at := range 6 {
		to := (at + 1) % 2
		c.press("\x02Gn", marks[to], "at "+ids[to]+" now")
	}
	r.tmux("display-message", "-p", "what it began is done")
	if err := strace.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = strace.Wait()
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), "(") != 1 {
		t.Errorf("of one run-shell and six jumps, tmux started:\n%s", b)
	}
}

// Reading an event and deciding about it is no matter of memory.
func TestAllocationsPerEvent(t *testing.T) {
	ref, err := work.ParseRef("github:octo/repo#15")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		most float64
	}{
		{[]string{"comment", "-issue", "15", "-text", "Please look at this."}, 80},
		{[]string{"pr", "-pr", "16", "-body", "Closes #15", "-branch", "issue-15"}, 140},
		{[]string{"check", "-pr", "16"}, 95},
	} {
		b, err := newBody(c.args, 1)
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		settings := loop.Settings{Users: []string{"octocat"}}
		n := testing.AllocsPerRun(200, func() {
			e, err := event.Read(text, "", "d-1")
			if err != nil {
				t.Fatal(err)
			}
			rec := &work.Record{Session: work.Session{Ref: ref, Harness: "stub", Status: work.Active}}
			loop.Decide(rec, e, settings, "2026-08-07T10:00:00Z")
		})
		t.Logf("%v: %v allocations", c.args[0], n)
		if n > c.most {
			t.Errorf("%q takes %v allocations, want %v at most", c.args, n, c.most)
		}
	}
}
