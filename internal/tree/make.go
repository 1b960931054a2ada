package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// lockWait bounds the wait for another maker of the same tree or clone.
const lockWait = 2 * time.Minute

// Make gives the path of a tree on the pull request's head, which stands below
// Root and is made if it is not there: on a local branch loop/pr-N that tracks
// the head's branch, and that a plain "git push" pushes there. One that is
// there is used as it is, without running git. Any number of processes may ask
// at once; nothing half made is ever given or left. That no tree is to be had
// is a *DeclinedError.
func (t Trees) Make(ctx context.Context, r Request) (string, error) {
	name, m, err := t.name(r.PR)
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.Root, name)
	if m.ready && whole(path) {
		return path, nil
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	n, err := t.lock(wait, name)
	if err != nil {
		return "", err
	}
	defer n.unlock()
	if m, err = t.read(name); err != nil {
		return "", err
	}
	if m.ready && whole(path) {
		return path, nil // made while we waited
	}
	if m.ready && !free(path) {
		return "", declined(fmt.Sprintf("save what you need of %q and move it away", path), "the tree %q has lost its clone %q", path, m.Clone)
	}
	from, err := t.source(ctx, r)
	if err != nil {
		return "", err
	}
	c, err := t.lock(wait, cloneNote(from.clone))
	if err != nil {
		return "", err
	}
	defer c.unlock()
	if m.Ref != "" {
		t.sweep(ctx, m, path)
	}
	return path, t.build(ctx, n, path, r, from)
}

// name chooses the tree's directory: the slug, or if another ref's tree or
// anything that is not ours stands there, the slug with the ref's hash.
func (t Trees) name(pr work.Ref) (string, made, error) {
	for _, name := range []string{pr.Slug(), pr.Slug() + "~" + pr.Hash8()} {
		m, err := t.read(name)
		if err != nil {
			return "", made{}, err
		}
		if m.Ref == pr.Key() || m.Ref == "" && free(filepath.Join(t.Root, name)) {
			return name, m, nil
		}
	}
	path := filepath.Join(t.Root, pr.Slug())
	return "", made{}, declined(fmt.Sprintf("move %q away", path), "something that is not ours stands at %q", path)
}

