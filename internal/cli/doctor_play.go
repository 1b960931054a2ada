package cli

import (
	"maps"
	"slices"

	"github.com/gh-loop/gh-loop/internal/dispatch"
)

// plays are the dangerous cases of a delivery, each a check. They are played
// together when the first is looked at.
func plays() []check {
	var all []dispatch.Played
	var broken error
	done := false
	var list []check
	for _, name := range dispatch.Cases() {
		list = append(list, check{name, func(x *exam) finding {
			if !x.play || x.tmuxErr != nil {
				return pass("not played")
			}
			if !done {
				all, broken = x.d.Rehearse(x.ctx)
				done = true
			}
			return played(all, name, broken)
		}})
	}
	return list
}

func played(all []dispatch.Played, name string, broken error) finding {
	const report = "report it, with this output; until then try another version of tmux"
	for _, p := range all {
		switch {
		case p.Case == name && p.Err != nil:
			return wrong(report, "%s", p.Err)
		case p.Case == name:
			return fine("delivery played with this tmux: as it should be")
		}
	}
	return wrong(report, "it cannot be played: %v", broken)
}

// values gives a set's words in order.
func values(set map[string]string) []string { return slices.Sorted(maps.Values(set)) }
