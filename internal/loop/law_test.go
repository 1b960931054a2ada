package loop

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Whatever is asked of a record in whatever order, doing it twice is doing it
// once, a pull request's command leaves its item alone, and a stopped one is
// live again only after a start.
func TestObeyLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item, pr := octoRepo.Ref(15), octoRepo.Ref(16)
		entry := &work.Session{Ref: pr, Status: work.Active}
		rec := &work.Record{Session: work.Session{Ref: item, Harness: "echo", Cwd: "/w", Status: work.Active}, Entries: []work.Entry{{Session: entry}}}
		stopped := false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			v := rapid.SampledFrom([]Verb{Start, Stop, Pause, Resume, Cleanup, Close}).Draw(t, "verb")
			at := rapid.SampledFrom([]work.Ref{item, pr}).Draw(t, "at")
			before := rec.Status
			Obey(rec, at, v)
			if at.Same(pr) && rec.Status != before {
				t.Fatalf("%s of %s changed the item to %s", v, at, rec.Status)
			}
			if at.Same(item) {
				stopped = v == Stop || stopped && v != Start
			}
			if stopped && rec.Live() {
				t.Fatalf("%s brought a stopped item back", v)
			}
			if Obey(rec, at, v) {
				t.Fatalf("%s of %s changes something again", v, at)
			}
		}
	})
}

// Nobody but who may speak gets a verb, a delivery or a spawn out of words,
// whatever they say (rules 23 to 25).
func TestStrangersGetNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.StringOfN(rapid.RuneFrom([]rune("loop startpause\n`>@#15 ")), 0, 60, -1).Draw(t, "said")
		word := rapid.SampledFrom([]string{"", "loop start", "loop stop", "LOOP cleanup"}).Draw(t, "word")
		e := event.Event{
			Name: "issue_comment", Action: rapid.SampledFrom([]string{"created", "edited"}).Draw(t, "action"), Kind: event.Words, Repo: octoRepo, Subject: octoRepo.Ref(15),
			Refs:  []event.Named{{Ref: octoRepo.Ref(15), Sources: []work.Source{work.FromEntity}}},
			Actor: rapid.SampledFrom([]string{"", "mallory", "octocat2", "octo"}).Draw(t, "actor"), Association: rapid.SampledFrom([]string{"", "NONE", "CONTRIBUTOR", "MANNEQUIN"}).Draw(t, "association"),
			Body: said + "\n" + word, Labels: []string{"go"},
		}
		s := Settings{Users: []string{"octocat", Collaborators}, Starts: "always", Keywords: []Keyword{{Start, "loop start"}, {Stop, "loop stop"}, {Cleanup, "loop cleanup"}}}
		if v, why := s.Order(e); v != "" || why != "" {
			t.Fatalf("order %q %q", v, why)
		}
		rec := &work.Record{Session: work.Session{Ref: octoRepo.Ref(15), Harness: "echo", Cwd: "/w", Status: work.Active}}
		if d := Decide(rec, e, s, ""); d.Act != Settle || d.Reason != Unauthorized || d.Changed {
			t.Fatalf("%+v", d)
		}
		if d := s.Unmatched(e, Known{Item: octoRepo.Ref(15), Last: Start, Dir: "/w"}); d.Act != Settle || d.Reason != Unauthorized {
			t.Fatalf("%+v", d)
		}
	})
}
