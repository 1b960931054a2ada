package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DirtyError says what would be lost with a tree.
type DirtyError struct {
	Path string
	Lost []string // "2 changed files: a, b", "1 commit that is on no remote"
}

func (e *DirtyError) Error() string {
	return fmt.Sprintf("the tree %q is kept, it has %s; commit and push, or remove it with --force", e.Path, strings.Join(e.Lost, " and "))
}

// Remove takes away a tree that Make made. One with changed files, or with
// commits that are on no remote, is kept and is a *DirtyError. With force it
// goes all the same, its files are lost; its commits stay on their branch in
// the clone. A tree that is gone already is no error.
func (t Trees) Remove(ctx context.Context, path string, force bool) error {
	name, err := filepath.Rel(t.Root, filepath.Clean(path))
	if err != nil || name != filepath.Base(name) || name == "." || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%q is no tree of ours: they stand in %q", path, t.Root)
	}
	if _, err := os.Lstat(filepath.Join(t.Root, notes, name)); errors.Is(err, os.ErrNotExist) {
		return notOurs(path)
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	n, err := t.lock(wait, name)
	if err != nil {
		return err
	}
	defer n.unlock()
	m, err := t.read(name)
	if err != nil {
		return err
	}
	if m.Ref == "" {
		return notOurs(path)
	}
	c, err := t.lock(wait, cloneNote(m.Clone))
	if err != nil {
		return err
	}
	defer c.unlock()
	return t.remove(ctx, n, m, filepath.Join(t.Root, name), force)
}

// notOurs is an error only if something stands there.
func notOurs(path string) error {
	if free(path) {
		return nil
	}
	return fmt.Errorf("%q is no tree that gh-loop made: remove it by hand", path)
}

func (t Trees) remove(ctx context.Context, n *note, m made, path string, force bool) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%q is no directory any more: remove it by hand", path)
	}
	gone := free(path)
	changed, commits, err := t.lost(ctx, m, path)
	switch {
	case gone:
	case err != nil && !force:
		return fmt.Errorf("whether the tree %q is clean cannot be told: %w; look, and remove it with --force", path, err)
	case !force && len(changed)+len(commits) > 0:
		return &DirtyError{path, append(changed, commits...)}
	}
	t.sweep(ctx, m, path)
	if !free(path) {
		return fmt.Errorf("the tree %q cannot be removed: look who may write there", path)
	}
	if err == nil && len(commits) == 0 {
		_, _ = t.git(ctx, m.Clone, "branch", "--quiet", "-D", "--", m.Branch)
	}
	return n.clear()
}

// lost tells what a tree has that nothing else has. Files that the repository
// ignores do not count. A tree that was never finished has nothing.
func (t Trees) lost(ctx context.Context, m made, path string) (changed, commits []string, err error) {
	if m.ready && !free(path) {
		if changed, err = t.changed(ctx, path); err != nil {
			return nil, nil, err
		}
	}
	tips := []string{}
	if m.ready && !free(path) {
		head, err := t.git(ctx, path, "rev-parse", "--verify", "HEAD")
		if err != nil {
			return nil, nil, err
		}
		tips = append(tips, strings.TrimSpace(head))
	}
	if _, err := t.git(ctx, m.Clone, "show-ref", "--quiet", "--verify", "refs/heads/"+m.Branch); err == nil {
		tips = append(tips, "refs/heads/"+m.Branch)
	} else if exit(err) != 1 {
		return nil, nil, err
	}
	if len(tips) == 0 {
		return changed, nil, nil
	}
	args := append([]string{"rev-list", "--count"}, tips...)
	out, err := t.git(ctx, m.Clone, append(args, "--not", "--remotes", "--glob=refs/gh-loop")...)
	if err != nil {
		return nil, nil, err
	}
	if n := strings.TrimSpace(out); n != "0" {
		commits = append(commits, n+map[bool]string{true: " commit", false: " commits"}[n == "1"]+" that no remote has")
	}
	return changed, commits, nil
}

func (t Trees) changed(ctx context.Context, path string) ([]string, error) {
	if !whole(path) {
		return nil, errors.New("its clone is gone")
	}
	out, err := t.git(ctx, path, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return nil, err
	}
	files := []string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) > 3 {
			files = append(files, fmt.Sprintf("%q", entry[3:]))
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	words := fmt.Sprintf("%d changed files: ", len(files))
	if len(files) == 1 {
		words = "1 changed file: "
	}
	if more := len(files) - 3; more > 0 {
		files = append(files[:3], fmt.Sprintf("and %d more", more))
	}
	return []string{words + strings.Join(files, ", ")}, nil
}

// sweep takes away whatever stands at the path of a tree of ours, whole or not,
// and what git remembers of it. It asks nothing.
func (t Trees) sweep(ctx context.Context, m made, path string) {
	// Twice: a tree whose making was cut off is still locked.
	_, _ = t.git(ctx, m.Clone, "worktree", "remove", "--force", "--force", "--", path)
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.RemoveAll(path)
	}
}
