package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// realAgent is what a real agent needs in order to run without its maker.
type realAgent struct {
	name, program string
	trust         *regexp.Regexp                                 // what its trust dialog says; nil if it has none
	prepare       func(home, url string, trusted []string) files // its settings
	env           func(url string) []string
	start, resume string // TOML lists in place of the built-in ones, "" for those
}

type files map[string]any // path below the home: text, or what becomes JSON

// The settings below are each agent's own, for a model of somebody else's.
var realAgents = []realAgent{
	{name: "claude", program: "claude", trust: regexp.MustCompile(`Yes, I trust this folder`),
		prepare: func(_, _ string, trusted []string) files {
			projects := map[string]any{}
			for _, dir := range trusted {
				projects[dir] = map[string]any{"hasTrustDialogAccepted": true}
			}
			return files{".claude.json": map[string]any{"hasCompletedOnboarding": true, "theme": "dark", "projects": projects,
				"customApiKeyResponses": map[string]any{"approved": []string{"000000000000dummykey"}, "rejected": []string{}}}}
		},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-0000000000000dummykey", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		}},
	{name: "codex", program: "codex", trust: regexp.MustCompile(`(?i)do you trust|trust this`),
		prepare: func(_, url string, trusted []string) files {
			text := "model = \"m\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"" + url + "/v1\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\n"
			for _, dir := range trusted {
				text += "[projects.\"" + dir + "\"]\ntrust_level = \"trusted\"\n"
			}
			return files{".codex/config.toml": text}
		},
		env:    func(string) []string { return []string{"FAKE_KEY=x"} },
		start:  `["codex", "--dangerously-bypass-hook-trust", "{prompt}"]`,
		resume: `["codex", "resume", "--dangerously-bypass-hook-trust", "{id}", "{prompt}"]`},
	{name: "gemini", program: "gemini", trust: regexp.MustCompile(`Do you trust the files`),
		prepare: func(_, _ string, trusted []string) files {
			dirs := map[string]any{}
			for _, dir := range trusted {
				dirs[dir] = "TRUST_FOLDER"
			}
			return files{".gemini/trustedFolders.json": dirs, ".gemini/settings.json": map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": true}},
				"general":  map[string]any{"disableAutoUpdate": true, "enableAutoUpdate": false}, "privacy": map[string]any{"usageStatisticsEnabled": false}}}
		},
		env: func(url string) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_MODEL=gemini-2.5-flash"}
		}},
	{name: "opencode", program: "opencode",
		prepare: func(_, url string, _ []string) files {
			return files{".config/opencode/opencode.json": map[string]any{"autoupdate": false, "model": "fake/m", "small_model": "fake/m",
				"provider": map[string]any{"fake": map[string]any{"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1", "apiKey": "x"}, "models": map[string]any{"m": map[string]any{}}}}}}
		},
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		}},
	{name: "copilot", program: "copilot", trust: regexp.MustCompile(`Do you trust the files`),
		prepare: func(_, _ string, trusted []string) files {
			return files{".copilot/config.json": map[string]any{"trusted_folders": trusted, "trustedFolders": trusted}}
		},
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=x", "COPILOT_MODEL=m", "COPILOT_AUTO_UPDATE=false", "COPILOT_OFFLINE=true"}
		}},
}

// TestRealAgents tries the agents that testdata/agents/try installed.
func TestRealAgents(t *testing.T) {
	dir := os.Getenv("GH_LOOP_REAL_AGENTS")
	if dir == "" {
		t.Skip("run testdata/agents/try")
	}
	tries, err := strconv.Atoi(cmp.Or(os.Getenv("GH_LOOP_TRIES"), "20"))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "gh-loop")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, a := range realAgents {
		if !slices.Contains(strings.Fields(os.Getenv("GH_LOOP_REAL_NAMES")), a.name) {
			continue
		}
		t.Run(a.name, func(t *testing.T) { newTrial(t, a, bin, filepath.Join(dir, a.name, "node_modules", ".bin")).run(tries) })
	}
}

