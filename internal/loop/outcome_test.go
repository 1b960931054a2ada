package loop

import (
	"slices"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// The reasons are those of the contract, as scripts rely on them (rule 26).
func TestReasons(t *testing.T) {
	contract := strings.Fields(`duplicate no-ref unmatched awaiting-start unauthorized own-text paused control control-ambiguous
		control-rejected closed-item closed-endpoint kept-open reopened nothing-to-close declined-tree declined-name spawn-failed
		tmux-silent harness-waiting record-damaged ignored-event`)
	var ours []string
	for _, r := range []Reason{Duplicate, NoRef, Unmatched, AwaitingStart, Unauthorized, OwnText, PausedItem, Control, ControlAmbiguous,
		ControlRejected, ClosedItem, ClosedEndpoint, KeptOpen, Reopened, NothingToClose, DeclinedTree, DeclinedName, SpawnFailed,
		TmuxSilent, HarnessWaiting, RecordDamaged, IgnoredEvent} {
		ours = append(ours, string(r))
	}
	if !slices.Equal(ours, contract) {
		t.Errorf("the reasons are %q, want %q", ours, contract)
	}
}

// A close that was interrupted before its harness ended is finished by the
// next event that says the same (rules 41 and 53).
func TestInterruptedCloseIsFinished(t *testing.T) {
	for subject, want := range map[string]Act{"15": CloseRecord, "16": CloseEndpoint} {
		entry := work.Session{Ref: octo(t, "16"), Status: work.Active, Tmux: &work.Handle{Token: "t"}}
		r := &work.Record{Session: work.Session{Ref: octo(t, "15"), Status: work.Active, Tmux: &work.Handle{Token: "t"}}, Entries: []work.Entry{{Session: &entry}}}
		e := event.Event{Kind: event.State, Subject: octo(t, subject), Closes: true}
		for try := 1; try <= 2; try++ {
			if d := Decide(r, e, Settings{}, ""); d.Act != want || d.Changed != (try == 1) {
				t.Errorf("#%s, try %d: %s, changed %v, want %s", subject, try, d.Act, d.Changed, want)
			}
		}
		r.Tmux.Ended, entry.Tmux.Ended = true, true
		if d := Decide(r, e, Settings{}, ""); d.Act != Settle || d.Reason != NothingToClose {
			t.Errorf("#%s, ended: %s %s, want nothing to close", subject, d.Act, d.Reason)
		}
	}
}

// A session for a pull request of another repository is what cross-repository
// means (rule 31).
func TestCrossRepository(t *testing.T) {
	lib := work.Repo{Owner: "octo", Name: "lib"}.Ref(3)
	r := &work.Record{Session: work.Session{Ref: octo(t, "15"), Status: work.Active}}
	s := Settings{Users: []string{"octocat"}, Mode: work.CrossRepository}
	e := event.Event{Kind: event.Words, Actor: "octocat", Subject: lib, PullRequest: lib}
	if d := Decide(r, e, s, ""); d.Act != Deliver || !d.Endpoint.Same(lib) || !d.Linked {
		t.Errorf("decided %s at %s, linked %v", d.Act, d.Endpoint, d.Linked)
	}
}
