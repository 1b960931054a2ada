package harness

import "time"

// SubmitDelay is what lies between text and Return unless an adapter says otherwise:
// pasted and submitted at once, Claude Code 2.1 lost half of the submits.
const SubmitDelay = 150 * time.Millisecond

// Builtin gives the harnesses that need no configuration, by name. bin is this
// program's own path: it is the echo agent as well.
//
// Where no {id} is in start, the agent chooses the conversation's id itself;
// its resume list is then only for an id that was learnt from it. What each
// takes is from its own reference:
// claude https://code.claude.com/docs/en/cli-reference,
// codex https://developers.openai.com/codex/cli/reference,
// gemini https://geminicli.com/docs/cli/cli-reference,
// opencode https://opencode.ai/docs/cli,
// cursor https://cursor.com/docs/cli/reference/parameters,
// copilot https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-command-reference.
func Builtin(bin string) map[string]Adapter {
	table := []Adapter{
		{Name: "claude",
			Start:  []string{"claude", "--session-id", "{id}", "{prompt}"},
			Resume: []string{"claude", "--resume", "{id}", "{prompt}"}},
		{Name: "codex",
			Start:  []string{"codex", "{prompt}"},
			Resume: []string{"codex", "resume", "{id}", "{prompt}"}},
		{Name: "gemini",
			Start:  []string{"gemini", "--prompt-interactive={prompt}"},
			Resume: []string{"gemini", "--resume", "{id}", "--prompt-interactive={prompt}"}},
		{Name: "opencode",
			Start:  []string{"opencode", "--prompt={prompt}"},
			Resume: []string{"opencode", "--session", "{id}", "--prompt={prompt}"}},
		{Name: "cursor",
			Start:  []string{"cursor-agent", "{prompt}"},
			Resume: []string{"cursor-agent", "--resume={id}", "{prompt}"}},
		{Name: "copilot",
			Start:  []string{"copilot", "--interactive={prompt}"},
			Resume: []string{"copilot", "--resume={id}", "--interactive={prompt}"}},
		{Name: "echo",
			Start:  []string{bin, "echo", "--session-id", "{id}", "{prompt}"},
			Resume: []string{bin, "echo", "--resume", "{id}", "{prompt}"}},
	}
	out := make(map[string]Adapter, len(table))
	for _, a := range table {
		a.SubmitDelay = SubmitDelay
		out[a.Name] = a
	}
	return out
}
