package event

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gh-loop/gh-loop/internal/work"
)

// BodyError says that a webhook body cannot be read, by whoever tries.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// Read turns one webhook body into an Event. An empty name is inferred. It
// fails only where the body is no JSON object: what we do not know is Ignored,
// what names nothing has no refs, and a member of the wrong type is as if it
// were absent.
func Read(body []byte, name, delivery string) (Event, error) {
	p, err := parse(body)
	if err != nil {
		return Event{}, &BodyError{err}
	}
	if name == "" {
		name = p.infer()
	}
	e := Event{Name: name, Action: plainWord(p.Action), Delivery: delivery, Repo: p.repo()}
	e.Kind = p.kind(e.Name, e.Action)
	switch e.Kind {
	case Words:
		p.readWords(&e)
	case State:
		p.readState(&e)
	case Check:
		p.readCheck(&e)
	}
	if e.URL = webAddress(e.URL); e.URL == "" {
		e.URL = e.Subject.URL()
	}
	return e, nil
}

// kind tells which actions say something. A deleted comment or a dismissed
// review has no words any more; a review without text that only comments is
// what GitHub sends beside each reply in a thread; a check is worth its result.
func (p *payload) kind(name, action string) Kind {
	switch name {
	case "issue_comment", "pull_request_review_comment":
		if p.Comment != nil && (action == "created" || action == "edited") {
			return Words
		}
	case "pull_request_review":
		empty := p.Review == nil || p.Review.State == "commented" && strings.TrimSpace(p.Review.Body) == ""
		if !empty && (action == "submitted" || action == "edited") {
			return Words
		}
	case "issues", "pull_request", "pull_request_review_thread":
		return State
	case "check_run", "check_suite", "workflow_run":
		if action == "completed" {
			return Check
		}
	}
	return Ignored
}

// plainWord is the action as GitHub writes actions, or "".
func plainWord(s string) string {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return s
}

func (p *payload) readWords(e *Event) {
	t := p.readSubject(e)
	w := p.Comment
	if e.Name == "pull_request_review" {
		w = p.Review
	}
	e.Actor, e.Association, e.Body, e.URL = w.User.login(), plainAssociation(w.Association), w.Body, w.HTMLURL
	if e.Action == "edited" {
		e.Before = p.Changes.Body.text()
		if by := p.Sender.login(); !strings.EqualFold(by, e.Actor) {
			e.Editor = by
		}
	}
	at := w.UpdatedAt
	if at == "" {
		at = w.SubmittedAt
	}
	e.Key = WordsKey(e.Name, w.ID, e.Action, at)
	e.Fields = wordsFields(e, t, w)
}

func (p *payload) readState(e *Event) {
	t := p.readSubject(e)
	e.Actor, e.URL = p.Sender.login(), t.HTMLURL
	if e.Actor != "" && strings.EqualFold(e.Actor, t.User.login()) {
		e.Association = plainAssociation(t.Association)
	}
	if e.Name == "pull_request_review_thread" {
		e.Fields = p.talkFields(e, t)
		e.Key = key(e.Name, p.talk().NodeID, e.Action, t.UpdatedAt)
		return
	}
	e.Closes, e.Reopens = e.Action == "closed", e.Action == "reopened"
	e.Merged = e.Closes && t.Merged
	e.Key = StateKey(e.Name, e.Subject, e.Action, p.stateMark(e.Action, t))
	e.Fields = p.stateFields(e, t)
}

func (p *payload) stateMark(action string, t *thread) string {
	switch action {
	case "closed":
		return t.ClosedAt
	case "synchronize":
		if t.Head == nil {
			return ""
		}
		return t.Head.SHA
	case "labeled", "unlabeled":
		if t.UpdatedAt == "" {
			return ""
		}
		return p.Label.Name + ":" + t.UpdatedAt
	}
	return t.UpdatedAt
}

// readCheck takes the check's one pull request. Without one, its head is all
// that our own records can be asked with (rule 16).
func (p *payload) readCheck(e *Event) {
	c, again := p.check(e.Name), ""
	switch e.Name {
	case "check_suite":
		again = c.UpdatedAt
	case "workflow_run":
		again = digits(c.Attempt)
	}
	e.Key = CheckKey(e.Name, c.ID, again)
	e.Fields = checkFields(e, c)
	e.URL = webAddress(c.HTMLURL)
	if e.URL == "" {
		e.URL = c.DetailsURL
	}
	if len(c.PullRequests) == 1 {
		t := &c.PullRequests[0]
		if e.Subject = p.ref(p.entryRepo(e.Repo, t), t); !e.Subject.IsZero() {
			p.concern(e, t)
			return
		}
	}
	e.Head = p.checkHead(e.Repo, c)
}

// readSubject finds the issue or pull request that the event happened to, and
// whom it concerns. It never gives nil.
func (p *payload) readSubject(e *Event) *thread {
	t, isPull := p.subject(e)
	e.Title = t.Title
	for _, l := range t.Labels {
		if l.Name != "" {
			e.Labels = append(e.Labels, l.Name)
		}
	}
	switch {
	case e.Subject.IsZero():
	case isPull:
		p.concern(e, t)
	default:
		e.Refs = []Named{{e.Subject, []work.Source{work.FromEntity}}}
	}
	return t
}

