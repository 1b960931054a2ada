package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// storm is a world in which events stream in while something goes wrong all
// the time: items with pull requests, and what was said to whom.
type storm struct {
	t      *testing.T
	w      *world
	env    []string
	items  int
	prs    int // of each item
	random *rand.Rand
	mu     sync.Mutex
	told   map[string]string // text to the endpoint that it is for
	item   map[string]string // text to that endpoint's item
	seq    atomic.Int64
	usual  time.Duration // that an undisturbed event takes
}

func newStorm(t *testing.T, items, prs int) *storm {
	seed := time.Now().UnixNano()
	if s := os.Getenv("GH_LOOP_SEED"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("GH_LOOP_SEED=%d", seed)
	short, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		work: work, state: filepath.Join(work, "state"), stub: filepath.Join(work, "stub"), tmux: bin,
		socket: filepath.Join(short, "tmux-"+strconv.Itoa(os.Getuid()), "default"),
	}
	t.Cleanup(func() {
		_ = exec.Command(bin, "-S", w.socket, "kill-server").Run()
		_ = os.RemoveAll(short)
	})
	for _, dir := range []string{"home", "config", "work", "stub"} {
		if err := os.MkdirAll(filepath.Join(work, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.configure(defaults); err != nil {
		t.Fatal(err)
	}
	s := &storm{t: t, w: w, items: items, prs: prs, random: rand.New(rand.NewSource(seed)), told: map[string]string{}, item: map[string]string{}}
	s.env = append(os.Environ(), "HOME="+filepath.Join(work, "home"), "XDG_CONFIG_HOME="+filepath.Join(work, "config"), "GH_CONFIG_DIR="+filepath.Join(work, "config"),
		"GH_LOOP_CONFIG="+filepath.Join(work, "gh-loop.toml"), "GH_LOOP_STATE_DIR="+w.state, "STUB_DIR="+w.stub, "TMUX_TMPDIR="+short, "TMUX=", "TMUX_PANE=",
		"GH_LOOP_REF=", "GH_LOOP_ITEM=", "GORACE="+cmp.Or(os.Getenv("GORACE"), "atexit_sleep_ms=0"))
	for n := 1; n <= items; n++ {
		s.run("", "start", fmt.Sprintf("octo/repo#%d", n), "--cwd", filepath.Join(work, "work"))
		for p := range prs {
			s.run("", "link", fmt.Sprintf("octo/repo#%d", s.pr(n, p)), "--to", fmt.Sprintf("octo/repo#%d", n))
		}
	}
	return s
}

func (s *storm) pr(item, n int) int { return 1000*item + n }

// run runs gh-loop to its end and fails the test if it fails.
func (s *storm) run(in string, args ...string) {
	s.t.Helper()
	cmd := s.command(in, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("gh-loop %q: %v\n%s", args, err, out)
	}
}

func (s *storm) command(in string, args ...string) *exec.Cmd {
	cmd := exec.Command("gh-loop", args...)
	cmd.Env, cmd.Dir, cmd.Stdin = s.env, s.w.work, strings.NewReader(in)
	return cmd
}

// next makes a comment for a random endpoint. Its text names the endpoint that
// it is for, so that whoever reads it can tell whether it is there rightly.
func (s *storm) next() (delivery, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.seq.Add(1)
	item := 1 + s.random.Intn(s.items)
	kind, number := "-issue", item
	if s.prs > 0 && s.random.Intn(4) > 0 {
		kind, number = "-pr", s.pr(item, s.random.Intn(s.prs))
	}
	text := fmt.Sprintf("word %d for octo/repo#%d.", id, number)
	s.told[text] = fmt.Sprintf("github:octo/repo#%d", number)
	s.item[text] = fmt.Sprintf("github:octo/repo#%d", item)
	b, err := newBody([]string{"comment", kind, strconv.Itoa(number), "-text", text}, 10000+id)
	if err != nil {
		s.t.Error(err)
	}
	encoded, err := b.encode()
	if err != nil {
		s.t.Error(err)
	}
	return fmt.Sprintf("d-%d", id), string(encoded)
}

// settle calls what takes events up until none waits.
func (s *storm) settle() {
	least := math.MaxInt
	for began := time.Now(); ; {
		left, err := filepath.Glob(filepath.Join(s.w.state, "local", "inbox", "*.json"))
		if err != nil {
			s.t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if len(left) < least {
			least, began = len(left), time.Now()
		}
		if time.Since(began) > 3*time.Minute { // none of them was handled since
			for _, path := range left {
				if held, _ := os.ReadFile(path); strings.HasSuffix(path, ".held.json") {
					s.t.Logf("%s: %s", filepath.Base(path), held)
				}
			}
			s.t.Fatalf("%d files of events that still wait", len(left))
		}
		s.run(`{"zen":"Keep it logically awesome.","hook_id":1}`, "event", "--event", "ping")
	}
}

// arrivals waits until the agents have read all, and counts for each text how
// often it came, and what came to whom it was not for.
func (s *storm) arrivals() (lost, doubled, wrong int) {
	said := regexp.MustCompile(`word \d+ for octo/repo#\d+\.`)
	refs := map[string]string{}
	for _, st := range s.w.starts() {
		refs[st.ID] = st.Ref
	}
	count := func() (times map[string]int, strayed int) {
		times = map[string]int{}
		for _, m := range s.w.heard() {
			for _, text := range said.FindAllString(m.text, -1) {
				times[text]++
				// A session that cannot be started leaves its events to the item's (rule 34).
				if refs[m.id] != s.told[text] && refs[m.id] != s.item[text] {
					s.t.Logf("%q came to %s", text, refs[m.id])
					strayed++
				}
			}
		}
		return times, strayed
	}
	var times map[string]int
	for began := time.Now(); time.Since(began) < time.Minute; {
		if times, wrong = count(); len(times) == len(s.told) {
			break
		}
	}
	for text := range s.told {
		switch n := times[text]; {
		case n == 0:
			s.t.Logf("lost: %q", text)
			lost++
		case n > 1:
			doubled += n - 1
		}
	}
	return lost, doubled, wrong
}

// torn counts what is not as it must be once everything is quiet.
func (s *storm) torn() (n int) {
	found := func(format string, args ...any) { s.t.Logf(format, args...); n++ }
	err := filepath.WalkDir(s.w.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(d.Name(), "tmp") {
			found("left over: %s", path)
		}
		if b, err := os.ReadFile(path); err != nil {
			return err
		} else if strings.HasSuffix(path, ".json") && !json.Valid(b) {
			found("no JSON: %s", path)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := exec.Command(s.w.tmux, "-S", s.w.socket, "list-buffers").Output()
	if err == nil && len(bytes.TrimSpace(out)) > 0 {
		found("buffers: %s", out)
	}
	return n
}

// number reads a whole number from the environment.
func number(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestKilled proves rule 53: gh-loop is killed at random moments, GH_LOOP_KILLS
// times, while events stream in from callers who try again as long as they
// were not told that an event is ours. Nothing is lost or torn, and no more is
// doubled than was killed.
func TestKilled(t *testing.T) {
	kills := number(t, "GH_LOOP_KILLS", 50)
	s := newStorm(t, 3, 2)
	for range 6 { // also has the sessions spawned
		delivery, body := s.next()
		began := time.Now()
		s.run(body, "event", "--delivery", delivery)
		s.usual = time.Since(began)
	}
	var killed, events atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for killed.Load() < int64(kills) {
				delivery, body := s.next()
				events.Add(1)
				for !s.tryKilled(delivery, body, &killed, int64(kills)) {
				}
			}
		}()
	}
	wg.Wait()
	s.settle()
	lost, doubled, wrong := s.arrivals()
	torn := s.torn()
	t.Logf("kills %d, events %d, lost %d, torn %d, doubled %d, astray %d", killed.Load(), events.Load(), lost, torn, doubled, wrong)
	if lost > 0 || torn > 0 || wrong > 0 || int64(doubled) > killed.Load() {
		t.Error("something was lost, torn, doubled or led astray")
	}
}

// tryKilled hands an event over and kills the program at a random moment. It
// says whether the program said that it has the event.
func (s *storm) tryKilled(delivery, body string, killed *atomic.Int64, most int64) bool {
	cmd := s.command(body, "event", "--delivery", delivery)
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return true
	}
	s.mu.Lock()
	after := time.Duration(s.random.Int63n(2 * int64(s.usual)))
	s.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if killed.Load() >= most {
		after = time.Minute
	}
	select {
	case err := <-ended:
		return err == nil
	case <-time.After(after):
		if cmd.Process.Kill() == nil {
			killed.Add(1)
		}
		return <-ended == nil
	}
}

// TestSoak proves rules 38 to 40: a random hand kills panes, sessions and the
// server and renames sessions for as long as GH_LOOP_SOAK says (a few seconds
// otherwise), while GH_LOOP_SOAK_EVENTS events stream in. Each arrives in its own
// conversation, no endpoint ends up with two sessions, and no process is left over.
func TestSoak(t *testing.T) {
	span, err := time.ParseDuration(cmp.Or(os.Getenv("GH_LOOP_SOAK"), "8s"))
	if err != nil {
		t.Fatal(err)
	}
	events := number(t, "GH_LOOP_SOAK_EVENTS", 30)
	items, prs := 2, 1
	if os.Getenv("GH_LOOP_SOAK") != "" {
		items, prs = 10, 3
	}
	s := newStorm(t, items, prs)
	stop := make(chan struct{})
	var hand sync.WaitGroup
	var blows atomic.Int64
	hand.Add(1)
	go func() {
		defer hand.Done()
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(span / time.Duration(max(events/8, 8))):
				s.blow(n)
				blows.Add(1)
			}
		}
	}()
	s.stream(events, span)
	close(stop)
	hand.Wait()
	s.settle()
	lost, doubled, wrong := s.arrivals()
	s.run("", "restore")
	s.run("", "restore")
	torn, twins := s.torn(), s.twins()
	t.Logf("events %d, blows %d, lost %d, torn %d, doubled %d, astray %d, sessions doubled %d", events, blows.Load(), lost, torn, doubled, wrong, twins)
	if lost > 0 || torn > 0 || wrong > 0 || twins > 0 || int64(doubled) > blows.Load() {
		t.Error("something was lost, torn, doubled or led astray")
	}
	if err := exec.Command(s.w.tmux, "-S", s.w.socket, "kill-server").Run(); err != nil {
		t.Log("no server is left: ", err)
	}
	s.noneLeft()
}

// twins counts the sessions that an endpoint has beside its own.
func (s *storm) twins() (n int) {
	out, err := exec.Command(s.w.tmux, "-S", s.w.socket, "list-sessions", "-F", "#{@loop_item} #{@loop_ref} #{session_name}").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	first := map[string]string{}
	for l := range strings.Lines(string(out)) {
		i := strings.LastIndexByte(l, ' ')
		whose, name := l[:i], strings.TrimSpace(l[i:])
		if other, ok := first[whose]; ok {
			s.t.Logf("two sessions of %q: %s and %s", whose, other, name)
			n++
		}
		first[whose] = name
	}
	return n
}

// stream hands the events over from four callers, spread over the span.
func (s *storm) stream(events int, span time.Duration) {
	var wg sync.WaitGroup
	todo := make(chan struct{})
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range todo {
				delivery, body := s.next()
				if out, err := s.command(body, "event", "--delivery", delivery).CombinedOutput(); err != nil {
					s.t.Errorf("event %s: %v\n%s", delivery, err, out)
				}
			}
		}()
	}
	tick := time.NewTicker(span / time.Duration(events))
	defer tick.Stop()
	for range events {
		<-tick.C
		todo <- struct{}{}
	}
	close(todo)
	wg.Wait()
}