// trial is one agent in a home of its own, on a tmux server of its own.
type trial struct {
	realAgent
	t                      *testing.T
	bin, home, socket, url string
	env                    []string
	trusted                []string
	api                    *loopback
	n                      int // items so far
}

func newTrial(t *testing.T, a realAgent, bin, path string) *trial {
	home, err := os.MkdirTemp("/var/tmp", "gl") // some refuse to work below /tmp
	if err != nil {
		t.Fatal(err)
	}
	r := &trial{realAgent: a, t: t, bin: bin, home: home, socket: filepath.Join(home, "s"), api: &loopback{}}
	server := httptest.NewServer(r.api)
	r.url = server.URL
	r.env = append(os.Environ(), append([]string{"HOME=" + home, "TMUX=", "TMUX_PANE=", "GH_LOOP_REF=", "GH_LOOP_BIN=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=",
		"GH_LOOP_STATE_DIR=" + filepath.Join(home, "state"), "GH_LOOP_CONFIG=" + filepath.Join(home, "gh-loop.toml"), "PATH=" + path + ":" + os.Getenv("PATH"), "GH_TOKEN=none"}, a.env(r.url)...)...)
	t.Cleanup(func() {
		r.kill("kill-server", "-a")
		server.CloseClientConnections()
		server.Close()
		for range 50 { // what is still ending may write into its home
			if os.RemoveAll(home) == nil {
				break
			}
			<-time.After(100 * time.Millisecond)
		}
	})
	text := fmt.Sprintf("routing.authorizedUsers = [\"octocat\"]\nrouting.defaultHarness = %q\nrouting.tmux.socket = %q\n", a.name, r.socket)
	if a.start != "" {
		text += fmt.Sprintf("harness.%s.start = %s\nharness.%s.resume = %s\n", a.name, a.start, a.name, a.resume)
	}
	r.write("gh-loop.toml", text)
	return r
}

