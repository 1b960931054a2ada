package harness

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Hooks is how an agent is told to say how it is.
type Hooks struct {
	HomeEnv string // environment variable that moves the agent's directory
	Home    string // that directory, below $HOME
	File    string // settings in it that we add to
	Shape   Shape
	Events  []HookEvent
	Late    bool   // it asks for bracketed paste before it takes any: it can be typed at once it has called a hook
	Note    string // what the user has to do besides, "" if nothing
}

// HookEvent ties one of the agent's events to the state that it means.
type HookEvent struct{ Event, Matcher, State string }

// Shape is how an agent writes its hooks down.
type Shape string

// The shapes. Groups: an event has groups, each with a matcher and a list of
// hooks. Flat: an event has a list of hooks. Plugin: a file of JavaScript.
const (
	Groups Shape = "groups"
	Flat   Shape = "flat"
	Plugin Shape = "plugin"
)

// hooksOf is what each agent's reference says of its hooks:
// claude https://code.claude.com/docs/en/hooks (2.1.197; PermissionRequest comes
// with the dialog, the notification seconds later; tools that may run beside each
// other are all asked about at once, and their dialogs shown one after the other),
// codex https://developers.openai.com/codex/hooks (0.171),
// gemini https://geminicli.com/docs/hooks/reference (0.61),
// opencode https://opencode.ai/docs/plugins (1.18),
// cursor https://cursor.com/docs/agent/hooks, which has none for a question,
// copilot https://docs.github.com/en/copilot/reference/hooks-reference (1.0.102).
var hooksOf = map[string]Hooks{
	"claude": {HomeEnv: "CLAUDE_CONFIG_DIR", Home: ".claude", File: "settings.json", Shape: Groups, Events: []HookEvent{
		{"SessionStart", "startup|resume|clear", "idle"}, {"UserPromptSubmit", "", "submitted"},
		{"PreToolUse", "AskUserQuestion|ExitPlanMode", "waiting"}, {"PermissionRequest", "", "asks"}, {"Elicitation", "", "waiting"},
		{"Notification", "permission_prompt|elicitation_dialog", "waiting"}, {"Notification", "idle_prompt", "idle"},
		{"PostToolUse", "", "answered"}, {"PostToolUseFailure", "", "answered"}, {"PostToolBatch", "", "running"}, {"ElicitationResult", "", "running"},
		{"Stop", "", "idle"}, {"StopFailure", "", "idle"}, {"SessionEnd", "", "idle"},
	}},
	"codex": {HomeEnv: "CODEX_HOME", Home: ".codex", File: "hooks.json", Shape: Groups, Events: []HookEvent{
		{"SessionStart", "", "idle"}, {"UserPromptSubmit", "", "submitted"}, {"PermissionRequest", "", "waiting"},
		{"PostToolUse", "", "running"}, {"Stop", "", "idle"},
	}, Note: "Codex runs no hook that its user has not reviewed: start codex and say /hooks"},
	"gemini": {Home: ".gemini", File: "settings.json", Shape: Groups, Late: true, Events: []HookEvent{
		{"SessionStart", "", "idle"}, {"BeforeAgent", "", "submitted"}, {"Notification", "ToolPermission", "waiting"},
		{"AfterTool", "", "running"}, {"AfterAgent", "", "idle"}, {"SessionEnd", "", "idle"},
	}},
	"opencode": {HomeEnv: "OPENCODE_CONFIG_DIR", Home: ".config/opencode", File: "plugins/gh-loop.js", Shape: Plugin, Late: true},
	"cursor": {Home: ".cursor", File: "hooks.json", Shape: Flat, Events: []HookEvent{
		{"sessionStart", "", "idle"}, {"beforeSubmitPrompt", "", "submitted"}, {"postToolUse", "", "running"}, {"stop", "", "idle"}, {"sessionEnd", "", "idle"},
	}, Note: "Cursor has no hook for a question to its user: it is never shown as waiting"},
	"copilot": {HomeEnv: "COPILOT_HOME", Home: ".copilot", File: "hooks/gh-loop.json", Shape: Flat, Events: []HookEvent{
		{"sessionStart", "", "idle"}, {"userPromptSubmitted", "", "submitted"}, {"notification", "permission_prompt|elicitation_dialog", "waiting"},
		{"postToolUse", "", "running"}, {"postToolUseFailure", "", "running"}, {"agentStop", "", "idle"}, {"sessionEnd", "", "idle"},
	}},
}

// HooksOf says how an agent's hooks are written down, if we know.
func HooksOf(name string) (Hooks, bool) {
	h, ok := hooksOf[name]
	return h, ok
}

// Path is the file that the hooks go to.
func (h Hooks) Path(getenv func(string) string, home string) string {
	dir := filepath.Join(home, h.Home)
	if moved := getenv(h.HomeEnv); h.HomeEnv != "" && filepath.IsAbs(moved) {
		dir = moved
	}
	return filepath.Join(dir, filepath.FromSlash(h.File))
}

// In says whether hooks of ours stand in an agent's settings, of any version.
func (h Hooks) In(text string) bool {
	if h.Shape == Plugin {
		return strings.Contains(text, `"hook", "harness"`)
	}
	var settings struct{ Hooks any }
	if json.Unmarshal([]byte(text), &settings) != nil {
		return speaks(text) // with comments, say
	}
	return speaks(encode(settings.Hooks))
}

