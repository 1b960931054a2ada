package harness

import "time"

// SubmitDelay is what lies between the text, once it is seen, and Return, unless an adapter
// says otherwise: pasted and submitted at once, Claude Code 2.1 lost half of the submits.
const SubmitDelay = 150 * time.Millisecond

// Builtin gives the harnesses that need no configuration, by name. bin is this
// program's own path: it is the echo agent as well.
//
// Where no {id} is in start, the agent chooses the conversation's id itself;
// its resume list is then only for the id that its own hook tells (see Hooks).
// What each takes is from its own help, in the version that Since names, or its reference:
// claude https://code.claude.com/docs/en/cli-reference;
// codex https://developers.openai.com/codex/cli/reference;
// gemini https://geminicli.com/docs/cli/cli-reference;
// opencode https://opencode.ai/docs/cli;
// cursor https://cursor.com/docs/cli/reference/parameters, not tried;
// copilot https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-command-reference.
// docs/agents.md has what was measured.
func Builtin(bin string) map[string]Adapter {
	table := []Adapter{
		{Name: "claude", Since: "2.1.197", Folded: `\[Pasted text #\d+`,
			Start:  []string{"claude", "--session-id", "{id}", "{prompt}"},
			Resume: []string{"claude", "--resume", "{id}", "{prompt}"}},
		{Name: "codex", Since: "0.171.0", Folded: `\[Pasted Content \d+ chars`,
			Start:  []string{"codex", "{prompt}"},
			Resume: []string{"codex", "resume", "{id}", "{prompt}"}},
		{Name: "gemini", Since: "0.61.0", Folded: `\[Pasted Text: \d+ `, SubmitDelay: time.Second, // see tmux.Deliver: it is slow to forget a paste
			Start:  []string{"gemini", "--session-id", "{id}", "--prompt-interactive={prompt}"},
			Resume: []string{"gemini", "--resume", "{id}", "--prompt-interactive={prompt}"}},
		{Name: "opencode", Since: "1.18.33", Folded: `\[Pasted ~\d+ lines`,
			Start:  []string{"opencode", "--prompt={prompt}"},
			Resume: []string{"opencode", "--session", "{id}", "--prompt={prompt}"}},
		{Name: "cursor", Folded: `\[Pasted text #\d+`,
			Start:  []string{"cursor-agent", "{prompt}"},
			Resume: []string{"cursor-agent", "--resume={id}", "{prompt}"}},
		{Name: "copilot", Since: "1.0.102", Folded: `\[Paste #\d+ - |\[Saved pasted content to workspace `,
			Start:  []string{"copilot", "--session-id={id}", "--interactive={prompt}"},
			Resume: []string{"copilot", "--resume={id}", "--interactive={prompt}"}},
		{Name: "echo",
			Start:  []string{bin, "echo", "--session-id", "{id}", "{prompt}"},
			Resume: []string{bin, "echo", "--resume", "{id}", "{prompt}"}},
	}
	out := make(map[string]Adapter, len(table))
	for _, a := range table {
		if a.SubmitDelay == 0 {
			a.SubmitDelay = SubmitDelay
		}
		out[a.Name] = a
	}
	return out
}
