package github

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
)

// overlap is how far back everything is looked at again, as GitHub may show
// things later, and in another order, than they happened.
const overlap = 10 * time.Minute

// happening is something that happened to a thing, at a time of GitHub's.
type happening struct {
	at    time.Time
	mark  string // tells it from others of the same thing
	of    string // an edit: the mark of what was edited
	words bool
	found func() event.Found
}

// news compares what a thing is with how far it was read, and gives what is
// new, oldest first, and how far it is read then. at is the time of the answer
// by GitHub's clock, skew how much ours is ahead of it.
//
// Only what stands in the answer counts. Where a part of it is missing, nothing
// is concluded from that, and the thing is read again in the next round.
func (n *node) news(w event.Watched, host string, at time.Time, skew time.Duration) ([]event.Found, event.Position) {
	base, past := n.base(w, at, skew)
	all := n.happenings(host)
	floor, _ := when(base.Floor)
	var out []happening
	var isNew []string
	for _, h := range all {
		if h.at.Before(floor) || slices.Contains(base.Seen, h.mark) || past && !h.words {
			continue
		}
		if slices.Contains(isNew, h.of) { // told once, as it is now
			continue
		}
		out, isNew = append(out, h), append(isNew, h.mark)
	}
	out = append(out, n.changes(base, w, host, past)...)
	if past {
		base.Floor = "" // what counts is what was there, not when the record was made
	}
	slices.SortStableFunc(out, func(a, b happening) int { return a.at.Compare(b.at) })
	var found []event.Found
	for _, h := range out {
		f := h.found()
		f.Past = past && h.words
		found = append(found, f)
	}
	return found, n.next(base, all, at)
}

// base is how far the thing counts as read. One that is seen for the first time
// is read already (past) if its item is, too: the session reads the thread
// itself. A pull request that is new on an item that we know is news whole if it
// is younger than our knowledge of the item, unless somebody linked it, and else
// since it came on the record.
func (n *node) base(w event.Watched, at time.Time, skew time.Duration) (p event.Position, past bool) {
	if w.Read.Known() {
		return w.Read, false
	}
	p = event.Position{Since: utc(at), State: "OPEN", Head: n.SHA, Checks: n.checks().State}
	if birth, ok := when(w.Birth); ok {
		p.Floor = utc(birth.Add(-skew))
	}
	if w.Since == "" || w.Item.Same(w.Ref) {
		return p, true
	}
	if n.isNew(w) {
		p.Floor, p.Checks = n.CreatedAt, ""
	}
	return p, false
}

func (n *node) isNew(w event.Watched) bool {
	created, ok := when(n.CreatedAt)
	since, known := when(w.Since)
	return ok && known && created.After(since) && !w.ByHand
}

// next is how far the thing is read afterwards. Of an answer that is not whole
// only what was in it is.
func (n *node) next(base event.Position, all []happening, at time.Time) event.Position {
	p := base
	p.Print = n.print(at)
	floor, _ := when(base.Floor)
	for _, h := range all {
		if !n.Partial && h.at.Add(-overlap).After(floor) {
			floor = h.at.Add(-overlap)
		}
	}
	p.Floor, p.Seen = "", nil
	if !floor.IsZero() {
		p.Floor = utc(floor)
	}
	if n.Partial {
		p.Floor, p.Seen = base.Floor, slices.Clone(base.Seen)
	}
	for _, h := range all {
		if !h.at.Before(floor) && !slices.Contains(p.Seen, h.mark) {
			p.Seen = append(p.Seen, h.mark)
		}
	}
	slices.Sort(p.Seen)
	p.State = cmp.Or(n.State, p.State)
	p.Head = cmp.Or(n.SHA, p.Head)
	p.Checks = cmp.Or(n.checks().State, p.Checks)
	return p
}

