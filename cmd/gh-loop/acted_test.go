package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/gh-loop/gh-loop/internal/harness"
)

// acted is a program that takes the arguments, shows a long paste, and calls
// the hooks in its own settings, as one agent's reference says of it.
type acted struct {
	name, program           string
	id                      string // how a conversation's id looks that it chooses; "" if it takes ours
	start, resume           string // arguments: ID and PROMPT stand for these; what is between parentheses may be missing
	fold                    string // %d are the lines
	key                     string // of the id in what hooks are told
	begun, sent, asks, done string // its events, "" if it has none; after "=" what the matcher is compared with
	kind                    string // notification_type of asks
}

var actors = []acted{
	{name: "claude", program: "claude", start: "--session-id ID( PROMPT)", resume: "--resume ID( PROMPT)", fold: "[Pasted text #1 +%d lines]", key: "session_id",
		begun: "SessionStart=startup", sent: "UserPromptSubmit", asks: "PermissionRequest=Bash", done: "PostToolUse=Bash"},
	{name: "codex", program: "codex", id: "0199-%s", start: "(PROMPT)", resume: "resume ID( PROMPT)", fold: "[Pasted Content %d chars]", key: "session_id",
		begun: "SessionStart=startup", sent: "UserPromptSubmit", asks: "PermissionRequest=Bash", done: "PostToolUse=Bash"},
	{name: "gemini", program: "gemini", start: "--session-id ID( --prompt-interactive=PROMPT)", resume: "--resume ID( --prompt-interactive=PROMPT)", fold: "[Pasted Text: %d lines]", key: "session_id",
		begun: "SessionStart=startup", sent: "BeforeAgent", asks: "Notification=ToolPermission", done: "AfterTool=run_shell_command", kind: "ToolPermission"},
	{name: "opencode", program: "opencode", id: "ses_%s", start: "(--prompt=PROMPT)", resume: "--session ID( --prompt=PROMPT)", fold: "[Pasted ~%d lines]", key: "session_id",
		begun: "idle", sent: "submitted", asks: "waiting", done: "running"},
	{name: "cursor", program: "cursor-agent", id: "c-%s", start: "(PROMPT)", resume: "--resume=ID( PROMPT)", fold: "[Pasted text #1 +%d lines]", key: "conversation_id",
		begun: "sessionStart", sent: "beforeSubmitPrompt", done: "postToolUse"},
	{name: "copilot", program: "copilot", start: "--session-id=ID( --interactive=PROMPT)", resume: "--resume=ID( --interactive=PROMPT)", fold: "[Paste #1 - %d lines]", key: "sessionId",
		begun: "sessionStart", sent: "userPromptSubmitted", asks: "notification=permission_prompt", done: "postToolUse=bash", kind: "permission_prompt"},
}

// actorCommands are the agents' programs, for testscript.
func actorCommands(all map[string]func()) map[string]func() {
	for _, a := range actors {
		all[a.program] = a.main
	}
	return all
}

// read takes the arguments in their documented order, and no others.
func (a acted) read(pattern string, args []string) (id, prompt string, ok bool) {
	line := regexp.QuoteMeta(strings.ReplaceAll(pattern, " ", "\x00"))
	line = strings.NewReplacer(`\(`, "(?:", `\)`, ")?", "ID", "(?P<id>[^\x00]+)", "PROMPT", "(?P<prompt>[^\x00]*)").Replace(line)
	re := regexp.MustCompile("(?s)^" + line + "$")
	m := re.FindStringSubmatch(strings.Join(args, "\x00"))
	if m == nil {
		return "", "", false
	}
	if i := re.SubexpIndex("id"); i > 0 {
		id = m[i]
	}
	return id, m[re.SubexpIndex("prompt")], true
}