func (r *trial) write(name string, content any) {
	r.t.Helper()
	b, ok := content.(string)
	if !ok {
		j, err := json.Marshal(content)
		if err != nil {
			r.t.Fatal(err)
		}
		b = string(j)
	}
	path := filepath.Join(r.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(b), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// loop runs gh-loop.
func (r *trial) loop(stdin string, args ...string) (string, error) {
	cmd := exec.Command(r.bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = r.env, r.home, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// begin starts a new item in a directory of its own.
func (r *trial) begin(trust bool) (ref, session string) {
	r.t.Helper()
	r.n++
	dir := filepath.Join(r.home, "work", strconv.Itoa(r.n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	if trust {
		r.trusted = append(r.trusted, dir)
	}
	for name, content := range r.prepare(r.home, r.url, r.trusted) {
		r.write(name, content)
	}
	if out, err := r.loop("", "hooks", "install", r.name); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	ref = "octo/repo#" + strconv.Itoa(r.n)
	if out, err := r.loop("", "start", ref, "--cwd", dir); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return ref, "loop-github-octo-repo-" + strconv.Itoa(r.n)
}

func (r *trial) screen(session string) string {
	out, _ := exec.Command("tmux", "-u", "-N", "-S", r.socket, "capture-pane", "-p", "-t", "="+session+":").Output()
	return string(out)
}

func (r *trial) end(session string) { r.kill("kill-session", "-t", "="+session) }

// kill ends panes and all that runs in their terminals' sessions: Gemini CLI in
// its trust dialog, and OpenCode, live on when their terminal is gone.
func (r *trial) kill(how string, which ...string) {
	pids := r.inside(which...)
	args := []string{"-u", "-N", "-S", r.socket, how}
	if how == "kill-session" {
		args = append(args, which...)
	}
	_ = exec.Command("tmux", args...).Run()
	for i := 0; ; i++ {
		left := pids()
		if len(left) == 0 || i > 100 {
			return
		}
		for _, pid := range left {
			switch {
			case i == 0:
				_ = syscall.Kill(pid, syscall.SIGTERM)
			case i >= 50:
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		<-time.After(100 * time.Millisecond)
	}
}

// inside finds what runs in panes' terminals, now and later.
func (r *trial) inside(which ...string) (pids func() []int) {
	out, _ := exec.Command("tmux", append([]string{"-u", "-N", "-S", r.socket, "list-panes", "-F", "#{pane_pid}", "-s"}, which...)...).Output()
	return func() (pids []int) {
		for _, sid := range strings.Fields(string(out)) {
			b, _ := exec.Command("ps", "-o", "pid=,stat=", "-s", sid).Output()
			for l := range strings.Lines(string(b)) {
				f := strings.Fields(l)
				if pid, err := strconv.Atoi(f[0]); err == nil && pid > 1 && !strings.HasPrefix(f[1], "Z") { // tmux 3.3a leaves zombies
					pids = append(pids, pid)
				}
			}
		}
		return pids
	}
}

// field reads one thing of an item's record.
func (r *trial) field(ref, expr string) string {
	b, err := os.ReadFile(filepath.Join(r.home, "state", "local", "github-"+strings.NewReplacer("/", "-", "#", "-").Replace(ref)+".json"))
	if err != nil {
		return ""
	}
	got, _ := query(string(b), expr)
	return got
}

// soon polls for as long as a loaded machine may need.
func soon(so func() bool) bool {
	for end := time.Now().Add(3 * time.Minute); !so(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (r *trial) run(tries int) {
	version, _ := exec.Command("sh", "-c", "HOME="+r.home+" PATH="+strings.TrimPrefix(r.env[slices.IndexFunc(r.env, func(s string) bool { return strings.HasPrefix(s, "PATH=") && strings.Contains(s, "node_modules") })], "PATH=")+" "+r.program+" --version 2>/dev/null | tail -1").Output()
	r.t.Logf("%s %s", r.name, strings.TrimSpace(string(version)))
	asked := strings.Fields(os.Getenv("GH_LOOP_KINDS"))
	wanted := func(kind string) bool { return len(asked) == 0 || slices.Contains(asked, kind) }
	if r.trust != nil && wanted("dialog") {
		r.tell("trust dialog: not answered, event kept", tries, r.dialogs(tries))
	}
	if wanted("stop") {
		r.tell("stop: nothing of it left", tries, r.stops(tries))
	}
	if wanted("start") {
		started, resumed := r.starts(tries)
		r.tell("start: ready, text arrives", tries, started)
		r.tell("resume: same id, history there", tries, resumed)
	}
	for _, kind := range []struct {
		word, name string
		make       func(nonce string) string
	}{
		{"short", "short text", func(n string) string { return "say ok " + n }},
		{"lines", "3 lines", func(n string) string { return "one\ntwo\nthree " + n }},
		{"long", "200 lines", func(n string) string { return strings.Repeat("a line of many\n", 199) + "the last " + n }},
		{"huge", "100 kB", func(n string) string { return strings.Repeat("0123456789 abcdefghijklm\n", 4096) + "the end " + n }},
	} {
		if !wanted(kind.word) {
			continue
		}
		ok, held, median := r.texts(tries, kind.make)
		r.tell(fmt.Sprintf("%s: arrived whole and once (held %d; median %d ms)", kind.name, held, median.Milliseconds()), tries, ok)
	}
}

func (r *trial) tell(what string, of, ok int) {
	r.t.Logf("| %s | %s | %d of %d |", r.name, what, ok, of)
}

// dialogs types at an agent that asks whether it may trust a folder.
func (r *trial) dialogs(tries int) (ok int) {
	for range tries {
		ref, session := r.begin(false)
		before := r.api.count()
		shown := soon(func() bool { return r.trust.MatchString(r.screen(session)) })
		_, err := r.loop("say ok, but not yet: x"+strconv.Itoa(r.n), "start", ref, "--prompt", "-")
		if shown && err != nil && r.trust.MatchString(r.screen(session)) && r.api.count() == before {
			ok++
		} else {
			r.t.Logf("dialog shown %v, start said %v, screen:\n%s", shown, err, r.screen(session))
		}
		r.end(session)
	}
	return ok
}

// stops counts agents that ended with all they started when they were stopped,
// in their trust dialog if they have one.
func (r *trial) stops(tries int) (ok int) {
	for range tries {
		ref, session := r.begin(r.trust == nil)
		shown := soon(func() bool {
			return r.trust != nil && r.trust.MatchString(r.screen(session)) || r.trust == nil && strings.TrimSpace(r.screen(session)) != ""
		})
		pids := r.inside("-t", "="+session)
		before := len(pids())
		out, err := r.loop("", "stop", ref)
		if left := pids(); shown && err == nil && before > 0 && len(left) == 0 {
			ok++
		} else {
			r.t.Logf("shown %v, %v %s, %d before, left %v", shown, err, out, before, left)
		}
		r.end(session)
	}
	return ok
}

// starts counts agents that were ready and took a text, and that went on with
// it after their session was gone.
func (r *trial) starts(tries int) (started, resumed int) {
	for range tries {
		ref, session := r.begin(true)
		first, second := "say ok first"+strconv.Itoa(r.n), "say ok second"+strconv.Itoa(r.n)
		if !r.deliver(ref, first) {
			r.t.Logf("not started, screen:\n%s", r.screen(session))
			r.end(session)
			continue
		}
		started++
		if !soon(func() bool { return r.field(ref, ".harnessSessionId // \"\"") != "" }) {
			r.t.Log("its id was not learnt")
		}
		id := r.field(ref, ".harnessSessionId")
		<-time.After(time.Second) // it writes its history down after it has answered
		r.end(session)
		out, err := r.loop("", "start", ref)
		if r.deliver(ref, second) && r.api.together(first, second) && r.field(ref, ".harnessSessionId") == id {
			resumed++
		} else {
			r.t.Logf("not resumed: %v %s, id %s now %s, screen:\n%s", err, out, id, r.field(ref, ".harnessSessionId"), r.screen(session))
		}
		r.end(session)
	}
	return started, resumed
}

// deliver types a text once the agent is ready, until it is taken, and waits until
// the model has it. What is not taken stays in the composer, and spoils the next.
func (r *trial) deliver(ref, text string) bool {
	soon(func() bool {
		session := "loop-github-" + strings.NewReplacer("/", "-", "#", "-").Replace(ref)
		out, _ := exec.Command("tmux", "-u", "-N", "-S", r.socket, "display-message", "-p", "-t", "="+session+":", "#{@loop_ready}").Output()
		return strings.TrimSpace(string(out)) == "1"
	})
	taken := soon(func() bool {
		_, err := r.loop(text, "start", ref, "--prompt", "-")
		return err == nil || r.api.has(text)
	})
	return taken && soon(func() bool { return r.api.has(text) })
}

func (r *trial) texts(tries int, text func(nonce string) string) (ok, held int, median time.Duration) {
	var took []time.Duration
	ref, session, left := "", "", false
	for i := range tries {
		if i%5 == 0 || left { // what was said before is sent again each time, and what was held is left in the composer
			if session != "" {
				r.end(session)
			}
			if ref, session = r.begin(true); !r.deliver(ref, "say ok to begin "+strconv.Itoa(r.n)) {
				r.t.Logf("not started, screen:\n%s", r.screen(session))
			}
		}
		say := text(fmt.Sprintf("nonce%dx%d", r.n, i))
		began := time.Now()
		out, err := r.loop(say, "start", ref, "--prompt", "-")
		took = append(took, time.Since(began))
		left = err != nil
		switch arrived := err == nil && soon(func() bool { return r.api.has(say) }); {
		case err != nil:
			held++
			r.t.Logf("%s\n%s", out, r.screen(session))
		case !arrived || !r.api.once(say):
			r.t.Logf("lost, torn or twice: %s\n%s\nthe model was told %q", out, r.screen(session), r.api.tail())
		default:
			ok++
		}
	}
	r.end(session)
	if slices.Sort(took); len(took) > 0 {
		median = took[len(took)/2]
	}
	return ok, held, median
}

// loopback answers "ok" in the words of each model's API, and keeps what it was told.
type loopback struct {
	mu    sync.Mutex
	posts [][]string // every string of each body
}

func (l *loopback) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.posts)
}

func (l *loopback) any(so func(texts []string) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.posts, so)
}

func holds(texts []string, text string) int {
	n := 0
	for _, s := range texts {
		n += strings.Count(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), text)
	}
	return n
}

// tail is the end of what the model was told last.
func (l *loopback) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.posts) == 0 {
		return ""
	}
	all := strings.Join(l.posts[len(l.posts)-1], " | ")
	return all[max(len(all)-600, 0):]
}

func (l *loopback) has(text string) bool {
	return l.any(func(texts []string) bool { return holds(texts, text) > 0 })
}

func (l *loopback) once(text string) bool {
	return !l.any(func(texts []string) bool { return holds(texts, text) > 1 })
}

func (l *loopback) together(a, b string) bool {
	return l.any(func(texts []string) bool { return holds(texts, a) > 0 && holds(texts, b) > 0 })
}

// allStrings collects every string of a JSON value that is a message's text.
func allStrings(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, allStrings(x)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, key := range []string{"messages", "input", "contents", "content", "parts", "text"} {
			out = append(out, allStrings(v[key])...)
		}
		return out
	}
	return nil
}

// withFiles puts in the files in which Copilot keeps a paste of 100 kB, of which it
// tells the model no more than their names.
func withFiles(texts []string) []string {
	named := regexp.MustCompile(`<pasted_content file="(/var/tmp/gl[^"]+)"[^>]*>`)
	for i, text := range texts {
		texts[i] = named.ReplaceAllStringFunc(text, func(tag string) string {
			b, err := os.ReadFile(named.FindStringSubmatch(tag)[1])
			if err != nil {
				return tag
			}
			return string(b)
		})
	}
	return texts
}

func (l *loopback) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b, _ := io.ReadAll(req.Body)
	var body map[string]any
	_ = json.NewDecoder(bytes.NewReader(b)).Decode(&body)
	if req.Method == http.MethodPost && body != nil {
		texts := withFiles(allStrings(body))
		l.mu.Lock()
		l.posts = append(l.posts, texts)
		l.mu.Unlock()
	}
	stream := body["stream"] == true || strings.Contains(req.URL.Path, "streamGenerate")
	events, plain := answer(req.URL.Path)
	if !stream || events == nil {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, plain)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if kind, data, ok := strings.Cut(e, " "); ok && !strings.HasPrefix(e, "{") {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		} else {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

// answer is "ok" as the API behind a path says it.
func answer(path string) (events []string, plain string) {
	switch {
	case strings.Contains(path, "ount"):
		return nil, `{"input_tokens":1,"totalTokens":1}`
	case strings.HasSuffix(path, "/messages"):
		m := `{"id":"m","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
		return []string{
			`message_start {"type":"message_start","message":` + fmt.Sprintf(m, "", "null") + `}`,
			`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
			`content_block_stop {"type":"content_block_stop","index":0}`,
			`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}`,
			`message_stop {"type":"message_stop"}`,
		}, fmt.Sprintf(m, `{"type":"text","text":"ok"}`, `"end_turn"`)
	case strings.HasSuffix(path, "/responses"):
		item := `{"id":"i","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}`
		done := `{"id":"r","object":"response","status":"completed","output":[` + item + `],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`
		return []string{
			`response.created {"type":"response.created","response":{"id":"r"}}`,
			`response.output_item.done {"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
			`response.completed {"type":"response.completed","response":` + done + `}`,
		}, done
	case strings.HasSuffix(path, "/chat/completions"):
		part := `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
		return []string{fmt.Sprintf(part, `{"role":"assistant","content":"ok"}`, "null"), fmt.Sprintf(part, "{}", `"stop"`), "[DONE]"},
			`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	case strings.Contains(path, "enerateContent"):
		ok := `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
		return []string{ok}, ok
	case strings.HasSuffix(path, "/models"):
		return nil, `{"object":"list","data":[{"id":"m","object":"model"}]}`
	}
	return nil, "{}"
}
