// Package loop is the policy: records, an event and settings go in, what
// should happen comes out, as values. It asks the world nothing, so that the
// same input always gives the same answer.
package loop

import "github.com/gh-loop/gh-loop/internal/work"

// Fate is what became of an event for one record (rule 26).
type Fate string

// The fates.
const (
	Delivered Fate = "delivered"
	Settled   Fate = "settled" // refused or consumed on purpose: never again
	Held      Fate = "held"    // accepted, waiting for something
	Failed    Fate = "failed"  // not accepted
)

// How says in which way a delivery arrived.
type How string

// The ways.
const (
	Pasted    How = "pasted"
	Spawned   How = "spawned"
	Respawned How = "respawned"
	Fallback  How = "fallback" // at the item's session, as the pull request has none to be had
)

// Reason says why, in a fixed list of words that scripts may rely on.
type Reason string

// The reasons.
const (
	Duplicate        Reason = "duplicate"
	NoRef            Reason = "no-ref"
	Unmatched        Reason = "unmatched"
	AwaitingStart    Reason = "awaiting-start"
	Unauthorized     Reason = "unauthorized"
	OwnText          Reason = "own-text"
	PausedItem       Reason = "paused"
	Control          Reason = "control"
	ControlAmbiguous Reason = "control-ambiguous"
	ControlRejected  Reason = "control-rejected"
	ClosedItem       Reason = "closed-item"
	ClosedEndpoint   Reason = "closed-endpoint"
	KeptOpen         Reason = "kept-open"
	Reopened         Reason = "reopened"
	NothingToClose   Reason = "nothing-to-close"
	DeclinedTree     Reason = "declined-tree"
	DeclinedName     Reason = "declined-name"
	SpawnFailed      Reason = "spawn-failed"
	TmuxSilent       Reason = "tmux-silent"
	HarnessWaiting   Reason = "harness-waiting"
	RecordDamaged    Reason = "record-damaged"
	IgnoredEvent     Reason = "ignored-event"
)

// Final says whether a refusal rests on the event alone, so that nothing that
// happens before it is handled can change it.
func (r Reason) Final() bool { return r == Unauthorized || r == ControlAmbiguous }

// Outcome is what is told about an event and one record that it matched, or
// about an event that matched none.
type Outcome struct {
	Item       work.Ref `json:"item,omitzero"`
	Endpoint   work.Ref `json:"endpoint,omitzero"`
	Fate       Fate     `json:"fate"`
	How        How      `json:"how,omitempty"`
	Reason     Reason   `json:"reason"`
	TmuxTarget string   `json:"tmuxTarget,omitempty"`
	Message    string   `json:"-"`
	Waits      bool     `json:"-"` // held for a person: trying again costs nothing, and does not end
}
