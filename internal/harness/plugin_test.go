package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenCode's plugin is run as OpenCode does, where there is node: what it tells of
// a conversation, and not of its subagents.
func TestPlugin(t *testing.T) {
	dir := t.TempDir()
	said, bin := filepath.Join(dir, "said"), filepath.Join(dir, "it's a gh-loop")
	text := plugin(bin)
	if !strings.Contains(text, `process.env.GH_LOOP_BIN || "`+bin+`"`+"\n") {
		t.Errorf("it does not call %q:\n%s", bin, text)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is installed")
	}
	drive := `
const { GhLoop } = await import("./gh-loop.mjs")
const p = await GhLoop({}), again = await GhLoop({})
const tell = (type, properties) => p.event({ event: { type, properties } })
await tell("plugin.added", {})
await tell("session.created", { info: { id: "ses_1" } })
await p["chat.message"]({ sessionID: "ses_1" }, { parts: [{ type: "text", text: "do it" }, { type: "file" }, { type: "text", text: "end abc" }] })
await tell("session.created", { info: { id: "ses_2", parentID: "ses_1" } })
await p["chat.message"]({ sessionID: "ses_2" }, { parts: [{ type: "text", text: "a subagent's" }] })
await tell("session.idle", { sessionID: "ses_2" })
await tell("permission.asked", { sessionID: "ses_1" })
await tell("permission.replied", { sessionID: "ses_1" })
await tell("session.idle", { sessionID: "ses_1" })
`
	for name, content := range map[string]string{
		"gh-loop.mjs": text, "drive.mjs": drive, filepath.Base(bin): "#!/bin/sh\n{ echo \"$*\"; cat; echo; } >>\"$SAID\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	run := func(env ...string) string {
		t.Helper()
		_ = os.Remove(said)
		cmd := exec.Command(node, "drive.mjs")
		cmd.Dir, cmd.Env = dir, append(env, "SAID="+said, "PATH="+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		b, _ := os.ReadFile(said)
		return string(b)
	}
	want := "hook harness idle\n{}\nhook harness idle\n{\"session_id\":\"ses_1\"}\n" +
		"hook harness submitted\n{\"session_id\":\"ses_1\",\"prompt\":\"do it\\nend abc\"}\n" +
		"hook harness waiting\n{\"session_id\":\"ses_1\"}\nhook harness running\n{\"session_id\":\"ses_1\"}\nhook harness idle\n{\"session_id\":\"ses_1\"}\n"
	if got := run("GH_LOOP_REF=github:octo/repo#15"); got != want {
		t.Errorf("it said\n%s, want\n%s", got, want)
	}
	if got := run("TMUX_PANE=%1", "GH_LOOP_BIN=/bin/true"); got != "" {
		t.Errorf("it did not call the program that started it, but said %s", got)
	}
	_ = os.WriteFile(filepath.Join(dir, "drive.mjs"), []byte(`const { GhLoop } = await import("./gh-loop.mjs"); if (Object.keys(await GhLoop({})).length) throw 1`), 0o600)
	if got := run(); got != "" {
		t.Errorf("outside tmux it said %s", got)
	}
}
