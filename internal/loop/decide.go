package loop

import (
	"slices"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Act is what should be done with an event for one record.
type Act string

// The acts.
const (
	Settle        Act = "settle"  // nothing more
	Deliver       Act = "deliver" // hand it to Decision.Endpoint
	CloseRecord   Act = "close-record"
	CloseEndpoint Act = "close-endpoint"
	Reopen        Act = "reopen"
	Command       Act = "command" // carry out Decision.Verb, for Target alone
	Spawn         Act = "spawn"   // start work on Decision.Endpoint, which has no record
)

// Decision is what Decide made of an event and a record. The record was
// changed accordingly; Changed says whether it has to be saved.
type Decision struct {
	Act      Act
	Reason   Reason   // for every act but Deliver
	Verb     Verb     // of a Command
	Endpoint work.Ref // whom it concerns
	Linked   bool     // the pull request was recorded by this decision
	LinkErr  error    // why it could not be
	Changed  bool
}

// Decide settles what an event means for a record that it matched, and writes
// the decision into the record (decision D4). The caller holds the record's
// lock, saves, and then acts. at is the time that is noted.
func Decide(rec *work.Record, e event.Event, s Settings, at string) Decision {
	switch {
	case e.Closes:
		return closing(rec, e)
	case e.Reopens:
		if d, ok := reopening(rec, e); ok {
			return d
		}
	}
	d := Decision{Endpoint: rec.Ref}
	if !rec.Live() {
		d.Act, d.Reason = Settle, ClosedItem
		return d
	}
	d.Linked, d.LinkErr = Link(rec, e, at)
	d.Changed = s.meet(rec, e, d.Linked) || d.Linked
	if e.Reopens { // live already; it carries no words
		d.Act, d.Reason = Settle, Reopened
		return d
	}
	target := Endpoint(rec, e.PullRequest, s)
	if e.Kind == event.Check && unmet(target) {
		target = &rec.Session
	}
	d.Endpoint = target.Ref
	d.Act = Settle
	d.Verb, d.Reason = s.refusal(rec, target, e)
	switch d.Reason {
	case "":
		d.Act = Deliver
	case Control:
		d.Act = Command
	case PausedItem:
		target.RecentDeliveries = work.Remember(target.RecentDeliveries, e.Delivery)
		target.RecentKeys = work.Remember(target.RecentKeys, e.Key)
		d.Changed = true
	}
	return d
}

// meet notes on a pull request's entry whether anybody who may speak has had to
// do with it: anybody can open one that names an item.
func (s Settings) meet(rec *work.Record, e event.Event, linked bool) (changed bool) {
	pr := rec.PullRequest(e.PullRequest)
	if pr == nil || pr.Linkage == nil || e.Kind == event.Check {
		return false
	}
	stranger := !s.trusts(e.Actor, e.Association, e.Repo.Host)
	if linked == stranger && pr.Linkage.Stranger != stranger {
		pr.Linkage.Stranger = stranger
		return true
	}
	return false
}

// unmet says whether a session would be the first of a pull request that only
// strangers have had to do with. A check, which has no actor, does not start it:
// it would work on a stranger's code on a stranger's word.
func unmet(s *work.Session) bool {
	return s.Linkage != nil && s.Linkage.Stranger && s.Tmux == nil && s.TmuxTarget == ""
}

// refusal says why an event must not reach a live endpoint, or "". A control
// word is not forwarded either; its verb is given.
func (s Settings) refusal(rec *work.Record, target *work.Session, e event.Event) (Verb, Reason) {
	if Seen(rec, target, e) {
		return "", Duplicate
	}
	if !s.MaySpeak(e) {
		return "", Unauthorized
	}
	if verb, why := s.Order(e); why != "" {
		return "", why
	} else if verb != "" {
		return verb, Control
	}
	pr := rec.PullRequest(e.PullRequest)
	if rec.Status == work.Paused || target.Status == work.Paused || pr != nil && pr.Status == work.Paused {
		return "", PausedItem
	}
	return "", ""
}

// Seen says whether the endpoint dealt with the event already. An event of a
// pull request that goes to the item was also noted on the pull request's
// entry, so a late repeat is known there (rule 36).
func Seen(rec *work.Record, target *work.Session, e event.Event) bool {
	if target.Seen(e.Delivery, e.Key) {
		return true
	}
	pr := rec.PullRequest(e.PullRequest)
	return pr != nil && pr.Seen(e.Delivery, e.Key)
}

// Endpoint chooses the conversation for a pull request's event: its own entry
// if it may have a session and is live, else the item. Never none (rule 30).
func Endpoint(rec *work.Record, pr work.Ref, s Settings) *work.Session {
	entry := rec.PullRequest(pr)
	if entry == nil || !entry.Live() || !rec.Mode(s.Mode).Own(rec.Ref, pr) {
		return &rec.Session
	}
	return entry
}

// Link records the event's pull request on the record (rule 28), and says
// whether that is new.
func Link(rec *work.Record, e event.Event, at string) (bool, error) {
	if e.PullRequest.IsZero() {
		return false, nil
	}
	return rec.Link(&work.Session{
		Ref:       e.PullRequest,
		Harness:   rec.Harness,
		Status:    work.Active,
		CreatedAt: at,
		Linkage:   &work.Linkage{Source: Strongest(e.Refs, rec.Ref), At: at},
		Head:      e.Head,
		Title:     e.Title,
	})
}

// Strongest picks the best of the sources that named the item.
func Strongest(refs []event.Named, item work.Ref) work.Source {
	for _, want := range []work.Source{work.FromReference, work.FromKeyword, work.FromBranch} {
		for _, n := range refs {
			if n.Ref.Same(item) && slices.Contains(n.Sources, want) {
				return want
			}
		}
	}
	return work.FromRecord
}

// closing ends what closed and nothing else (rule 41). What is closed already
// is closed again while its session was not ended, so that an interrupted
// close is finished.
func closing(rec *work.Record, e event.Event) Decision {
	if rec.Names(e.Subject) {
		d := Decision{Act: CloseRecord, Reason: ClosedItem, Endpoint: rec.Ref, Changed: rec.Live()}
		if !rec.Live() && !slices.ContainsFunc(rec.Endpoints(), lingers) {
			d.Act, d.Reason = Settle, NothingToClose
		}
		Learn(&rec.Session, e)
		rec.Close(work.ByEvent)
		return d
	}
	entry := rec.PullRequest(e.Subject)
	if entry == nil || (!entry.Live() && !lingers(entry)) {
		return Decision{Act: Settle, Reason: NothingToClose, Endpoint: e.Subject}
	}
	d := Decision{Act: CloseEndpoint, Reason: ClosedEndpoint, Endpoint: entry.Ref, Changed: entry.Live()}
	entry.Close(work.ByEvent)
	Learn(entry, e)
	return d
}

// lingers says whether something of a closed session is left to be ended: its
// harness, or its tree.
func lingers(s *work.Session) bool { return s.Lingers() || !s.Live() && s.Tree != "" }

// reopening makes the closed thing live again (rule 42). What a person stopped
// stays stopped: a reopened issue is no order to start an agent.
func reopening(rec *work.Record, e event.Event) (Decision, bool) {
	switch at := rec.At(e.Subject); {
	case at == nil || at.Live():
		return Decision{}, false
	case at.EndedBy == work.ByStop:
		return Decision{Act: Settle, Reason: AwaitingStart, Endpoint: at.Ref}, true
	case at == &rec.Session:
		rec.Reopen()
	case !rec.Live():
		return Decision{}, false
	default:
		at.Reopen()
	}
	return Decision{Act: Reopen, Reason: Reopened, Endpoint: e.Subject, Changed: true}, true
}

// Learn notes what an event tells of the issue or pull request that a session
// is about: its title, and the head that checks are known by.
func Learn(s *work.Session, e event.Event) {
	if s.Names(e.Subject) && e.Title != "" {
		s.Title = e.Title
	}
	if s.Names(e.PullRequest) && e.Head != nil && e.Kind != event.Check {
		h := *e.Head
		if e.Kind == event.Words && s.Head != nil && s.Head.Repo == h.Repo { // they do not say who may push
			h.NoPush = s.Head.NoPush
		}
		s.Head = &h
	}
}

// HeadMatches says whether a check that names no pull request is about this
// session's: by its head commit, or else by its head branch (rule 16).
func HeadMatches(s *work.Session, e event.Event) bool {
	if s.Head == nil || e.Head == nil || !s.Ref.Repository().Same(e.Repo) {
		return false
	}
	if s.Head.SHA != "" && e.Head.SHA != "" {
		return s.Head.SHA == e.Head.SHA
	}
	return s.Head.Branch != "" && s.Head.Branch == e.Head.Branch && s.Head.Repo == e.Head.Repo
}
