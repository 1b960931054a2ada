package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Status says what a session's owner wants of it. A word that we do not know
// is kept and counts as active, as the-loop writes others.
type Status string

// The statuses that gh-loop writes.
const (
	Active Status = "active"
	Paused Status = "paused"
	Closed Status = "closed"
)

// Ending says what closed a session.
type Ending string

// What can close a session. ByItem closes an entry because its item closed.
const (
	ByEvent  Ending = "event"
	ByPerson Ending = "close"
	ByStop   Ending = "stop"
	ByItem   Ending = "item"
)

// Window is how many delivery ids, and how many keys, an endpoint remembers.
const Window = 256

// Session is one addressable conversation: an item's own, or a pull request's
// entry on the item's record. Both are one type so that delivering, bringing
// back and closing need not know which they have.
type Session struct {
	Ref              Ref
	Harness          string
	HarnessSessionID string // the conversation's id; "" when none is usable
	Cwd              string
	Status           Status
	CreatedAt        string // RFC 3339
	LastEventAt      string // RFC 3339
	TmuxTarget       string // session name as tmux reported it; for people
	RecentDeliveries []string
	RecentKeys       []string
	FormerSessionIDs []string
	Tmux             *Handle
	Linkage          *Linkage // entries only
	Head             *Head    // entries, and items that are pull requests
	Declined         *Declined
	Tree             string // working tree that gh-loop made for this session, "" if none
	EndedBy          Ending // once closed
	NodeID           string // GitHub's own id, which outlives renames
	Title            string
	MovedTo          Ref // its present name on GitHub, after a rename or transfer; zero if Ref is

	raw []byte // what it was read from
}

// Handle is what identifies a session in tmux, and holds only together with
// the server that it came from.
type Handle struct {
	Socket      string `json:"socket"`
	ServerPID   int    `json:"serverPid"`
	ServerStart int64  `json:"serverStart"` // seconds since 1970, as #{start_time}
	Session     string `json:"session"`     // $N
	Pane        string `json:"pane"`        // %N
	Token       string `json:"token"`       // @loop_token of the pane
	Ready       bool   `json:"ready,omitempty"`
	At          string `json:"at,omitempty"`      // when it was spawned, RFC 3339
	Next        string `json:"next,omitempty"`    // token of a spawn that was begun; saved before tmux is asked
	First       string `json:"first,omitempty"`   // the event that the begun spawn hands over as first prompt
	Ended       bool   `json:"ended,omitempty"`   // closed, and its harness was ended as retention says
	Program     string `json:"program,omitempty"` // registered panes: what was seen in front
}

// Linkage says what told us that a pull request delivers an item.
type Linkage struct {
	Source Source `json:"source"`
	At     string `json:"at,omitempty"` // RFC 3339
	// Stranger says that only people have had to do with the pull request whose
	// words may not reach an agent.
	Stranger bool `json:"stranger,omitempty"`
}

// Source is one thing that names a ref for an event.
type Source string

// Where a ref of an event can come from. Entity is the event's own subject.
const (
	FromRecord    Source = "recorded"
	FromReference Source = "reference"
	FromKeyword   Source = "keyword"
	FromBranch    Source = "branch"
	FromPerson    Source = "manual"
	FromEntity    Source = "entity"
)

// Head is the last known head of a pull request.
type Head struct {
	Branch string `json:"branch,omitempty"`
	SHA    string `json:"sha,omitempty"`
	Repo   string `json:"repo,omitempty"`   // [host/]owner/repo when it is a fork's
	NoPush bool   `json:"noPush,omitempty"` // its fork lets only its own people push
}

// Declined notes why a pull request got no session of its own, and what the
// decision rested on: it is not tried again while Basis stays the same.
type Declined struct {
	Reason string `json:"reason"`
	Basis  string `json:"basis"`
	At     string `json:"at,omitempty"`
}

// UsableID says whether an id read back may enter an argument list (rule 14).
func UsableID(id string) bool { return len(id) <= 128 && made(id, "._-") && alnum(id[0]) }

// Names says whether a ref names what the session is about, by the name that
// the record has or by the present one.
func (s *Session) Names(ref Ref) bool {
	return s.Ref.Same(ref) || !s.MovedTo.IsZero() && s.MovedTo.Same(ref)
}

// Name is what GitHub calls it now.
func (s *Session) Name() Ref {
	if s.MovedTo.IsZero() {
		return s.Ref
	}
	return s.MovedTo
}

// Live says whether events may reach the session.
func (s *Session) Live() bool { return s.Status != Closed }

// Seen says whether a delivery id or a key was dealt with here already.
// Empty ones are never seen.
func (s *Session) Seen(id, key string) bool {
	return contains(s.RecentDeliveries, id) || contains(s.RecentKeys, key)
}

// Note remembers a delivery's id and key within the window.
func (s *Session) Note(id, key string, at time.Time) {
	s.RecentDeliveries = Remember(s.RecentDeliveries, id)
	s.RecentKeys = Remember(s.RecentKeys, key)
	s.LastEventAt = Stamp(at)
}

// SetConversation changes the conversation's id and keeps the former one.
func (s *Session) SetConversation(id string) {
	if s.HarnessSessionID == id {
		return
	}
	if s.HarnessSessionID != "" {
		s.FormerSessionIDs = Remember(s.FormerSessionIDs, s.HarnessSessionID)
	}
	s.HarnessSessionID = id
}

// Close ends the session; a session that is closed keeps what ended it.
func (s *Session) Close(by Ending) {
	if s.Live() {
		s.Status, s.EndedBy = Closed, by
	}
}