func (p *payload) subject(e *Event) (t *thread, isPull bool) {
	if e.Name != "issues" && p.PullRequest != nil {
		t := p.PullRequest
		if t.Number < 1 && e.Name == "pull_request" {
			t.Number = p.Number
		}
		if e.Subject = p.ref(e.Repo, t); !e.Subject.IsZero() {
			return t, true
		}
	}
	if (e.Name == "issues" || e.Name == "issue_comment") && p.Issue != nil {
		e.Subject = p.ref(e.Repo, p.Issue)
		return p.Issue, bool(p.Issue.PullRequest)
	}
	return &thread{}, false
}

// concern fills in what follows from the event's pull request being t.
func (p *payload) concern(e *Event, t *thread) {
	e.PullRequest = e.Subject
	e.Head = p.head(e.Subject.Repository(), t)
	branch := ""
	if e.Head != nil && e.Head.Repo == "" && e.Head.Branch != p.defaultBranch() {
		branch = e.Head.Branch
	}
	e.Refs = Route(e.PullRequest, p.references(), branch, t.Body)
}

func (p *payload) references() []work.Ref {
	var out []work.Ref
	for _, text := range p.References {
		if ref, err := work.ParseRef(text); err == nil {
			out = append(out, ref)
		}
	}
	return out
}

// ref names the issue or pull request; its address stands in for a number that
// is missing.
func (p *payload) ref(repo work.Repo, t *thread) work.Ref {
	if repo == (work.Repo{}) {
		return work.Ref{}
	}
	if t.Number > 0 {
		return repo.Ref(t.Number)
	}
	if r, err := work.ParseURL(t.HTMLURL); err == nil && r.Repository().Same(repo) {
		return r
	}
	return work.Ref{}
}

func (p *payload) head(repo work.Repo, t *thread) *work.Head {
	if t.Head == nil || t.Head.Ref == "" && t.Head.SHA == "" {
		return nil
	}
	h := &work.Head{Branch: t.Head.Ref, SHA: t.Head.SHA}
	switch string(t.Head.Repo) {
	case "": // bodies that were cut down by hand say nothing of it
	case "null":
		h.Repo = ForkGone
	default:
		var from, to repository
		_ = json.Unmarshal(t.Head.Repo, &from)
		if t.Base != nil {
			_ = json.Unmarshal(t.Base.Repo, &to)
		}
		if to == (repository{}) && p.Repository != nil {
			to = *p.Repository
		}
		if !same(from, to) {
			h.Repo = from.fork(repo.Host)
			h.NoPush = t.MayPush != nil && !*t.MayPush
		}
	}
	return h
}

func (p *payload) checkHead(repo work.Repo, c *check) *work.Head {
	h := &work.Head{Branch: c.HeadBranch, SHA: c.HeadSHA}
	if h.Branch == "" {
		h.Branch = c.Suite.HeadBranch
	}
	if c.HeadRepo != nil && p.Repository != nil && !same(*c.HeadRepo, *p.Repository) {
		h.Repo = c.HeadRepo.fork(repo.Host)
	} else if h.Branch == p.defaultBranch() {
		h.Branch = "" // no pull request's head
	}
	if *h == (work.Head{}) {
		return nil
	}
	return h
}

// entryRepo is the repository of a check's pull request. GitHub also lists
// pull requests that the same head has in other repositories.
func (p *payload) entryRepo(own work.Repo, t *thread) work.Repo {
	var base repository
	if t.Base == nil || json.Unmarshal(t.Base.Repo, &base) != nil || p.Repository == nil || same(base, *p.Repository) {
		return own
	}
	_, path, _ := strings.Cut(base.URL, "/repos/")
	other, err := work.ParseRepo(path)
	if err != nil {
		return own
	}
	other.Host = own.Host
	return other
}

func (p *payload) check(name string) *check {
	c := map[string]*check{"check_run": p.CheckRun, "check_suite": p.CheckSuite, "workflow_run": p.WorkflowRun}[name]
	if c == nil {
		return &check{}
	}
	return c
}

func (p *payload) talk() *talk {
	if p.Talk == nil {
		return &talk{}
	}
	return p.Talk
}

func (p *payload) defaultBranch() string {
	if p.Repository == nil {
		return ""
	}
	return p.Repository.DefaultBranch
}

// repo takes the host from the repository's address, which also spells its name.
func (p *payload) repo() work.Repo {
	if p.Repository == nil {
		return work.Repo{}
	}
	if u, err := url.Parse(p.Repository.HTMLURL); err == nil && u.Host != "" {
		if r, err := work.ParseRepo(u.Host + u.Path); err == nil {
			return r
		}
	}
	r, err := work.ParseRepo(p.Repository.FullName)
	if err != nil {
		return work.Repo{}
	}
	return r
}

// same compares by what both sides state: id, else name, else address.
func same(a, b repository) bool {
	switch {
	case a.ID > 0 && b.ID > 0:
		return a.ID == b.ID
	case a.FullName != "" && b.FullName != "":
		return strings.EqualFold(a.FullName, b.FullName)
	}
	return a.URL != "" && strings.EqualFold(a.URL, b.URL)
}

// fork is how a head's repository is written in a record.
func (r repository) fork(host string) string {
	f, err := work.ParseRepo(r.FullName)
	if err != nil {
		return ForkGone
	}
	f.Host = host
	return f.String()
}

func plainAssociation(s string) string {
	if plainWord(strings.ToLower(s)) == "" {
		return ""
	}
	return strings.ToUpper(s)
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
