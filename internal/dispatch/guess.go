package dispatch

import (
	"context"
	"slices"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// believed is the event without the guesses that GitHub denies (rule 19): refs
// that only a branch's name named. GitHub is asked only about an event that no
// record of ours knows.
func (d *Loop) believed(ctx context.Context, e event.Event) event.Event {
	if d.Gone == nil || !slices.ContainsFunc(e.Refs, guess) {
		return e
	}
	if records, damaged, err := d.match(e); err != nil || len(records) > 0 || len(damaged) > 0 {
		return e
	}
	e.Refs = slices.DeleteFunc(slices.Clone(e.Refs), func(n event.Named) bool { return guess(n) && d.Gone(ctx, n.Ref) })
	return e
}

func guess(n event.Named) bool { return len(n.Sources) == 1 && n.Sources[0] == work.FromBranch }
