package harness

import (
	"encoding/json"
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// settings that people have, to which hooks are added.
var written = map[string]string{
	"none":       "",
	"blank":      " \n",
	"empty":      "{}",
	"empty, \n":  "{ }\n",
	"no hooks":   "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
	"no list":    "{\n    \"hooks\": {},\n    \"x\": [1, 2.5e3, true, null]\n}",
	"some":       "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say \\\"done\\\" }]\"}]}],\"stop\":[]},\"z\":\"\\u007b\\\\\"}",
	"tabs, CRLF": "{\r\n\t\"hooks\": {\r\n\t\t\"Notification\": [\r\n\t\t\t{ \"matcher\": \"\", \"hooks\": [] }\r\n\t\t]\r\n\t}\r\n}\r\n",
	"version":    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      {\"command\": \"./mine.sh\"}\n    ]\n  }\n}\n",
}

// Hooks are only added, and undone exactly.
func TestHooksAddedAndUndone(t *testing.T) {
	for name, h := range hooksOf {
		for what, before := range written {
			if h.Shape == Plugin && before != "" {
				continue
			}
			after, inserts, err := h.Add(before, "/opt/it's here/gh-loop")
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			if h.Shape != Plugin {
				if !json.Valid([]byte(after)) {
					t.Fatalf("%s, %s: no JSON: %s", name, what, after)
				}
				for _, e := range h.Events {
					if !strings.Contains(after, encode(e.Event)) || !strings.Contains(after, "hook harness "+e.State) {
						t.Errorf("%s, %s: %+v is missing in %s", name, what, e, after)
					}
				}
			}
			if back, err := Undo(after, inserts); err != nil || back != before {
				t.Errorf("%s, %s: undone to %q, %v", name, what, back, err)
			}
			if again, err := Undo(strings.Replace(after, "opus", "a longer word", 1), inserts); err != nil || again != strings.Replace(before, "opus", "a longer word", 1) {
				t.Errorf("%s, %s: undone after a change to %q, %v", name, what, again, err)
			}
		}
	}
}

// Hooks count as current however the agent writes its settings, and only if they
// are whole and as they are written today.
func TestHooksCurrent(t *testing.T) {
	for name, h := range hooksOf {
		text, _, err := h.Add("", "/opt/gh-loop")
		if err != nil {
			t.Fatal(err)
		}
		if !h.In(text) || !h.Current(text) || h.Bare(text) {
			t.Errorf("%s: what is written today is not current: %s", name, text)
		}
		if h.Shape == Plugin {
			if old := strings.Replace(text, `say("idle")`, `say("running")`, 1); !h.In(old) || h.Current(old) {
				t.Errorf("%s: another version counts as current", name)
			}
			if other := plugin("/elsewhere/gh-loop"); !h.Current(other) {
				t.Errorf("%s: it is another version for another program", name)
			}
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		anew, err := json.MarshalIndent(v, "", "\t")
		if err != nil || !h.Current(string(anew)) {
			t.Errorf("%s: written anew it is not current: %s, %v", name, anew, err)
		}
		for _, e := range h.Events {
			for what, old := range map[string]string{
				"event":   strings.ReplaceAll(text, encode(e.Event), `"Renamed"`),
				"state":   strings.ReplaceAll(text, called+e.State+"'", called+"busy'"),
				"program": strings.ReplaceAll(text, called, " something "),
			} {
				if h.Current(old) {
					t.Errorf("%s: without the %s of %+v it counts as current", name, what, e)
				}
			}
			if e.Matcher != "" && h.Current(strings.ReplaceAll(text, encode(e.Matcher), `"Other"`)) {
				t.Errorf("%s: without the matcher of %+v it counts as current", name, e)
			}
		}
		if bare, err := Strip(text); err != nil || !h.Bare(bare) || h.In(bare) {
			t.Errorf("%s: not bare without hooks: %q, %v", name, bare, err)
		}
		for _, none := range []string{"", "{", "[]", "null", `{"hooks":[]}`, `{"hooks":{"Stop":[{"command":"gh-loop hook harness idle"}]}}`} {
			if h.In(none) || h.Current(none) {
				t.Errorf("%s: %q counts as hooks of ours", name, none)
			}
		}
		if by := "// put here by hand\n" + text; !h.In(by) || !h.Current(by) || h.Current(strings.Replace(by, h.Events[0].Event, "Renamed", 1)) {
			t.Errorf("%s: what stands among comments is not looked at", name)
		}
		escaped := strings.ReplaceAll(text, "GH_LOOP_BIN", `\u0047H_LOOP_BIN`)
		if bare, err := Strip(escaped); err != nil || !h.In(escaped) || !h.Bare(bare) {
			t.Errorf("%s: escaped they are not taken out: %q, %v", name, bare, err)
		}
	}
}

// What is remembered may be damaged.
func TestUndoDamaged(t *testing.T) {
	for _, in := range []Insert{{At: -5, Text: "x"}, {At: 1 << 40, Text: "x"}, {At: -1, Text: "not there"}} {
		got, err := Undo("axb", []Insert{in})
		if want := "ab"; in.Text == "x" && (err != nil || got != want) {
			t.Errorf("%+v: %q, %v, want %q", in, got, err, want)
		}
		if in.Text != "x" && err == nil {
			t.Errorf("%+v was undone to %q", in, got)
		}
	}
}

// What the agent wrote anew since is freed of our hooks, and of nothing else.
func TestHooksStripped(t *testing.T) {
	for name, h := range hooksOf {
		for what, before := range written {
			if h.Shape == Plugin {
				continue
			}
			after, _, err := h.Add(before, "/opt/gh-loop")
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal([]byte(after), &v); err != nil {
				t.Fatal(err)
			}
			anew, err := json.MarshalIndent(v, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			bare, err := Strip(string(anew))
			if err != nil || strings.Contains(bare, called) {
				t.Fatalf("%s, %s: %v: %s", name, what, err, bare)
			}
			if want := lean(before); !reflect.DeepEqual(lean(bare), want) && want != nil {
				t.Errorf("%s, %s: %v, want %v", name, what, lean(bare), want)
			}
		}
	}
	mixed := `{"hooks":{"Stop":[{"hooks":[{"command":"mine"},{"command":"b=${GH_LOOP_BIN:-$0} hook harness idle"}]}]}}`
	if got, err := Strip(mixed); err != nil || got != `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}` {
		t.Errorf("%s, %v", got, err)
	}
}

// lean is settings without what is empty in their hooks.
func lean(text string) any {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	if hooks, ok := v["hooks"].(map[string]any); ok {
		maps.DeleteFunc(hooks, func(_ string, list any) bool { return reflect.DeepEqual(list, []any{}) })
		if len(hooks) == 0 {
			delete(v, "hooks")
		}
	}
	return v
}

func TestHooksRefused(t *testing.T) {
	for _, text := range []string{"{", "[]", "null", "1", "{\"hooks\": 1}", "{\"hooks\": {\"Stop\": {}}}", "// mine\n{}", "{} {}"} {
		if after, _, err := hooksOf["claude"].Add(text, "/x"); err == nil {
			t.Errorf("%s: became %s", text, after)
		}
	}
	if _, _, err := hooksOf["opencode"].Add("export const Mine = 1", "/x"); err == nil {
		t.Error("somebody's plugin was overwritten")
	}
}

// Any JSON object takes hooks and gives every byte back.
func TestHooksLaw(t *testing.T) {
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }))
	list := rapid.Map(rapid.SliceOfN(leaf, 0, 3), func(l []any) any { return l })
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOfN(rapid.String(), rapid.OneOf(leaf, list), 0, 4).Draw(t, "settings")
		if delete(v, "hooks"); rapid.Bool().Draw(t, "has hooks") {
			hooks := map[string]any{}
			for _, e := range rapid.SliceOf(rapid.SampledFrom([]string{"Stop", "Notification", "stop", "other"})).Draw(t, "events") {
				hooks[e] = list.Draw(t, "list")
			}
			v["hooks"] = hooks
		}
		indent := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent")
		b, err := json.MarshalIndent(v, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		before := string(b)
		name := rapid.SampledFrom([]string{"claude", "cursor", "copilot", "gemini", "codex"}).Draw(t, "agent")
		after, inserts, err := hooksOf[name].Add(before, "/opt/gh-loop")
		if err != nil || !json.Valid([]byte(after)) {
			t.Fatalf("%v: %s", err, after)
		}
		if back, err := Undo(after, inserts); err != nil || back != before {
			t.Fatalf("undone to %q, %v", back, err)
		}
		if bare, err := Strip(after); err != nil || strings.Contains(bare, called) || !json.Valid([]byte(bare)) {
			t.Fatalf("stripped to %q, %v", bare, err)
		}
	})
}

