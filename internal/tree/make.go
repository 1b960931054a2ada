package tree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Make gives a tree for a ref, which stands below Root and is made if it is
// not there. A pull request's is on a local branch loop/pr-N that tracks the
// head's branch, and that a plain "git push" pushes there; an item's is on a
// branch of its own. A tree that is there is used as it is, without running
// git. Any number of processes may ask at once; nothing half made is ever given
// or left. That no tree is to be had is a *DeclinedError.
func (t Trees) Make(ctx context.Context, r Request) (Tree, error) {
	name, m, err := t.name(r.Ref)
	if err != nil {
		return Tree{}, err
	}
	path := filepath.Join(t.Root, name)
	if m.ready && whole(path) {
		return Tree{Path: path, Branch: m.Branch}, nil
	}
	wait, cancel := context.WithTimeout(ctx, t.lockWait())
	defer cancel()
	n, err := t.lock(wait, name)
	if err != nil {
		return Tree{}, err
	}
	defer n.unlock()
	if m, err = t.read(name); err != nil {
		return Tree{}, err
	}
	if m.ready && whole(path) {
		return Tree{Path: path, Branch: m.Branch}, nil // made while we waited
	}
	if m.ready && !free(path) {
		return t.reunite(ctx, n, m, path, r)
	}
	s, err := t.source(ctx, r, m)
	if err != nil {
		return Tree{}, err
	}
	return t.build(ctx, n, m, path, r, s)
}

// reunite leads a tree back to its clone, which somebody moved to where the
// item works now or where the configuration says.
func (t Trees) reunite(ctx context.Context, n *note, m made, path string, r Request) (Tree, error) {
	h, err := t.cloneOf(ctx, r, m)
	if err == nil && adminOf(h.clone, path) != "" {
		_, err = t.git(ctx, h.clone, "worktree", "repair", "--", path)
	}
	if err != nil || !whole(path) {
		return Tree{}, declined(fmt.Sprintf("start the item where the clone is now (--cwd), or name it in workspace.repos; or save what you need of %q and move it away", path),
			"the tree %q has lost its clone %q", path, m.Clone)
	}
	m.Clone = h.clone
	if err := n.begin(m); err != nil {
		return Tree{}, err
	}
	return Tree{Path: path, Branch: m.Branch}, n.append("ready")
}

