package dispatch

import (
	"context"
	"errors"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// KeptTree is a tree that no live endpoint works in. What somebody else put
// where trees stand has no Ref.
type KeptTree struct {
	Path, Ref string
	Why       string // "" if its removal was never tried, or was cut off
}

// KeptTrees lists the trees that stay behind, given the records of all that is live.
func (d *Loop) KeptTrees(live []*work.Record) ([]KeptTree, error) {
	used := map[string]bool{}
	for _, r := range live {
		for _, s := range r.Endpoints() {
			if s.Live() {
				used[s.Tree], used[s.Cwd] = true, true
			}
		}
	}
	all, err := d.Trees.List()
	var out []KeptTree
	for _, t := range all {
		if !used[t.Path] {
			out = append(out, KeptTree{Path: t.Path, Ref: t.Ref, Why: t.Kept})
		}
	}
	return out, err
}

// leftBehind finds the trees of some refs that no record remembers: of a pull
// request that was unlinked while its tree had to stay, or where the power went
// before the record was written. With a record that cannot be read nobody can
// say that of any.
func (d *Loop) leftBehind(refs []work.Ref, remembered []Step) ([]Step, error) {
	live, damaged, err := d.Store.Live()
	if err != nil || len(damaged) > 0 {
		return nil, err
	}
	kept, err := d.KeptTrees(live)
	var out []Step
	for _, ref := range refs {
		for _, t := range kept {
			if t.Ref == ref.Key() && !inSteps(remembered, t.Path) {
				out = append(out, Step{Endpoint: ref, Tree: t.Path})
			}
		}
	}
	return out, err
}

func inSteps(steps []Step, path string) bool {
	for _, s := range steps {
		if s.Tree == path {
			return true
		}
	}
	return false
}

// removeLeft takes a tree away that no record remembers.
func (d *Loop) removeLeft(ctx context.Context, step Step, force bool) Step {
	unlock, err := d.lock(ctx, step.Endpoint)
	if err != nil {
		step.Err = err
		return step
	}
	defer unlock()
	line := journal.Line{What: "tree-removed", Endpoint: step.Endpoint.String(), Message: step.Tree}
	kept, err := d.takeAway(ctx, step.Endpoint, step.Tree, leftRemoval(step.Endpoint, force))
	switch step.Err = err; {
	case err != nil:
		return step
	case kept != "":
		step.Err = errors.New(kept)
		line.What, line.Message = "tree-kept", kept
	}
	d.note(line)
	return step
}

func leftRemoval(ref work.Ref, force bool) tree.Removal {
	return tree.Removal{Force: force, Pulls: []int64{ref.Number}}
}
