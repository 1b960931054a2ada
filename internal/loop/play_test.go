package loop

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// What the rows of the specification mean.
//
// An event is "KIND SUBJECT [ACTOR] [WORD…] [| BODY]". KIND is comment,
// comment.edited, review, check, issue.ACTION, pr.ACTION or push. SUBJECT is 15 for an
// issue, pr16 for a pull request, pr16>15,17 for one that closes #15 and #17.
// ACTOR is a login, "-" is nobody; login/MEMBER has that association. Words:
// label (it has the label), was=VERB (an edited comment said that before),
// editor=LOGIN, host=HOST, nokey, id=ID.
//
// Records are "ITEM[:STATUS] [PR[:STATUS]…]", one after the other with commas;
// STATUS is active, paused, what ended it (event, stop, close, item), or
// stranger: active, and nobody who may speak has had to do with it. mode=MODE
// and seen=ID belong to the item, PR.seen=ID to the pull request.
//
// Settings are words: users=A+B, login=LOGIN, mode=MODE, labeled, always, free
// (no start is required), last=VERB (the last command), nodir (there is no clone),
// off=VERB, halt (the word for stop is "halt").
//
// The outcome is a line for each record, in their order: "15: deliver 16 +16" is
// delivered to #16 of #15, which learns it; behind "=>" stands how the record's
// endpoints are afterwards.
func play(t *testing.T, ev, recs, set string) string {
	t.Helper()
	e, s := readEvent(t, ev), readSettings(t, set)
	if reason := Screen(e); reason != "" {
		return "settled " + string(reason)
	}
	records, ended := readRecords(t, recs)
	matched := matching(e, records, ended)
	if len(matched) == 0 {
		k := Known{Item: Target(nil, e), Last: Verb(word(set, "last=")), Dir: "/clone"}
		if strings.Contains(set, "nodir") {
			k.Dir = ""
		}
		for _, r := range ended {
			if r.Ref.Same(k.Item) {
				k.Ended = r
			}
		}
		if !s.Concerned(e) {
			k = Known{Item: k.Item}
		}
		return told(s.Unmatched(e, k), "")
	}
	var lines []string
	for _, r := range matched {
		pr := r.PullRequest(e.PullRequest)
		unknown := pr != nil && pr.Linkage != nil && pr.Linkage.Stranger
		c := Decide(r, e, s, "2026-08-07T10:00:00Z")
		after := ""
		if c.Act == Command && r.Ref.Same(Target(matched, e)) {
			Obey(r, r.Ref, c.Verb)
			after = states(r)
		} else if c.Act == Command {
			c.Act, c.Verb = Settle, "" // told, and not carried out
		}
		if c.Act == CloseRecord || c.Act == CloseEndpoint || c.Act == Reopen {
			after = states(r)
		}
		line := fmt.Sprintf("%d: %s", r.Ref.Number, told(c, after))
		if pr := r.PullRequest(e.PullRequest); pr != nil && pr.Linkage != nil && pr.Linkage.Stranger != unknown {
			line += map[bool]string{true: " stranger", false: " known"}[pr.Linkage.Stranger]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func told(c Decision, after string) string {
	out := ""
	switch c.Act {
	case Settle:
		out = "settled " + string(c.Reason)
	case Deliver, Spawn:
		out = fmt.Sprintf("%s %d", c.Act, c.Endpoint.Number)
	case Command:
		out = fmt.Sprintf("%s %s", c.Act, c.Verb)
		if after == "" {
			out += fmt.Sprintf(" %d", c.Endpoint.Number)
		}
	default:
		out = fmt.Sprintf("%s %s", c.Act, c.Reason)
	}
	if c.Linked {
		out += " +pr"
	}
	if after != "" {
		out += " => " + after
	}
	return out
}

func states(r *work.Record) string {
	var out []string
	for _, s := range r.Endpoints() {
		state := string(s.Status)
		if s.EndedBy != "" {
			state = string(s.EndedBy)
		}
		out = append(out, fmt.Sprintf("%d:%s", s.Ref.Number, state))
	}
	return strings.Join(out, " ")
}

// matching is rule 27 over the given records.
func matching(e event.Event, records, ended []*work.Record) []*work.Record {
	var out []*work.Record
	add := func(r *work.Record) {
		for _, have := range out {
			if have == r {
				return
			}
		}
		out = append(out, r)
	}
	refs := e.Refs
	if e.Closes || e.Reopens {
		refs = append([]event.Named{{Ref: e.Subject}}, refs...)
		for _, r := range ended {
			if r.Ref.Same(e.Subject) {
				add(r)
			}
		}
	}
	for i, n := range refs {
		own := false
		for _, r := range records {
			if r.Ref.Same(n.Ref) {
				add(r)
				own = true
			}
		}
		for _, r := range records {
			if (!own || i == 0 && (e.Closes || e.Reopens)) && r.PullRequest(n.Ref) != nil {
				add(r)
			}
		}
	}
	return out
}

var octoRepo = work.Repo{Owner: "octo", Name: "repo"}

func octo(t *testing.T, number string) work.Ref {
	t.Helper()
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return octoRepo.Ref(n)
}

var eventShape = regexp.MustCompile(`^([a-z_.]+) (pr)?([0-9]+)(?:>([0-9,]+))?((?: [^ ]+)*)$`)

func readEvent(t *testing.T, text string) event.Event {
	t.Helper()
	head, body, _ := strings.Cut(text, " | ")
	m := eventShape.FindStringSubmatch(head)
	if m == nil {
		t.Fatalf("%q is no event", text)
	}
	name, action, _ := strings.Cut(m[1], ".")
	e := event.Event{Name: name, Action: action, Delivery: "d-1", Key: name + ":7:" + action, Repo: octoRepo, Subject: octo(t, m[3]), Body: body}
	switch name {
	case "comment", "review":
		e.Kind = event.Words
	case "issue", "pr":
		e.Kind, e.Body = event.State, ""
		e.Closes, e.Reopens = action == "closed", action == "reopened"
	case "check":
		e.Kind = event.Check
	default:
		e.Kind = event.Ignored
	}
	if m[4] != "" {
		for _, n := range strings.Split(m[4], ",") {
			e.Refs = append(e.Refs, event.Named{Ref: octo(t, n), Sources: []work.Source{work.FromKeyword}})
		}
	}
	if m[2] != "" {
		e.PullRequest = e.Subject
	}
	if e.Subject.Number > 0 {
		e.Refs = append(e.Refs, event.Named{Ref: e.Subject, Sources: []work.Source{work.FromEntity}})
	}
	for _, w := range strings.Fields(m[5]) {
		readWord(t, &e, w)
	}
	return e
}

func readWord(t *testing.T, e *event.Event, w string) {
	t.Helper()
	key, value, pair := strings.Cut(w, "=")
	switch {
	case w == "label":
		e.Labels = []string{"bug", "Loop: Auto-Execute"}
	case w == "nokey":
		e.Key, e.Delivery = "", ""
	case pair && key == "id":
		e.Delivery, e.Key = value, ""
	case pair && key == "was":
		e.Before = "loop " + value
	case pair && key == "editor":
		e.Editor = value
	case pair && key == "host":
		e.Repo.Host = value
	case pair:
		t.Fatalf("%q is no word of an event", w)
	default:
		e.Actor, e.Association, _ = strings.Cut(w, "/")
		e.Actor = strings.TrimPrefix(e.Actor, "-")
	}
}

func readRecords(t *testing.T, text string) (live, ended []*work.Record) {
	t.Helper()
	for _, one := range strings.Split(text, ",") {
		var r *work.Record
		for _, w := range strings.Fields(one) {
			switch key, value, pair := strings.Cut(w, "="); {
			case pair && key == "mode":
				r.SessionPerPr = work.Mode(value)
			case pair && key == "seen":
				r.RecentDeliveries = append(r.RecentDeliveries, value)
			case pair:
				s := r.PullRequest(octo(t, strings.TrimSuffix(key, ".seen")))
				s.RecentDeliveries = append(s.RecentDeliveries, value)
			case r == nil:
				r = &work.Record{Session: readSession(t, w)}
			default:
				s := readSession(t, w)
				r.Entries = append(r.Entries, work.Entry{Session: &s})
			}
		}
		switch {
		case r == nil:
		case r.Live():
			live = append(live, r)
		default:
			ended = append(ended, r)
		}
	}
	return live, ended
}

func readSession(t *testing.T, text string) work.Session {
	t.Helper()
	number, status, _ := strings.Cut(text, ":")
	s := work.Session{Ref: octo(t, number), Harness: "echo", Cwd: "/w", Status: work.Active}
	switch status {
	case "", "active":
	case "stranger":
		s.Linkage = &work.Linkage{Stranger: true}
	case "paused":
		s.Status = work.Paused
	default:
		s.Status, s.EndedBy = work.Closed, work.Ending(status)
		s.Tmux = &work.Handle{Ended: true}
	}
	return s
}

func readSettings(t *testing.T, text string) Settings {
	t.Helper()
	s := Settings{
		Users: []string{"octocat"}, Mode: work.Always, Starts: "never", Label: "loop: auto-execute", RequireStart: true,
		Keywords: []Keyword{{Start, "loop start"}, {Stop, "loop stop"}, {Pause, "loop pause"}, {Resume, "loop resume"}, {Cleanup, "loop cleanup"}},
	}
	for _, w := range strings.Fields(text) {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "users":
			s.Users = strings.FieldsFunc(value, func(r rune) bool { return r == '+' })
		case "login":
			s.Logins = map[string]string{"": value, "ghe.corp": "boss"}
		case "mode":
			s.Mode = work.Mode(value)
		case "labeled", "always":
			s.Starts = key
		case "free":
			s.RequireStart = false
		case "off", "halt":
			for i := range s.Keywords {
				if string(s.Keywords[i].Verb) == value {
					s.Keywords[i].Phrase = ""
				}
				if key == "halt" && s.Keywords[i].Verb == Stop {
					s.Keywords[i].Phrase = "halt"
				}
			}
		case "last", "nodir":
		default:
			t.Fatalf("%q is no setting", w)
		}
	}
	return s
}

func word(text, key string) string {
	for _, w := range strings.Fields(text) {
		if v, ok := strings.CutPrefix(w, key); ok {
			return v
		}
	}
	return ""
}
