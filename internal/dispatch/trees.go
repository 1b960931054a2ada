package dispatch

import (
	"context"
	"errors"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// removeTree takes away the tree that was made for an endpoint of an item's
// record, if it has one. Its caller has ended the endpoint's harness, and does
// not hold the endpoint's lock. A tree that something would be lost with is
// kept, and kept says why; with force it goes all the same, after a warning of
// what is lost. A tree that is gone already, or none, is neither.
func (d *Loop) removeTree(ctx context.Context, item work.Ref, s *work.Session, force bool) (kept string, err error) {
	if s == nil || s.Tree == "" {
		return "", nil
	}
	unlock, err := d.Store.LockEndpoint(ctx, s.Ref)
	if err != nil {
		return "", err
	}
	defer unlock()
	line := journal.Line{What: "tree-removed", Item: item.String(), Endpoint: s.Ref.String(), Message: s.Tree}
	var dirty *tree.DirtyError
	err = d.Trees.Remove(ctx, s.Tree, force)
	if errors.As(err, &dirty) {
		line.What, line.Message = "tree-kept", err.Error()
		d.note(line)
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	d.note(line)
	_, err = d.change(ctx, item, s.Ref, func(now *work.Session) {
		if now.Tree == s.Tree {
			now.Tree = ""
			if now.Cwd == s.Tree && !s.Ref.Same(item) {
				now.Cwd = ""
			}
		}
	})
	if errors.Is(err, store.ErrNotFound) {
		err = nil // the record was forgotten first
	}
	return "", err
}