// Current says whether our hooks stand there as they are written today, for
// whichever program. Of settings that are no plain JSON it is enough that each
// hook's command is in them.
func (h Hooks) Current(text string) bool {
	if h.Shape == Plugin {
		lines := func(text string) []string {
			return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.Contains(l, "const bin = ") })
		}
		return slices.Equal(lines(text), lines(plugin("")))
	}
	type hook struct {
		Matcher, Command string
		Hooks            []hook
	}
	var settings struct{ Hooks map[string][]hook }
	plain := json.Unmarshal([]byte(text), &settings) == nil
	for _, e := range h.Events {
		is := func(one hook) bool { return strings.Contains(one.Command, called+e.State+"'") }
		there := strings.Contains(text, encode(e.Event)) && strings.Contains(text, called+e.State+"'")
		if plain {
			there = slices.ContainsFunc(settings.Hooks[e.Event], func(at hook) bool {
				return at.Matcher == e.Matcher && (is(at) || slices.ContainsFunc(at.Hooks, is))
			})
		}
		if !there {
			return false
		}
	}
	return true
}

// Bare says that settings hold nothing but what hooks need around them.
func (h Hooks) Bare(text string) bool {
	var settings map[string]any
	if json.Unmarshal([]byte(text), &settings) != nil {
		return false
	}
	if h.Shape == Flat {
		delete(settings, "version")
	}
	return len(settings) == 0
}

// called is what stands in each of our hooks. Users call that as well, from hooks
// of their own; speaks says that a text has one of ours.
const called = " hook harness "

func speaks(text string) bool {
	return strings.Contains(text, called) && strings.Contains(text, "GH_LOOP_BIN")
}

// command is what the agent's shell runs. It works in every shell, prefers the
// program that started the session, and is silent where there is none any more.
func command(bin, state string) string {
	return `sh -c 'b=${GH_LOOP_BIN:-$0}; test ! -x "$b" || exec "$b"` + called + state + `' '` + strings.ReplaceAll(bin, "'", `'\''`) + "'"
}

// element is one hook as it stands in an event's list.
func (h Hooks) element(e HookEvent, bin string) string {
	run := command(bin, e.State)
	var v any
	switch {
	case h.Shape == Groups:
		v = struct {
			Matcher string `json:"matcher,omitempty"`
			Hooks   any    `json:"hooks"`
		}{e.Matcher, []any{struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		}{"command", run}}}
	default:
		v = struct {
			Matcher string `json:"matcher,omitempty"`
			Type    string `json:"type"`
			Command string `json:"command"`
		}{e.Matcher, "command", run}
	}
	return encode(v)
}

func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // what we made can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Add puts our hooks into an agent's settings, and says what it inserted
// where. Not a byte of the user's changes.
func (h Hooks) Add(text, bin string) (string, []Insert, error) {
	if h.Shape == Plugin {
		if text != "" {
			return "", nil, fmt.Errorf("a file of that name is there, and is not ours: rename it")
		}
		whole := plugin(bin)
		return whole, []Insert{{0, whole}}, nil
	}
	if strings.TrimSpace(text) == "" {
		start := "{}\n"
		if h.Shape == Flat {
			start = "{\n  \"version\": 1\n}\n"
		}
		whole, _, err := h.Add(start, bin)
		return whole + text, []Insert{{0, whole}}, err
	}
	var all []Insert
	for _, e := range h.Events {
		in, err := place(text, e.Event, h.element(e, bin))
		if err != nil {
			return "", nil, err
		}
		text = text[:in.At] + in.Text + text[in.At:]
		all = append(all, in)
	}
	return text, all, nil
}

// plugin is OpenCode's: it runs inside the agent, and tells what it sees. What
// subagents do is not the conversation's.
func plugin(bin string) string {
	return strings.ReplaceAll(`// Written by "gh loop hooks install opencode": tells gh-loop how this conversation is.
import { spawn } from "node:child_process"

export const GhLoop = async () => {
  const bin = process.env.GH_LOOP_BIN || PROGRAM
  if (!process.env.GH_LOOP_REF && !process.env.TMUX_PANE) return {}
  const children = new Set()
  let last = Promise.resolve()
  const say = (state, id, prompt) => {
    last = last.then(() => new Promise((done) => {
      const p = spawn(bin, ["hook", "harness", state], { stdio: ["pipe", "ignore", "ignore"] })
      p.on("error", done)
      p.on("close", done)
      p.stdin.on("error", () => {})
      p.stdin.end(JSON.stringify({ session_id: id, prompt }))
    }))
  }
  if (!globalThis.ghLoopTold) say("idle") // it shows its composer next
  globalThis.ghLoopTold = true
  return {
    event: async ({ event }) => {
      const at = event.properties ?? {}
      const id = at.sessionID ?? at.info?.id
      if (at.info?.parentID) children.add(at.info.id)
      if (children.has(id)) return
      switch (event.type) {
        case "session.created": return say("idle", id)
        case "permission.asked": case "question.asked": return say("waiting", id)
        case "permission.replied": case "question.replied": case "question.rejected": return say("running", id)
        case "session.idle": return say("idle", id)
      }
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      if (children.has(sessionID)) return
      say("submitted", sessionID, (parts ?? []).filter((p) => p.type === "text").map((p) => p.text).join("\n"))
    },
  }
}
`, "PROGRAM", encode(bin))
}
