package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"sync"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Payload is what a harness tells the hooks that it calls.
type Payload struct {
	ID     string // of the conversation, "" if none that is usable was told
	Prompt string // what was submitted
	Kind   string // of a notification
	Tool   string // the tool that is asked about, or ran, and what it was to do, as eight hex digits; "" if none was told
	Why    string // why the harness stopped or ended, in its own words: "rate_limit", "prompt_input_exit"
}

// ReadPayload reads the JSON object that a harness hands to its hooks. The
// names are those of Claude Code, Codex and Gemini (session_id), Copilot
// (sessionId), Cursor (conversation_id), and Codex's notify (thread-id). What is no such object tells nothing.
func ReadPayload(b []byte) Payload {
	var p struct {
		SessionID string `json:"session_id"`
		Session   string `json:"sessionId"`
		Chat      string `json:"conversation_id"`
		Thread    string `json:"thread-id"`
		Prompt    string `json:"prompt"`
		Kind      string `json:"notification_type"`
		Reason    string `json:"reason"`
		Error     any    `json:"error"`
		Tool      string `json:"tool_name"`
		Input     any    `json:"tool_input"`
	}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(b, &p); err != nil && !errors.As(err, &mismatch) {
		return Payload{}
	}
	out := Payload{Prompt: p.Prompt, Kind: clean(p.Kind), Why: clean(p.Reason)}
	if b, err := json.Marshal([]any{p.Tool, p.Input}); err == nil && p.Tool != "" { // by Marshal, keys have one order
		sum := sha256.Sum256(b)
		out.Tool = hex.EncodeToString(sum[:4])
	}
	for _, id := range []string{p.SessionID, p.Session, p.Chat, p.Thread} {
		if work.UsableID(id) {
			out.ID = id
			break
		}
	}
	if why, ok := p.Error.(string); ok && why != "" {
		out.Why = clean(why)
	}
	return out
}

// nonce is how a message of ours ends (rule 47).
var nonce = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` end ([A-Za-z0-9]{1,16})\s*$`) })

// Nonce is the nonce of the delivery that was submitted, "" if the prompt is
// none of ours.
func (p Payload) Nonce() string {
	if m := nonce().FindStringSubmatch(p.Prompt); m != nil {
		return m[1]
	}
	return ""
}

// State is what a state that a hook reports comes to, given what the harness
// tells beside it. "" is no news. Claude Code's notifications are of several
// kinds, of which one says that nothing happens any more.
func (p Payload) State(reported string) string {
	switch {
	case reported == "submitted", reported == "answered":
		return "running"
	case reported == "asks":
		return "waiting"
	case reported != "waiting":
		return reported
	}
	switch p.Kind {
	case "idle_prompt":
		return "idle"
	case "auth_success", "elicitation_complete", "elicitation_response":
		return ""
	}
	return "waiting"
}
