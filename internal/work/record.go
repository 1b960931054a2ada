package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Version is the newest record version that this program writes and reads. A
// record without a version is of version 1.
const Version = 1

// Record is one work item: its own session, and an entry for each pull request
// that delivers it. Entries are sessions that have no entries of their own.
type Record struct {
	Session
	SessionPerPr Mode // the item's own mode; "" follows the configuration
	Entries      []Entry

	source []byte // the file's bytes
	listed []byte // pullRequests as read, when it is no list
}

// Entry is one element of pullRequests: a session, or the bytes of one that
// cannot be read and why.
type Entry struct {
	*Session
	Raw json.RawMessage
	Err error

	lent bool // handed out since it was read, so that it may have been changed
}

// ParseRecord reads a record's file. An entry that cannot be read stays in
// Entries with its bytes; anything else that is wrong is an error.
func ParseRecord(b []byte) (*Record, error) {
	if !json.Valid(b) {
		var v any
		return nil, json.Unmarshal(b, &v) // says what is wrong
	}
	r := &Record{source: bytes.Clone(b)}
	var number, mode, entries json.RawMessage
	err := r.read(r.source, func(name string, v json.RawMessage) {
		switch name {
		case "version":
			number = v
		case "sessionPerPr":
			mode = v
		case "pullRequests":
			entries = v
		}
	})
	if err != nil {
		return nil, err
	}
	var version int64 = 1
	if err := readField("version", number, &version); err != nil {
		return nil, err
	}
	if err := readField("sessionPerPr", mode, &r.SessionPerPr); err != nil {
		return nil, err
	}
	switch {
	case version > Version:
		return nil, fmt.Errorf("it is of version %d, and this gh-loop knows %d: install a newer gh-loop", version, Version)
	case r.Harness == "":
		return nil, fmt.Errorf("harness is missing")
	case r.Cwd == "":
		return nil, fmt.Errorf("cwd is missing")
	}
	r.readEntries(entries)
	return r, nil
}

func (r *Record) readEntries(raw json.RawMessage) {
	if raw == nil || string(raw) == "null" {
		return
	}
	list := elementsOf(raw)
	if list == nil {
		r.listed = raw
		return
	}
	for _, b := range list {
		e := Entry{Session: &Session{}, Raw: b}
		if e.Err = e.read(b, unknown); e.Err != nil {
			e.Session = nil
		}
		r.Entries = append(r.Entries, e)
	}
}

// Encode gives the record's file: two-space JSON with a final newline. What
// nobody changed keeps its bytes, be it the whole file.
func (r *Record) Encode() []byte {
	o := r.written("", true)
	o.writeFrom([]field{{"sessionPerPr", &r.SessionPerPr}}, "  ")
	if r.listed == nil {
		r.writeEntries(&o)
	}
	if r.source != nil && o.equal(parse(r.raw)) {
		return r.source
	}
	return append(o.encode(""), '\n')
}

func (r *Record) writeEntries(o *object) {
	raw, _ := o.get("pullRequests")
	now := make([]json.RawMessage, len(r.Entries))
	for i, e := range r.Entries {
		now[i] = e.encode()
	}
	if slices.EqualFunc(now, elementsOf(raw), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return
	}
	if len(r.Entries) == 0 {
		o.drop("pullRequests")
		return
	}
	var b bytes.Buffer
	for i, e := range now {
		b.WriteString([]string{"[\n    ", ",\n    "}[min(i, 1)])
		b.Write(e)
	}
	b.WriteString("\n  ]")
	o.set("pullRequests", b.Bytes())
}

// encode keeps an entry's own bytes where nothing in it changed.
func (e Entry) encode() []byte {
	if e.Session == nil || e.Raw != nil && !e.lent {
		return e.Raw
	}
	o := e.written("    ", false)
	if e.Raw != nil && o.equal(parse(e.raw)) {
		return e.Raw
	}
	return o.encode("    ")
}

// PullRequest finds the pull request's entry: the live one if several name it,
// else the first, else nil. The record's own ref is never its pull request.
func (r *Record) PullRequest(ref Ref) *Session {
	var found *Session
	for i, e := range r.Entries {
		if e.Session == nil || !e.Names(ref) || e.Ref.Same(r.Ref) {
			continue
		}
		r.Entries[i].lent = true
		if e.Live() {
			return e.Session
		}
		if found == nil {
			found = e.Session
		}
	}
	return found
}

// PullRequests gives the readable entries, each ref once, in their order: the
// ones that PullRequest finds.
func (r *Record) PullRequests() []*Session {
	var out []*Session
	at := map[string]int{r.Ref.Key(): -1}
	for i, e := range r.Entries {
		if e.Session == nil {
			continue
		}
		r.Entries[i].lent = true
		key := e.Ref.Key()
		switch n, known := at[key]; {
		case !known:
			at[key] = len(out)
			out = append(out, e.Session)
		case n >= 0 && !out[n].Live() && e.Live():
			out[n] = e.Session
		}
	}
	return out
}

// Damaged gives the entries that cannot be read.
func (r *Record) Damaged() []Entry {
	var out []Entry
	if r.listed != nil {
		out = append(out, Entry{Raw: r.listed, Err: fmt.Errorf("pullRequests is not a list")})
	}
	for _, e := range r.Entries {
		if e.Session == nil {
			out = append(out, e)
		}
	}
	return out
}

// Link records a pull request. It reports whether the record changed, and
// refuses where the place for entries holds something else.
func (r *Record) Link(s *Session) (bool, error) {
	if r.Names(s.Ref) || r.PullRequest(s.Ref) != nil {
		return false, nil
	}
	if r.listed != nil {
		return false, fmt.Errorf("pullRequests of %s is not a list: mend the file by hand", r.Ref)
	}
	r.Entries = append(r.Entries, Entry{Session: s})
	return true, nil
}

// Unlink takes a pull request's entry out and reports whether there was one.
func (r *Record) Unlink(ref Ref) bool {
	kept := r.Entries[:0:0]
	for _, e := range r.Entries {
		if e.Session == nil || !e.Names(ref) {
			kept = append(kept, e)
		}
	}
	had := len(kept) != len(r.Entries)
	r.Entries = kept
	return had
}

// At finds the endpoint of that ref: the item's own session or an entry; nil
// if the record has none.
func (r *Record) At(ref Ref) *Session {
	if r.Names(ref) {
		return &r.Session
	}
	return r.PullRequest(ref)
}

// Endpoints gives the item's own session and then its pull requests.
func (r *Record) Endpoints() []*Session { return append([]*Session{&r.Session}, r.PullRequests()...) }

// Mode is the item's own mode, or else the configured one.
func (r *Record) Mode(configured Mode) Mode {
	if r.SessionPerPr != "" && r.SessionPerPr.Known() {
		return r.SessionPerPr
	}
	return configured
}

// Close ends the item and every endpoint that it lists.
func (r *Record) Close(by Ending) {
	r.Session.Close(by)
	for _, pr := range r.PullRequests() {
		pr.Close(ByItem)
	}
}

// Reopen makes the item live again, with the pull requests that were live when it closed.
func (r *Record) Reopen() {
	r.Session.Reopen()
	for _, pr := range r.PullRequests() {
		if pr.EndedBy == ByItem {
			pr.Reopen()
		}
	}
}
