package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Removal says how a tree is removed. Known are commits that GitHub has, such
// as the last heads of pull requests, also of squashed ones: what they hold is
// not lost. Pulls are the numbers of pull requests that are asked for their
// heads when that is not enough. With Force everything goes.
type Removal struct {
	Force bool
	Known []string
	Pulls []int64
}

// DirtyError says what would be lost with a tree, and so kept it.
type DirtyError struct {
	Path string
	Lost []string // "2 changed files: a, b", "1 commit that no remote has"
}

func (e *DirtyError) Error() string {
	return fmt.Sprintf("the tree %q is kept, it has %s; commit and push, or remove it with --force", e.Path, strings.Join(e.Lost, " and "))
}

// Remove takes away a tree that Make made. One with changed files, with
// commits that only it has, or with somebody at work in it is kept, and is a
// *DirtyError. With force it goes all the same, and its files are lost; its
// commits stay on their branch in the clone. A tree that is gone already is no
// error.
func (t Trees) Remove(ctx context.Context, path string, how Removal) error {
	_, err := t.with(ctx, path, func(n *note, m made, path string) error {
		if !how.Force {
			lost := t.lost(ctx, m, path, how)
			for end := time.Now().Add(time.Second); len(lost) == 1 && strings.HasPrefix(lost[0], atWork) && time.Now().Before(end); lost = t.lost(ctx, m, path, how) {
				time.Sleep(20 * time.Millisecond) // what was just told to end takes a moment
			}
			if len(lost) > 0 {
				err := &DirtyError{path, lost}
				_ = n.append("kept " + strings.Join(lost, " and "))
				return err
			}
		}
		return t.remove(ctx, n, m, path, how)
	})
	return err
}

// Lost tells what would be lost with a tree that Make made.
func (t Trees) Lost(ctx context.Context, path string, how Removal) (lost []string, err error) {
	_, err = t.with(ctx, path, func(_ *note, m made, path string) error {
		lost = t.lost(ctx, m, path, how)
		return nil
	})
	return lost, err
}

// with locks a tree of ours and its clone. Without such a tree there is nothing to do.
func (t Trees) with(ctx context.Context, path string, fn func(*note, made, string) error) (bool, error) {
	name, err := filepath.Rel(t.Root, filepath.Clean(path))
	if err != nil || name != filepath.Base(name) || name == "." || strings.HasPrefix(name, ".") {
		return false, fmt.Errorf("%q is no tree of ours: they stand in %q", path, t.Root)
	}
	if m, err := t.read(name); err != nil || m.Ref == "" || m.gone {
		return false, errors.Join(err, notOurs(path))
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	n, err := t.lock(wait, name)
	if err != nil {
		return false, err
	}
	defer n.unlock()
	m, err := t.read(name)
	if err != nil || m.Ref == "" || m.gone {
		return false, errors.Join(err, notOurs(path))
	}
	c, err := t.lock(wait, cloneNote(m.Clone))
	if err != nil {
		return false, err
	}
	defer c.unlock()
	return true, fn(n, m, filepath.Join(t.Root, name))
}

// notOurs is an error only if something stands there.
func notOurs(path string) error {
	if free(path) {
		return nil
	}
	return fmt.Errorf("%q is no tree that gh-loop made: remove it by hand", path)
}

func (t Trees) remove(ctx context.Context, n *note, m made, path string, how Removal) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%q is no directory any more: remove it by hand", path)
	}
	commits, err := t.commits(ctx, m, path, how)
	t.sweep(ctx, m, path)
	if !free(path) {
		return fmt.Errorf("the tree %q cannot be removed: look who may write there", path)
	}
	_ = os.Remove(path) // an empty directory in its place
	if err == nil && len(commits) == 0 {
		_, _ = t.git(ctx, m.Clone, "branch", "--quiet", "-D", "--", m.Branch)
	}
	ours, _ := t.git(ctx, m.Clone, "for-each-ref", "--format=%(refname)", "refs/gh-loop/"+m.hash8())
	for _, ref := range strings.Fields(ours) {
		_, _ = t.git(ctx, m.Clone, "update-ref", "-d", ref)
	}
	return n.append("gone")
}

// sweep takes away whatever stands at the path of a tree of ours, whole or not,
// and what git remembers of it. It asks nothing.
func (t Trees) sweep(ctx context.Context, m made, path string) {
	// Twice: a tree whose making was cut off is still locked.
	args := []string{"worktree", "remove", "--force", "--force", "--", path}
	_, _ = t.git(ctx, m.Clone, args...)
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.RemoveAll(path)
	}
	if adminOf(m.Clone, path) != "" { // git did not take what stood there for its own
		_, _ = t.git(ctx, m.Clone, args...)
	}
}