// Reopen makes a closed session live again.
func (s *Session) Reopen() {
	s.Status, s.EndedBy = Active, ""
	if s.Tmux != nil {
		h := *s.Tmux
		h.Ended = false
		s.Tmux = &h
	}
}

// Lingers says whether a closed session's harness was not yet dealt with.
func (s *Session) Lingers() bool { return !s.Live() && s.Tmux != nil && !s.Tmux.Ended }

// Stamp is how gh-loop writes a time: RFC 3339, UTC, whole seconds.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func contains(list []string, s string) bool {
	return s != "" && slices.Contains(list, s)
}

// Remember appends s to a list that holds each string once and at most Window.
func Remember(list []string, s string) []string {
	if s == "" || contains(list, s) {
		return list
	}
	list = append(list[:len(list):len(list)], s)
	if len(list) > Window {
		list = list[len(list)-Window:]
	}
	return list
}

// place is one member of a session, and where it is kept.
type place struct {
	name string
	in   func(*Session) any
}

// places are in the order in which they are written.
var places = [...]place{
	{"harness", func(s *Session) any { return &s.Harness }},
	{"harnessSessionId", func(s *Session) any { return &s.HarnessSessionID }},
	{"cwd", func(s *Session) any { return &s.Cwd }},
	{"status", func(s *Session) any { return &s.Status }},
	{"createdAt", func(s *Session) any { return &s.CreatedAt }},
	{"lastEventAt", func(s *Session) any { return &s.LastEventAt }},
	{"tmuxTarget", func(s *Session) any { return &s.TmuxTarget }},
	{"recentDeliveries", func(s *Session) any { return &s.RecentDeliveries }},
	{"recentKeys", func(s *Session) any { return &s.RecentKeys }},
	{"formerSessionIds", func(s *Session) any { return &s.FormerSessionIDs }},
	{"tmux", func(s *Session) any { return &s.Tmux }},
	{"linkage", func(s *Session) any { return &s.Linkage }},
	{"head", func(s *Session) any { return &s.Head }},
	{"declined", func(s *Session) any { return &s.Declined }},
	{"tree", func(s *Session) any { return &s.Tree }},
	{"endedBy", func(s *Session) any { return &s.EndedBy }},
	{"nodeId", func(s *Session) any { return &s.NodeID }},
	{"title", func(s *Session) any { return &s.Title }},
	{"movedTo", func(s *Session) any { return &s.MovedTo }},
}

func (s *Session) fields() []field {
	all := make([]field, 0, len(places))
	for _, p := range places {
		all = append(all, field{p.name, p.in(s)})
	}
	return all
}

// UnmarshalJSON reads a session and keeps every byte that it does not understand.
func (s *Session) UnmarshalJSON(b []byte) error {
	read := Session{}
	if err := read.read(slices.Clone(b), unknown); err != nil {
		return err
	}
	*s = read
	return nil
}

// read fills an empty session from checked bytes, which stay its own. Of several
// members of one name the last one counts, and the others are not looked at.
// rest gets the members that no session has.
func (s *Session) read(b []byte, rest func(name string, v json.RawMessage)) error {
	if !isObject(b) {
		return fmt.Errorf("not a JSON object")
	}
	s.raw = b
	var item json.RawMessage
	var values [len(places)]json.RawMessage
	for name, v := range membersOf(b) {
		switch at := slices.IndexFunc(places[:], func(p place) bool { return p.name == string(name) }); {
		case string(name) == "workItem":
			item = v
		case at >= 0:
			values[at] = v
		default:
			rest(string(name), v)
		}
	}
	if err := s.readRef(item); err != nil {
		return err
	}
	for i, v := range values {
		if err := readField(places[i].name, v, places[i].in(s)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) readRef(item json.RawMessage) error {
	switch {
	case item == nil:
		return fmt.Errorf("workItem is missing")
	case !isObject(item):
		return fmt.Errorf("workItem: not a JSON object")
	}
	var ref json.RawMessage
	for name, v := range membersOf(item) {
		if string(name) == "ref" {
			ref = v
		}
	}
	var text string
	if err := readField("workItem.ref", ref, &text); err != nil {
		return err
	}
	var err error
	if s.Ref, err = ParseRef(text); err != nil {
		return fmt.Errorf("workItem.ref: %w", err)
	}
	return nil
}

// unknown is for members that nobody reads.
func unknown(string, json.RawMessage) {}

// MarshalJSON writes the session back over what it was read from.
func (s *Session) MarshalJSON() ([]byte, error) { return s.written("", false).encode(""), nil }

// written lays the session's fields over what it was read from. A record's
// workItem spells the ref's parts out, as an entry's need not. prefix is the
// indentation of the line that the session starts on.
func (s *Session) written(prefix string, spellOut bool) object {
	o := parse(s.raw)
	item := object{}
	if raw, ok := o.get("workItem"); ok {
		item = parse(raw)
	}
	before := object{members: slices.Clone(item.members)}
	ref := s.Ref
	fields := []field{{"ref", &ref}}
	if len(before.members) == 0 && spellOut {
		provider := "github"
		fields = append(fields, field{"provider", &provider}, field{"host", &ref.Host}, field{"owner", &ref.Owner}, field{"repo", &ref.Repo}, field{"number", &ref.Number})
	}
	item.writeFrom(fields, prefix+"    ")
	if !item.equal(before) {
		o.set("workItem", item.encode(prefix+"  "))
	}
	o.writeFrom(s.fields(), prefix+"  ")
	return o
}

var (
	_ json.Marshaler   = (*Session)(nil)
	_ json.Unmarshaler = (*Session)(nil)
)