func (a acted) main() {
	dir, args := os.Getenv("STUB_DIR"), os.Args[1:]
	s := started{Mode: "session-id", Ref: os.Getenv("GH_LOOP_REF"), Item: os.Getenv("GH_LOOP_ITEM"), Role: os.Getenv("GH_LOOP_ROLE"), Pane: os.Getenv("TMUX_PANE")}
	var ok bool
	if s.ID, s.Prompt, ok = a.read(a.resume, args); ok {
		s.Mode = "resume"
		if _, err := os.Stat(filepath.Join(dir, "ready."+s.ID)); err != nil {
			fail(fmt.Errorf("%s knows no conversation %q", a.name, s.ID))
		}
	} else if s.ID, s.Prompt, ok = a.read(a.start, args); !ok {
		fail(fmt.Errorf("%s got %q", a.name, args))
	} else if a.id != "" {
		s.ID = fmt.Sprintf(a.id, uuid.NewString()[:8])
	} else if uuid.Validate(s.ID) != nil {
		fail(fmt.Errorf("%s takes UUIDs, and got %q", a.name, s.ID))
	}
	s.Cwd, _ = os.Getwd()
	line, err := json.Marshal(s)
	if err != nil {
		fail(err)
	}
	note(dir, "starts.jsonl", append(line, '\n'))
	poll(func() bool { return !mode(dir, "slow") })
	if _, err := term.MakeRaw(0); err != nil {
		fail(err)
	}
	fmt.Print("\x1b[?1049h\x1b[?2004h")
	a.load(dir, s.ID)
	note(dir, "ready."+s.ID, nil)
	a.call(a.begun, s.ID, "")
	poll(func() bool { return !mode(dir, "blank") })
	if s.Prompt != "" {
		a.call(a.sent, s.ID, s.Prompt)
	}
	a.listen(dir, s.ID)
	os.Exit(0)
}

// load is a composer that shows what is pasted while the agent is not ready yet,
// and loses it.
func (a acted) load(dir, id string) {
	typed := make([]byte, 1<<16)
	for mode(dir, "loads") {
		if n, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, 5); err != nil || n == 0 {
			continue
		}
		n, err := os.Stdin.Read(typed)
		if err != nil {
			return
		}
		note(dir, "lost."+id, typed[:n])
		a.show(strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "", "\r", "").Replace(string(typed[:n])))
	}
}

// listen is a composer that folds long pastes, and a dialog that takes every
// key for its answer. The terminal hands a paste over in pieces.
func (a acted) listen(dir, id string) {
	var draft strings.Builder
	asking, pending, typed := false, "", make([]byte, 1<<16)
	for {
		n, err := os.Stdin.Read(typed)
		if err != nil || string(typed[:n]) == "\x04" {
			return
		}
		switch {
		case asking:
			note(dir, "answers."+id, typed[:n])
			asking = false
			fmt.Print("\r\nanswered\r\n")
			a.call(a.done, id, "")
			continue
		case string(typed[:n]) == "P":
			asking = true
			fmt.Print("\r\nAllow this? y/n ")
			a.call(a.asks, id, "")
			continue
		}
		note(dir, "in."+id, typed[:n])
		pending += string(typed[:n])
		for pending != "" {
			switch begin, end := strings.HasPrefix(pending, "\x1b[200~"), strings.Index(pending, "\x1b[201~"); {
			case begin && end < 0:
				n = 0
			case begin:
				draft.WriteString(pending[6:end])
				a.show(pending[6:end])
				n = end + 6
			case pending[0] == '\r':
				fmt.Print("\r\n> " + strings.ReplaceAll(draft.String(), "\n", "\r\n") + "\r\n")
				a.call(a.sent, id, draft.String())
				draft.Reset()
				n = 1
			default:
				draft.WriteByte(pending[0])
				n = 1
			}
			if n == 0 {
				break
			}
			pending = pending[n:]
		}
	}
}

func (a acted) show(pasted string) {
	lines := strings.Count(pasted, "\n") + 1
	if lines > 20 {
		fmt.Printf("\r\n> "+a.fold, lines)
		return
	}
	fmt.Print("\r\n> " + strings.ReplaceAll(pasted, "\n", "\r\n"))
}

