// Package event turns a GitHub webhook body into an Event: what happened, to
// which refs, by whom, and the text that an agent is shown. It does no I/O.
package event

import "github.com/gh-loop/gh-loop/internal/work"

// Marker is what texts written by gh-loop or its sessions carry, so that they
// do not come back as events.
const Marker = "<!-- gh-loop -->"

// Kind says how an event is treated where events differ.
type Kind string

// The kinds. Words are comments and reviews: they need an actor who may
// speak. State is an issue or pull request that changed: its sender must be
// allowed, except where it closes or reopens. Check is a result of CI, which
// has no actor. Ignored concerns no conversation.
const (
	Words   Kind = "words"
	State   Kind = "state"
	Check   Kind = "check"
	Ignored Kind = "ignored"
)

// Event is one thing that happened on GitHub, in our words.
type Event struct {
	Name     string // GitHub's event name, such as issue_comment
	Action   string
	Delivery string // GitHub's id of the delivery, or one that the ingress made
	Key      string // what it is about; the same for every way in
	Kind     Kind

	Repo        work.Repo
	Subject     work.Ref // the issue or pull request that it happened to; zero if none
	PullRequest work.Ref // zero if it concerns none
	Refs        []Named  // whom it concerns, in order, without repeats
	Head        *work.Head

	Actor       string // login without "[bot]" or "app/"; "" if nobody
	Association string // the author's association as GitHub states it
	Body        string // the words of a comment or review as they came; control words are looked for here

	Before string // of an edited comment or review: its words until then, "" if not known
	Editor string // of an edited one: who edited it, if that was somebody else than the actor

	Closes, Reopens, Merged bool

	Labels []string
	Title  string
	URL    string
	Fields []Field // what is quoted to the agent, in order
}

// Named is a ref with every source that named it.
type Named struct {
	Ref     work.Ref      `json:"ref"`
	Sources []work.Source `json:"sources"`
}

// ForkGone is a head's repository when it was a fork that exists no more.
const ForkGone = "(gone)"

// Field is one named piece of an event's text. Its name says how much of it an
// agent is shown, and whether it may have lines: see Message.
type Field struct{ Name, Value string }
