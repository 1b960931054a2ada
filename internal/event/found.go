package event

import "github.com/gh-loop/gh-loop/internal/work"

// Watched is an issue or pull request on an item's record that GitHub is asked
// about.
type Watched struct {
	Item   work.Ref
	Ref    work.Ref
	NodeID string   // "" until GitHub told it
	Read   Position // zero until it was seen for the first time
	Since  string   // when the item was seen for the first time; "" if it was not
	Birth  string   // when it came on the record, by our clock: RFC 3339, "" if nobody knows
	ByHand bool     // somebody linked it: what was before Birth is not meant
	Branch string   // of a tree of ours, when a pull request with that head is to be looked for
}

// Position is how far GitHub was read about one thing. Its times are GitHub's.
type Position struct {
	Print  string   `json:"print,omitempty"`  // changes when something happened; "" when it is to be read again in any case
	Since  string   `json:"since,omitempty"`  // when it was seen for the first time
	Floor  string   `json:"floor,omitempty"`  // what is older was read
	Seen   []string `json:"seen,omitempty"`   // what was read and is not older than Floor
	State  string   `json:"state,omitempty"`  // as GitHub writes it
	Head   string   `json:"head,omitempty"`   // a pull request's commit
	Checks string   `json:"checks,omitempty"` // the result of its checks, as GitHub writes it
}

// Known says whether the thing was seen before.
func (p Position) Known() bool { return p.Since != "" }

// ReferencesMember is a member of our own in the body of an event that was found
// by asking: the issues that GitHub says the pull request closes, as refs.
// Webhooks do not tell.
const ReferencesMember = "gh_loop_references"

// Found is an event that was found by asking: the body that a webhook would
// have brought.
type Found struct {
	Name, Delivery string
	Body           []byte
	Past           bool // it was there at first sight: only a control word in it counts
}

// Thing is an issue or pull request as GitHub has it now.
type Thing struct {
	Ref    work.Ref // its present name, which is another one after a rename or transfer
	NodeID string
	Title  string
	State  string // OPEN, CLOSED or MERGED
	Head   *work.Head
	Refs   []Named // whom it concerns, for a pull request
	Doubts []Doubt // what was not believed
	Pulls  []Linked
}

// Doubt is something that could have named a ref and was not believed.
type Doubt struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Linked is a pull request that GitHub says delivers the thing, and who said so.
type Linked struct {
	Thing
	Source  work.Source
	Created string
}

// Seen is what GitHub answered about one watched thing.
type Seen struct {
	Watched
	Thing  Thing   // zero if the answer does not tell
	Hidden bool    // GitHub says that there is no such thing, or shows it to nobody like us
	Found  []Found // oldest first
	Next   Position
}