// call runs what stands for an event in the agent's own settings, as its
// reference says. OpenCode's plugin needs its own engine: it is called directly.
func (a acted) call(event, id, prompt string) {
	if event == "" {
		return
	}
	told := map[string]any{a.key: id, "hook_event_name": event}
	if prompt != "" {
		told["prompt"] = prompt
	}
	if a.kind != "" && event == a.asks {
		told["notification_type"] = a.kind
	}
	payload, err := json.Marshal(told)
	if err != nil {
		fail(err)
	}
	for _, command := range a.commands(event) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Stdin = strings.NewReader(string(payload))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			fail(fmt.Errorf("a hook must be silent: %q, %w", out, err))
		}
	}
}

func (a acted) commands(event string) []string {
	if a.name == "opencode" {
		return []string{`"$GH_LOOP_BIN" hook harness ` + event}
	}
	h, _ := harness.HooksOf(a.name)
	b, err := os.ReadFile(h.Path(os.Getenv, os.Getenv("HOME")))
	if err != nil {
		fail(err)
	}
	type hook struct {
		Matcher, Command string
		Hooks            []struct{ Command string }
	}
	var settings struct{ Hooks map[string][]hook }
	if err := json.Unmarshal(b, &settings); err != nil {
		fail(err)
	}
	name, of, _ := strings.Cut(event, "=")
	var out []string
	for _, h := range settings.Hooks[name] {
		if h.Matcher != "" && !regexp.MustCompile("^(?:"+h.Matcher+")$").MatchString(of) {
			continue
		}
		if h.Command != "" {
			out = append(out, h.Command)
		}
		for _, x := range h.Hooks {
			out = append(out, x.Command)
		}
	}
	return out
}

// Each adapter drives a program that behaves as that agent's
// reference says: argument order, whose id, resume, a slow start, long pastes
// that are folded, and a dialog that any key would answer.
func TestAdapters(t *testing.T) {
	dir := t.TempDir()
	for _, a := range actors {
		text := strings.ReplaceAll(adapterStory, "NAME", a.name)
		if a.asks == "" { // it never says that it asks
			text = text[:strings.Index(text, "# It asks")] + text[strings.Index(text, "# It ends"):]
		}
		if err := os.WriteFile(filepath.Join(dir, a.name+".txtar"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Setup: func(env *testscript.Env) error { return newWorld(env, bin) }, Cmds: commands(), RequireUniqueNames: true,
	})
}

const adapterStory = `
config 'routing.defaultHarness = "NAME"'
gh-loop hooks install NAME
stub slow
gh-loop start 15 --cwd work --prompt 'begin with -this'
json -s stub/starts.jsonl .[0].Prompt 'begin with -this'
feed d-1 comment -issue 15 -text 'too early'
fate held:harness-waiting
stub
waitfor arrived 'too early' 15
waitfor record 15 '.harnessSessionId|length>4' true
setvar I record:15 .harnessSessionId
json -s stub/starts.jsonl .[0].ID $I
waitfor logged '[.[]|select(.what=="confirmed" and .delivery=="d-1")]|length' 1

feed d-2 comment -issue 15 -text '--yolo'
fate delivered:pasted
arrived --yolo 15
feed d-3 comment -issue 15 -e -text '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\nand the end of it'
fate delivered:pasted
arrived 'and the end of it' 15
waitfor logged '[.[]|select(.what=="confirmed" and .delivery=="d-3")]|length' 1

# It asks, and what is typed would be the answer.
exec tmux send-keys -t =loop-github-octo-repo-15: P
waitfor tmux waiting display-message -p -t =loop-github-octo-repo-15: '#{@loop_state}'
feed d-4 comment -issue 15 -text 'while it asks'
fate held:harness-waiting
nowhere 'while it asks'
exec tmux send-keys -t =loop-github-octo-repo-15: y
waitfor arrived 'while it asks' 15
grep '^y$' stub/answers.$I

# It ends, and goes on where it was.
exec tmux send-keys -t =loop-github-octo-repo-15: C-d
waitfor tmux 1 display-message -p -t =loop-github-octo-repo-15: '#{pane_dead}'
feed d-5 comment -issue 15 -text '-and on it goes'
fate delivered:respawned
arrived 'and on it goes' 15
json -s stub/starts.jsonl .[-1].Mode resume
json -s stub/starts.jsonl .[-1].ID $I
record 15 .harnessSessionId $I
waitfor tidy
`
