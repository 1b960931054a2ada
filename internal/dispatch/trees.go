package dispatch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// theirs says whether a path is where a ref's tree stands.
func (d *Loop) theirs(ref work.Ref, path string) bool {
	dir, name := filepath.Split(filepath.Clean(path))
	slug := ref.Slug()
	return filepath.Clean(dir) == filepath.Clean(d.Trees.Root) && (name == slug || name == slug+"~"+ref.Hash8())
}

// removeTree takes away the tree that was made for an endpoint of an item's
// record, if it has one. Its caller has ended the endpoint's harness, and does
// not hold the endpoint's lock. A tree that something would be lost with is
// kept, and kept says why; with force it goes all the same, after a warning of
// what is lost. A tree that is gone already, or none, is neither.
func (d *Loop) removeTree(ctx context.Context, item work.Ref, s *work.Session, force bool) (kept string, err error) {
	if s == nil || s.Tree == "" {
		return "", nil
	}
	unlock, err := d.lock(ctx, s.Ref)
	if err != nil {
		return "", err
	}
	defer unlock()
	r, err := d.whole(item)
	if err != nil || r.At(s.Ref) == nil {
		return "", ignoreNotFound(err)
	}
	s = r.At(s.Ref)
	line := journal.Line{What: "tree-removed", Item: item.String(), Endpoint: s.Ref.String(), Message: s.Tree}
	how := d.removal(r, s, force)
	if there(s.Tree) {
		kept := ""
		if !force {
			kept = d.runsIn(ctx, r, s)
		}
		if kept == "" {
			kept, err = d.takeAway(ctx, s.Ref, s.Tree, how)
		}
		if err != nil {
			return "", err
		}
		if kept != "" {
			line.What, line.Message = "tree-kept", kept
			d.note(line)
			return kept, nil
		}
		d.note(line)
	}
	_, err = d.change(ctx, item, s.Ref, func(now *work.Session) {
		if now.Cwd == now.Tree && !s.Ref.Same(item) {
			now.Cwd = "" // an item's stays, as it may come back to it
		}
		now.Tree = ""
	})
	return "", ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil // the record was forgotten first
	}
	return err
}

// runsIn says why a tree stays whatever it holds: its session may still run.
func (d *Loop) runsIn(ctx context.Context, r *work.Record, s *work.Session) (kept string) {
	if s.Tmux == nil {
		return ""
	}
	if _, state, _ := d.server(s.Tmux.Socket).Look(ctx, target(r.Ref, s.Ref, s.Tmux)); state == tmux.Live || state == tmux.Unknown {
		return "the tree " + s.Tree + " is kept, as its session may still run"
	}
	return ""
}

func (d *Loop) takeAway(ctx context.Context, ref work.Ref, path string, how tree.Removal) (kept string, err error) {
	if how.Force {
		lost, err := d.Trees.Lost(ctx, path, how)
		if err != nil {
			return "", err
		}
		if len(lost) > 0 && d.Warn != nil {
			d.Warn(ref.Short() + ": the tree " + path + " goes, with " + strings.Join(lost, " and "))
		}
	}
	err = d.Trees.Remove(ctx, path, how)
	var dirty *tree.DirtyError
	if errors.As(err, &dirty) {
		return err.Error(), nil
	}
	return "", err
}

// removal says what GitHub is known to have of a tree's work: the heads of the
// item's pull requests.
func (d *Loop) removal(r *work.Record, s *work.Session, force bool) tree.Removal {
	how := tree.Removal{Force: force}
	for _, e := range r.Endpoints() {
		if e.Head != nil {
			how.Known = append(how.Known, e.Head.SHA)
		}
		mine := e.Ref.Same(s.Ref) || s.Ref.Same(r.Ref)
		if mine && e.Ref.Repository().Same(s.Ref.Repository()) {
			how.Pulls = append(how.Pulls, e.Ref.Number)
		}
	}
	return how
}