// blow is one stroke of the random hand.
func (s *storm) blow(n int) {
	out, err := exec.Command(s.w.tmux, "-S", s.w.socket, "list-panes", "-a", "-F", "#{session_id} #{pane_id} #{pane_pid}").Output()
	if err != nil {
		return
	}
	panes := strings.Split(strings.TrimSpace(string(out)), "\n")
	s.mu.Lock()
	f := strings.Fields(panes[s.random.Intn(len(panes))])
	what := s.random.Intn(12)
	s.mu.Unlock()
	if len(f) < 3 {
		return
	}
	tmux := func(args ...string) { _ = exec.Command(s.w.tmux, append([]string{"-S", s.w.socket}, args...)...).Run() }
	switch {
	case what == 0:
		tmux("kill-server")
	case what < 4:
		tmux("kill-session", "-t", f[0])
	case what < 6: // sometimes to a name that another one of ours would take
		name := fmt.Sprintf("renamed-%d", n)
		if n%2 == 0 {
			name = fmt.Sprintf("loop-github-octo-repo-%d", 1+n%s.items)
		}
		tmux("rename-session", "-t", f[0], name)
	case what < 8:
		tmux("kill-pane", "-t", f[1])
	default:
		if pid, err := strconv.Atoi(f[2]); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// noneLeft waits until no agent of this world runs any more.
func (s *storm) noneLeft() {
	mark := []byte("STUB_DIR=" + s.w.stub + "\x00")
	for began := time.Now(); ; {
		left := 0
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil || len(dirs) == 0 {
			return // no /proc to look in
		}
		for _, dir := range dirs {
			env, err := os.ReadFile(filepath.Join(dir, "environ"))
			if err == nil && bytes.Contains(env, mark) && filepath.Base(dir) != strconv.Itoa(os.Getpid()) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Since(began) > 20*time.Second {
			s.t.Errorf("%d processes are left over", left)
			return
		}
	}
}
