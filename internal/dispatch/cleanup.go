package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Step is what cleaning up does, or would do, with one endpoint.
type Step struct {
	Endpoint work.Ref
	Session  string   // tmux's name of the session that ends, "" if it has none
	Tree     string   // the tree that goes, "" if it has none
	Lost     []string // of a plan: what the tree has that would be lost now
	Err      error    // why the tree stays
}

// Plan says what Cleanup would do about a ref, and does nothing. A step's error
// is why its tree would certainly stay.
func (d *Loop) Plan(ctx context.Context, ref work.Ref) ([]Step, error) {
	owners, notHere := d.owners(ref)
	if notHere != nil && !isNotHere(notHere) {
		return nil, notHere
	}
	var out []Step
	for _, r := range owners {
		for _, s := range below(r, ref) {
			step := Step{Endpoint: s.Ref, Tree: s.Tree}
			if s.Tmux != nil {
				step.Session = s.TmuxTarget
			}
			switch {
			case s.Tree == "":
			case !d.theirs(s.Ref, s.Tree):
				step.Err = notTheirs(s)
			default:
				step.Lost, step.Err = d.Trees.Lost(ctx, s.Tree, d.removal(r, s, false))
			}
			out = append(out, step)
		}
	}
	left, err := d.leftBehind(together(ref, owners), out)
	if err != nil || len(left) == 0 && notHere != nil {
		return out, errors.Join(err, notHere)
	}
	for _, step := range left {
		step.Lost, step.Err = d.Trees.Lost(ctx, step.Tree, leftRemoval(step.Endpoint, false))
		out = append(out, step)
	}
	return out, nil
}

// together gives a ref and all that ends with it.
func together(ref work.Ref, records []*work.Record) []work.Ref {
	out := []work.Ref{ref}
	for _, r := range records {
		for _, s := range below(r, ref) {
			if !s.Ref.Same(ref) {
				out = append(out, s.Ref)
			}
		}
	}
	return out
}

// below gives what a ref names on a record, in the order in which it ends: one
// endpoint, or all of them, the item last.
func below(r *work.Record, ref work.Ref) []*work.Session {
	if !r.Ref.Same(ref) {
		if s := r.PullRequest(ref); s != nil {
			return []*work.Session{s}
		}
		return nil
	}
	return append(r.PullRequests(), &r.Session)
}

// Cleanup ends everything that a ref names and removes its trees (rule 44). A
// tree that would lose something stays, with its reason in its step, unless
// forced. A tree that no record remembers goes as well. The error says that a
// session could not be ended: then no tree goes.
func (d *Loop) Cleanup(ctx context.Context, ref work.Ref, force bool) ([]Step, error) {
	records, _, notHere := d.Obey(ctx, ref, loop.Cleanup)
	if notHere != nil && !isNotHere(notHere) {
		return nil, notHere
	}
	var steps []Step
	for _, r := range records {
		steps = append(steps, d.removeTrees(ctx, r, ref, force)...)
	}
	left, err := d.leftBehind(together(ref, records), steps)
	if err != nil || len(left) == 0 && notHere != nil {
		return steps, errors.Join(err, notHere)
	}
	for _, step := range left {
		steps = append(steps, d.removeLeft(ctx, step, force))
	}
	return steps, nil
}

// removeTrees removes the endpoints' own trees, and no other path whatever the
// record says. A pull request gets a new one when it is brought back.
func (d *Loop) removeTrees(ctx context.Context, r *work.Record, ref work.Ref, force bool) []Step {
	var steps []Step
	for _, s := range below(r, ref) {
		step := Step{Endpoint: s.Ref, Session: s.TmuxTarget, Tree: s.Tree}
		switch {
		case s.Tree == "":
		case !d.theirs(s.Ref, s.Tree):
			step.Err = notTheirs(s)
		default:
			kept, err := d.removeTree(ctx, r.Ref, s, force)
			if step.Err = err; kept != "" {
				step.Err = errors.New(kept)
			}
		}
		steps = append(steps, step)
	}
	return steps
}

func notTheirs(s *work.Session) error {
	return fmt.Errorf("%q is not where the tree of %s stands: it is left alone", s.Tree, s.Ref.Short())
}

// Reset is Cleanup that then forgets what the ref names on this machine: an
// item's record, or a pull request's entry. A tree that stays keeps its record.
func (d *Loop) Reset(ctx context.Context, ref work.Ref, force bool) ([]Step, error) {
	steps, err := d.Cleanup(ctx, ref, force)
	if err != nil {
		return steps, err
	}
	for _, s := range steps {
		if s.Err != nil {
			return steps, fmt.Errorf("%s is not forgotten, as a tree of it stays", ref.Short())
		}
	}
	owners, err := d.owners(ref)
	if err != nil && !isNotHere(err) { // of such a ref there was only a tree
		return steps, err
	}
	for _, r := range owners {
		if err := d.forgetAt(ctx, r, ref); err != nil {
			return steps, err
		}
		d.note(journal.Line{What: "forgotten", Item: r.Ref.String(), Endpoint: ref.String()})
	}
	return steps, nil
}

func (d *Loop) forgetAt(ctx context.Context, r *work.Record, ref work.Ref) error {
	if r.Ref.Same(ref) {
		err := d.Store.Remove(ctx, ref)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	_, err := d.Store.Change(ctx, r.Ref, func(r *work.Record) (*work.Record, error) {
		if r == nil || !r.Unlink(ref) {
			return nil, nil
		}
		return r, nil
	})
	return err
}