// Foreign settings never make us panic, and what comes out is JSON.
func FuzzHooks(f *testing.F) {
	for _, text := range slices.Sorted(maps.Values(written)) {
		f.Add(text)
	}
	f.Add(`{"hooks":{"Stop":[1,"GH_LOOP_BIN hook harness ",{"hooks":{"hooks":1}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		after, inserts, err := hooksOf["claude"].Add(text, "/x")
		if err != nil {
			return
		}
		if back, err := Undo(after, inserts); err != nil || back != text || !json.Valid([]byte(after)) {
			t.Fatalf("%q: %q, %v", text, back, err)
		}
		if bare, err := Strip(after); err != nil || !json.Valid([]byte(bare)) {
			t.Fatalf("%q: %q, %v", text, bare, err)
		}
	})
}

// The command works in whatever shell an agent uses, and does nothing where
// there is no gh-loop any more.
func TestHookCommand(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for bin, want := range map[string]string{"/no/gh-loop": "", "/bin/echo": "hook harness idle\n"} {
			cmd := exec.Command(path, "-c", command(bin, "idle"))
			cmd.Env = []string{"PATH=/bin:/usr/bin"}
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%s, %s: %q, %v", shell, bin, out, err)
			}
			cmd = exec.Command(path, "-c", command("/no/gh-loop", "idle"))
			cmd.Env = []string{"PATH=/bin:/usr/bin", "GH_LOOP_BIN=" + bin}
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%s, GH_LOOP_BIN=%s: %q, %v", shell, bin, out, err)
			}
		}
	}
}