// build makes the tree and gives it what it needs. It is called with its note
// locked, and leaves nothing behind when it fails.
func (t Trees) build(ctx context.Context, n *note, was made, path string, r Request, s source) (Tree, error) {
	wait, cancel := context.WithTimeout(ctx, t.lockWait())
	defer cancel()
	c, err := t.lock(wait, cloneNote(s.clone))
	if err != nil {
		return Tree{}, err
	}
	defer func() { c.unlock() }()
	if was.Ref != "" && !was.gone {
		t.forget(ctx, was, path)
	}
	m := made{Ref: r.Ref.Key(), Clone: s.clone, Remote: s.remote, Branch: was.Branch}
	if err := n.begin(m); err != nil {
		return Tree{}, fmt.Errorf("trees cannot be kept: %w", err)
	}
	if err := t.fetch(ctx, s); err != nil {
		return Tree{}, errors.Join(err, n.append("gone"))
	}
	branch, there, err := t.branch(ctx, r, s)
	if err != nil {
		return Tree{}, errors.Join(err, n.append("gone"))
	}
	if s.push.merge == "" {
		s.push.merge = "refs/heads/" + branch
	}
	if m.Branch = branch; !strings.HasPrefix(s.push.push, noPush) {
		m.Push, m.Merge = s.push.push, s.push.merge
	}
	if err := n.begin(m); err != nil {
		return Tree{}, fmt.Errorf("trees cannot be kept: %w", err)
	}
	out := Tree{Path: path, Branch: branch, New: true, Warnings: s.warnings}
	if err = t.add(ctx, path, branch, there, s); err == nil {
		c.unlock() // what follows may take long, and is this tree's alone
		out.Warnings = append(out.Warnings, t.furnish(ctx, n, path, s)...)
		if err = ctx.Err(); err == nil {
			return out, n.append("ready")
		}
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	c.unlock()
	if again, err := t.lock(clean, cloneNote(s.clone)); err == nil {
		c = again
	}
	t.sweep(clean, m, path)
	if !there {
		t.dropBranch(clean, s.clone, branch)
	}
	if ctx.Err() == nil {
		err = failed(err, "the tree %q cannot be made", path)
	}
	return Tree{}, errors.Join(err, n.append("gone"))
}

// dropBranch takes back a branch that was made for a tree that was not.
func (t Trees) dropBranch(ctx context.Context, clone, branch string) {
	_, _ = t.git(ctx, clone, "branch", "--quiet", "-D", "--", branch)
	_, _ = t.git(ctx, clone, "config", "--remove-section", "branch."+branch)
}

// forget takes away what is left of a tree that a person deleted or moved, or
// whose maker was killed. Its place in the clone stays taken: a tree that was
// moved would otherwise share it with the new one.
func (t Trees) forget(ctx context.Context, m made, path string) {
	admin := ""
	if m.ready {
		admin = adminOf(m.Clone, path)
	}
	t.sweep(ctx, m, path)
	if admin != "" {
		_ = os.MkdirAll(admin, 0o777)
	}
}

// branch chooses the local branch: the first of ours or of nobody's that no
// tree has checked out. The mark that makes it ours is written before the
// branch is, and goes with it.
func (t Trees) branch(ctx context.Context, r Request, s source) (name string, there bool, err error) {
	out, err := t.git(ctx, s.clone, "for-each-ref", "--format=%(refname:lstrip=2)%09%(worktreepath)", "refs/heads/loop", "refs/heads/issue-*", "refs/heads/issue-*/**")
	if err != nil {
		return "", false, failed(err, "the branches of %q cannot be listed", s.clone)
	}
	marks, err := t.git(ctx, s.clone, "config", "--get-regexp", `^branch\..*\.loopref$`)
	if err != nil && exit(err) != 1 {
		return "", false, failed(err, "the configuration of %q cannot be read", s.clone)
	}
	trees := map[string]string{}
	for line := range strings.Lines(out) {
		branch, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		trees[branch] = at
	}
	for _, name := range s.branches {
		at, there := trees[name]
		ours := strings.Contains("\n"+marks, "\nbranch."+name+".loopref "+r.Ref.Key()+"\n")
		if there && (!ours || at != "") || !there && (clash(maps.Keys(trees), name) || clash(slices.Values(s.onRemote), name)) {
			continue
		}
		if _, err := t.git(ctx, s.clone, "config", "--replace-all", "branch."+name+".loopRef", r.Ref.Key()); err != nil {
			return "", false, failed(err, "the configuration of %q cannot be written", s.clone)
		}
		return name, there, nil
	}
	return "", false, declined(fmt.Sprintf("rename or delete your branch %q", s.branches[0]), "the branches %q of %q are not ours or are checked out", s.branches, s.clone)
}

// clash says whether a branch of that name is there, or one that git cannot
// keep beside it.
func clash(branches iter.Seq[string], name string) bool {
	for b := range branches {
		if b == name || strings.HasPrefix(b, name+"/") || strings.HasPrefix(name, b+"/") {
			return true
		}
	}
	return false
}

// add checks the branch out at path. A branch of ours that was there already
// is moved forward to the head if nothing of its own is lost by that.
func (t Trees) add(ctx context.Context, path, branch string, there bool, s source) error {
	steps := [][]string{{"worktree", "add", "--quiet", "--no-track", "-b", branch, "--", path, s.ours}}
	if there {
		steps = [][]string{{"worktree", "add", "--quiet", "--", path, branch}}
		_, _ = t.git(ctx, s.clone, "fetch", "--quiet", "--no-write-fetch-head", "--", ".", s.ours+":refs/heads/"+branch)
	}
	for _, c := range [][2]string{{"remote", s.push.remote}, {"pushRemote", s.push.push}, {"merge", s.push.merge}} {
		if s.push.push != "" {
			steps = append(steps, []string{"config", "--replace-all", "branch." + branch + "." + c[0], c[1]})
		}
	}
	for _, step := range steps {
		if _, err := t.git(ctx, s.clone, step...); err != nil {
			return err
		}
	}
	if s.push.merge == "refs/heads/"+branch {
		return nil // git's own default pushes to a branch of the same name
	}
	return t.pushUpstream(ctx, path)
}

// pushUpstream lets a plain "git push" in this tree, and in no other, push to
// the branch that is tracked although the names differ. The setting that this
// needs misleads git in a clone with core.bare or core.worktree
// (https://git-scm.com/docs/git-worktree#_configuration_file): there git tells
// what to type.
func (t Trees) pushUpstream(ctx context.Context, path string) error {
	out, err := t.git(ctx, path, "config", "--get-regexp", `^(core\.(bare|worktree)|extensions\.worktreeconfig)$`)
	if err != nil && exit(err) != 1 {
		return err
	}
	if !strings.Contains(out, "extensions.worktreeconfig true") {
		bare := strings.Contains(out, "core.bare ") && !strings.Contains(out, "core.bare false")
		if bare || strings.Contains(out, "core.worktree ") {
			return nil
		}
		if _, err := t.git(ctx, path, "config", "extensions.worktreeConfig", "true"); err != nil {
			return err
		}
	}
	_, err = t.git(ctx, path, "config", "--worktree", "push.default", "upstream")
	return err
}
