package loop

import (
	"slices"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Known is what is known of the item that an event without a record is about.
type Known struct {
	Item  work.Ref
	Last  Verb         // the last command that was given for it, "" if none
	Ended *work.Record // its own record, if it ended
	Dir   string       // where it would run: the clone that the user named for its repository
}

// Started says whether a start was commanded and nothing since took it back.
func (k Known) Started() bool { return k.Last == Start || k.Last == Resume }

// Concerned says whether an event that matches no record needs to know
// anything about its item: most are dropped without.
func (s Settings) Concerned(e event.Event) bool {
	if e.Closes || e.Reopens || !s.MaySpeak(e) {
		return false
	}
	verb, _ := s.Order(e)
	return verb != "" || s.wanted(e)
}

// Unmatched settles what an event does that matches
// none (rule 25). Nobody's words start anything but those of somebody who may
// speak; a check, which has no actor, needs a start that was commanded. What
// ended comes back when it is started or reopened, not by being talked about.
func (s Settings) Unmatched(e event.Event, k Known) Decision {
	d := Decision{Act: Settle, Endpoint: k.Item}
	verb, why := s.Order(e)
	switch {
	case e.Closes:
		d.Reason = NothingToClose
	case e.Reopens:
		d.Reason = Unmatched
	case !s.MaySpeak(e):
		d.Reason = Unauthorized
	case why != "":
		d.Reason = why
	case verb != "":
		d.Verb, d.Reason = verb, Control
		if d.Act = Command; !k.can(verb) {
			d.Act, d.Reason = Settle, ControlRejected
		}
	case !s.wanted(e):
		d.Reason = Unmatched
	default:
		if d.Reason = s.unready(e, k); d.Reason == "" {
			d.Act = Spawn
		}
	}
	return d
}

// can says whether a verb makes sense for an item without a live record. To
// stop or pause one is remembered, so that it does not start itself.
func (k Known) can(v Verb) bool {
	switch v {
	case Start:
		return k.Ended != nil || k.Dir != ""
	case Resume:
		return k.Last == Pause
	}
	return true
}

// wanted says whether the configuration lets the event start anything.
func (s Settings) wanted(e event.Event) bool {
	switch s.Starts {
	case "always":
		return true
	case "labeled":
		return slices.ContainsFunc(e.Labels, func(l string) bool { return strings.EqualFold(l, s.Label) })
	}
	return false
}

// unready says why a wanted item does not start itself, or "".
func (s Settings) unready(e event.Event, k Known) Reason {
	switch {
	case k.Last == Stop, k.Last == Cleanup, k.Ended != nil && k.Ended.EndedBy == work.ByStop:
		return AwaitingStart
	case k.Last == Pause:
		return PausedItem
	case k.Ended != nil:
		return ClosedItem
	case s.RequireStart && !k.Started():
		return AwaitingStart
	case e.Kind == event.Check && !k.Started():
		return Unauthorized
	case k.Dir == "":
		return DeclinedTree
	}
	return ""
}