// happenings are what has a time and a mark of its own: words, labels, and
// checks that failed.
func (n *node) happenings(host string) []happening {
	var out []happening
	add := func(at, mark string, words bool, found func() event.Found) {
		if t, ok := when(at); ok {
			out = append(out, happening{at: t, mark: mark, words: words, found: found})
		}
	}
	speak := func(name, action, prefix, at string, w *words) {
		if w.id() == 0 || w.State == "PENDING" {
			return
		}
		id := prefix + strconv.FormatInt(w.id(), 10)
		if other := w.Editor.login(); other != "" && other != w.Author.login() {
			action = "edited" // what it says now is not the author's alone
		}
		add(at, id, true, func() event.Found { return n.spoken(host, name, action, w) })
		if edited, ok := when(w.EditedAt); ok && w.EditedAt > at {
			out = append(out, happening{edited, id + "@" + w.EditedAt, id, true, func() event.Found { return n.spoken(host, name, "edited", w) }})
		}
	}
	for _, c := range n.Comments.all() {
		speak("issue_comment", "created", "c", c.CreatedAt, c)
	}
	for _, r := range n.Reviews.all() {
		if r.State != "COMMENTED" || strings.TrimSpace(r.Body) != "" {
			speak("pull_request_review", "submitted", "r", r.SubmittedAt, r)
		}
		for _, c := range r.Comments.all() { // they were written before, and come out with their review
			speak("pull_request_review_comment", "created", "i", max(r.SubmittedAt, c.CreatedAt), c)
		}
	}
	for _, c := range n.Timeline.all() {
		if action := map[string]string{"LabeledEvent": "labeled", "UnlabeledEvent": "unlabeled"}[c.Type]; action != "" && c.Label.Name != "" {
			add(c.CreatedAt, action+" "+c.Label.Name+" "+c.CreatedAt, false, func() event.Found { return n.labelled(host, action, c) })
		}
	}
	for _, r := range n.checks().Contexts.all() {
		if r.failed() && r.number() > 0 {
			add(r.CompletedAt, "k"+strconv.FormatInt(r.number(), 10), false, func() event.Found { return n.checked(host, r) })
		}
	}
	return out
}

// changes are what shows only by comparing: a pull request that is new, a close
// or reopening, a new head, and checks that all passed. A close counts only when
// GitHub states it of this very thing.
func (n *node) changes(base event.Position, w event.Watched, host string, past bool) []happening {
	var out []happening
	add := func(at string, found func() event.Found) {
		t, _ := when(at)
		out = append(out, happening{at: t, found: found})
	}
	floor, _ := when(base.Floor)
	closed, ok := when(n.ClosedAt)
	wasOpen := base.State == "OPEN"
	switch {
	case n.State == "OPEN" && !wasOpen:
		add(n.reopenedAt(), func() event.Found { return n.reopened(host) })
	case n.over() && wasOpen && ok && !(past && closed.Before(floor)):
		add(n.ClosedAt, func() event.Found { return n.closed(host) })
	}
	if past || !n.pull() {
		return out
	}
	if !w.Read.Known() && n.isNew(w) {
		add(n.CreatedAt, func() event.Found { return n.opened(host) })
	}
	if n.State == "OPEN" && base.Head != "" && n.SHA != "" && base.Head != n.SHA {
		add(n.UpdatedAt, func() event.Found { return n.pushed(host, base.Head) })
	}
	if n.State == "OPEN" && n.checks().State == "SUCCESS" && (base.Checks != "SUCCESS" || base.Head != n.SHA) {
		if last := n.lastSuite(); last != nil {
			add(last.CompletedAt, func() event.Found { return n.passed(host, last) })
		}
	}
	return out
}

func (n *node) over() bool { return n.State == "CLOSED" || n.State == "MERGED" }

func (n *node) reopenedAt() string {
	at := ""
	for _, c := range n.Timeline.all() {
		if c.Type == "ReopenedEvent" {
			at = max(at, c.CreatedAt)
		}
	}
	return cmp.Or(at, n.UpdatedAt)
}

// lastSuite is the run that ended last of those whose suite is known.
func (n *node) lastSuite() *run {
	var last *run
	for _, r := range n.checks().Contexts.all() {
		if r.Suite != nil && r.Suite.ID > 0 && r.Status == "COMPLETED" && (last == nil || r.CompletedAt > last.CompletedAt) {
			last = r
		}
	}
	return last
}

func (n *node) checks() *rollup {
	for _, c := range n.Checks.all() {
		if c.Commit.Rollup != nil && c.Commit.OID == n.SHA {
			return c.Commit.Rollup
		}
	}
	return &rollup{}
}

func (r *run) failed() bool {
	switch r.Conclusion {
	case "FAILURE", "TIMED_OUT", "STARTUP_FAILURE", "ACTION_REQUIRED":
		return r.Status == "COMPLETED"
	}
	return false
}

func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