// free says whether a path is not there, or an empty directory.
func free(path string) bool {
	list, err := os.ReadDir(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && len(list) == 0
}

// source is where a tree comes from.
type source struct {
	clone  string // what all its trees share, which outlives each of them
	remote string
	theirs string // the ref on the remote
	ours   string // where it is kept here
	sha    string // what it should be, "" if not known
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// source finds clone, remote and ref of the pull request's head.
func (t Trees) source(ctx context.Context, r Request) (source, error) {
	repo := r.PR.Repository()
	if fork, err := work.ParseRepo(r.Head.Repo); r.Head.Repo != "" && (err != nil || !fork.Same(repo)) {
		return source{}, declined("its events go to the item's session", "%s comes from the fork %q, and trees of forks are not made yet", r.PR.Short(), r.Head.Repo)
	}
	s := source{}
	var err error
	if s.clone, s.remote, err = t.cloneOf(ctx, r); err != nil {
		return source{}, err
	}
	s.theirs, s.ours = fmt.Sprintf("refs/pull/%d/head", r.PR.Number), fmt.Sprintf("refs/gh-loop/pr-%d", r.PR.Number)
	if r.Head.Branch != "" {
		if err := checkBranch(r.Head.Branch); err != nil {
			return source{}, declined("rename the branch", "the head branch %.80q of %s is refused: %v", r.Head.Branch, r.PR.Short(), err)
		}
		s.theirs, s.ours = "refs/heads/"+r.Head.Branch, "refs/remotes/"+s.remote+"/"+r.Head.Branch
	}
	if commit.MatchString(r.Head.SHA) {
		s.sha = r.Head.SHA
	}
	return s, nil
}

// cloneOf finds a clone of the pull request's repository: the one that the item
// works in, or the one that the user named.
func (t Trees) cloneOf(ctx context.Context, r Request) (clone, remote string, err error) {
	repo := r.PR.Repository()
	cure := fmt.Sprintf("name a clone in the configuration: workspace.repos.%q = \"/path\"", repo)
	for _, dir := range []string{r.Cwd, named(r.Repos, repo)} {
		if dir == "" {
			continue
		}
		root, ok, err := t.Clone(ctx, dir)
		if err != nil && dir != r.Cwd {
			return "", "", declined("mend workspace.repos in the configuration", "the clone %q of %s cannot be used: %v", dir, repo, err)
		}
		if err != nil || !ok {
			continue
		}
		list, err := t.remotes(ctx, root)
		if err != nil {
			return "", "", failed(err, "the remotes of %q cannot be read", root)
		}
		exact, fallback := pick(list, repo)
		if exact == "" && (dir != r.Cwd || r.Item.Repository().Same(repo)) {
			exact = fallback
		}
		if exact == "" {
			continue
		}
		common := commonDir(root)
		if inside(root, t.Root) || filepath.Base(common) == ".git" && inside(filepath.Dir(common), t.Root) {
			return "", "", declined("set workspace.root to a directory outside of it", "trees would stand inside the clone %q", root)
		}
		return common, exact, nil
	}
	return "", "", declined(cure, "neither %q nor workspace.repos is a clone of %s", r.Cwd, repo)
}

// fetch brings the head here, unless it is here already.
func (t Trees) fetch(ctx context.Context, s source) error {
	if s.sha != "" {
		at, err := t.git(ctx, s.clone, "rev-parse", "--quiet", "--verify", s.ours+"^{commit}")
		if err == nil && strings.TrimSpace(at) == s.sha {
			return nil
		}
	}
	_, err := t.git(ctx, s.clone, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", s.remote, "+"+s.theirs+":"+s.ours)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, there := t.git(ctx, s.clone, "ls-remote", "--exit-code", "--", s.remote, s.theirs); exit(there) == 2 {
		return declined("push it again, or close the pull request", "%s is not on the remote %q of %q", s.theirs, s.remote, s.clone)
	}
	return failed(err, "%s cannot be fetched from the remote %q of %q", s.theirs, s.remote, s.clone)
}

// build makes the tree. It is called with both notes locked, and leaves
// nothing behind when it fails.
func (t Trees) build(ctx context.Context, n *note, path string, r Request, s source) error {
	if err := t.fetch(ctx, s); err != nil {
		return err
	}
	branch, there, err := t.branch(ctx, s.clone, r.PR)
	if err != nil {
		return err
	}
	m := made{Ref: r.PR.Key(), Clone: s.clone, Branch: branch}
	if err := n.begin(m); err != nil {
		return fmt.Errorf("trees cannot be kept: %w", err)
	}
	if err := t.add(ctx, path, branch, there, s); err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		t.sweep(clean, m, path)
		if !there {
			_, _ = t.git(clean, s.clone, "branch", "--quiet", "-D", "--", branch)
			_, _ = t.git(clean, s.clone, "config", "--remove-section", "branch."+branch)
		}
		return errors.Join(failed(err, "the tree %q cannot be made", path), n.clear())
	}
	return n.finish()
}

// branch chooses the local branch: the first of ours or of nobody's. The mark
// that makes it ours is written before the branch is, and goes with it.
func (t Trees) branch(ctx context.Context, clone string, pr work.Ref) (name string, there bool, err error) {
	plain := branchName(pr)
	for _, name := range []string{plain, plain + "-" + pr.Hash8()} {
		_, err := t.git(ctx, clone, "show-ref", "--quiet", "--verify", "refs/heads/"+name)
		if err != nil && exit(err) != 1 {
			return "", false, failed(err, "the branch %q of %q cannot be looked up", name, clone)
		}
		there := err == nil
		whose, _ := t.git(ctx, clone, "config", "--get", "branch."+name+".loopRef")
		if !there || strings.TrimSpace(whose) == pr.Key() {
			_, err := t.git(ctx, clone, "config", "--replace-all", "branch."+name+".loopRef", pr.Key())
			if err != nil {
				return "", false, failed(err, "the configuration of %q cannot be written", clone)
			}
			return name, there, nil
		}
	}
	return "", false, declined(fmt.Sprintf("rename your branch %q", plain), "the branch %q of %q is not ours", plain, clone)
}

// add checks the branch out at path. A branch of ours that was there already
// is moved forward to the head if nothing of its own is lost by that.
func (t Trees) add(ctx context.Context, path, branch string, there bool, s source) error {
	args := []string{"worktree", "add", "--quiet", "--no-track", "-b", branch, "--", path, s.ours}
	if there {
		args = []string{"worktree", "add", "--quiet", "--", path, branch}
		_, _ = t.git(ctx, s.clone, "fetch", "--quiet", "--no-write-fetch-head", "--", ".", s.ours+":refs/heads/"+branch)
	}
	for _, c := range [][]string{
		{"config", "--replace-all", "branch." + branch + ".remote", s.remote},
		{"config", "--replace-all", "branch." + branch + ".merge", s.theirs},
		args,
	} {
		if _, err := t.git(ctx, s.clone, c...); err != nil {
			return err
		}
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
