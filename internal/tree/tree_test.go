package tree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Rule 32: a pull request of the same repository gets a tree on its head, can
// push from it, and the item's tree is left alone.
func TestMake(t *testing.T) {
	for name, head := range map[string]work.Head{"branch": {Branch: "feature"}, "pull ref": {}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.request()
			r.Head = head
			path := w.make(r)
			if want := filepath.Join(w.trees.Root, "github-octo-repo-16"); path != want {
				t.Errorf("tree is %q, want %q", path, want)
			}
			if got := w.git(path, "rev-parse", "HEAD"); got != w.otherHead {
				t.Errorf("HEAD is %s, want %s", got, w.otherHead)
			}
			if got := w.git(path, "rev-parse", "--abbrev-ref", "HEAD"); got != "loop/pr-16" {
				t.Errorf("branch is %q", got)
			}
			if got := w.git(w.clone, "status", "--porcelain", "--branch"); got != "## main...origin/main" {
				t.Errorf("the item's tree is %q", got)
			}
			w.trees.Git = "/nonexistent" // a tree that is there costs no git
			if again := w.make(r); again != path {
				t.Errorf("again it is %q", again)
			}
		})
	}
}

func TestPushGoesToTheHead(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "checkout", "-q", "-B", "feature", "origin/main") // the item holds the same branch
	path := w.make(w.request())
	w.git(path, "commit", "-q", "--allow-empty", "-m", "three")
	w.git(path, "push", "-q")
	if got, want := w.git(w.remote, "rev-parse", "feature"), w.git(path, "rev-parse", "HEAD"); got != want {
		t.Errorf("the remote's feature is %s, want %s", got, want)
	}
	if got := w.git(w.clone, "config", "--default", "unset", "push.default"); got != "unset" {
		t.Errorf("push.default of the clone is %q", got)
	}
}

// The hooks of a branch are not run before anybody has looked at them.
func TestHooksAreNotRun(t *testing.T) {
	w := newWorld(t)
	w.write("clone/.git/hooks/post-checkout", "#!/bin/sh\ntouch "+w.dir+"/ran\nexit 1\n")
	w.make(w.request())
	if _, err := os.Stat(filepath.Join(w.dir, "ran")); err == nil {
		t.Error("the hook ran")
	}
}

// No network when the objects are there.
func TestMakeOffline(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "fetch", "-q")
	r := w.request()
	r.Head.SHA = w.otherHead
	if err := os.Rename(w.remote, w.remote+".away"); err != nil {
		t.Fatal(err)
	}
	w.make(r)
}

func TestDeclines(t *testing.T) {
	for _, c := range []struct {
		name, want string
		temporary  bool
		change     func(w *world, r *Request)
	}{
		{"no clone", "is a clone of octo/repo; name a clone in the configuration: workspace.repos.", false, func(w *world, r *Request) { r.Cwd = w.dir }},
		{"no remote", "is a clone of octo/repo", false, func(w *world, _ *Request) { w.git(w.clone, "remote", "remove", "origin") }},
		{"other remote", "is a clone of octo/repo", false, func(w *world, _ *Request) {
			w.git(w.clone, "remote", "set-url", "origin", "https://github.com/octo/other.git")
		}},
		{"other repository", "octo/lib cannot be cloned from", true, func(_ *world, r *Request) { r.Ref.Repo = "lib" }},
		{"flag", `begins with "-"`, false, func(_ *world, r *Request) { r.Head.Branch = "--upload-pack=touch" }},
		{"dots", `contains ".."`, false, func(_ *world, r *Request) { r.Head.Branch = "a..b" }},
		{"branch gone", `refs/heads/nowhere is not on the remote "origin"`, false, func(_ *world, r *Request) { r.Head.Branch = "nowhere" }},
		{"root inside", "trees would stand inside the clone", false, func(w *world, _ *Request) { w.trees.Root = filepath.Join(w.clone, "trees") }},
		{"remote away", "cannot be fetched", true, func(w *world, _ *Request) { _ = os.Rename(w.remote, w.remote+".away") }},
		{"named clone away", "the clone \"/nonexistent\" of octo/lib cannot be used", false, func(_ *world, r *Request) {
			r.Ref.Repo, r.Repos = "lib", map[string]string{"octo/lib": "/nonexistent"}
		}},
		{"git fails late", "cannot be made", true, func(w *world, _ *Request) { w.program("git \"$@\"; exit 1") }},
		{"git hangs late", "did not end within", true, func(w *world, _ *Request) {
			w.program("git \"$@\"; sleep 600")
			w.trees.Long = 2 * time.Second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.request()
			c.change(w, &r)
			got, err := w.trees.Make(w.ctx, r)
			var d *DeclinedError
			if !errors.As(err, &d) || d.Reason != "declined-tree" || d.Temporary != c.temporary || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v\nwant %s", got.Path, err, c.want)
			}
			if n := len(w.list()); n != 1 || !free(filepath.Join(w.trees.Root, r.Ref.Slug())) {
				t.Errorf("%d trees are left", n)
			}
			if got := w.git(w.clone, "branch", "--list", "loop/*"); got != "" {
				t.Errorf("branch %s is left", got)
			}
		})
	}
}

func TestNamedClone(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Cwd, r.Repos = w.dir, map[string]string{"Octo/Repo": w.clone}
	w.make(r)
}

// What a killed maker left is never used.
func TestHalfMade(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.trees.Root, pr.Slug())
	n, err := w.trees.lock(w.ctx, pr.Slug())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.begin(made{Ref: pr.Key(), Clone: filepath.Join(w.clone, ".git"), Branch: "loop/pr-16"}); err != nil {
		t.Fatal(err)
	}
	n.unlock()
	w.git(w.clone, "config", "branch.loop/pr-16.loopRef", pr.Key())
	w.git(w.clone, "worktree", "add", "-q", "--lock", "-b", "loop/pr-16", path, "main")
	w.write("state/trees/github-octo-repo-16/rubbish", "x")
	if got := w.make(w.request()); got != path {
		t.Errorf("tree is %q", got)
	}
	if got := w.git(path, "status", "--porcelain"); got != "" {
		t.Errorf("status is %q", got)
	}
	if got := w.git(path, "rev-parse", "HEAD"); got != w.otherHead {
		t.Errorf("HEAD is %s, want %s", got, w.otherHead)
	}
}

// Two makers never meet, for one tree or for several of one clone.
func TestManyMakers(t *testing.T) {
	w := newWorld(t)
	var wait sync.WaitGroup
	for i := range 9 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			r := w.request()
			r.Ref.Number += int64(i % 3)
			got, err := w.trees.Make(w.ctx, r)
			if err != nil || filepath.Base(got.Path) != r.Ref.Slug() {
				t.Errorf("%q, %v", got.Path, err)
			}
		}()
	}
	wait.Wait()
	if n := len(w.list()); n != 4 {
		t.Errorf("%d trees, want the clone and three", n)
	}
}

// What is not ours stays: a directory in the way, a branch in the way.
func TestStrangersAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.write("state/trees/github-octo-repo-16/mine", "x")
	w.git(w.clone, "branch", "loop/pr-16", "main")
	path := w.make(w.request())
	if filepath.Base(path) != "github-octo-repo-16~"+pr.Hash8() {
		t.Errorf("tree is %q", path)
	}
	if got := w.git(path, "rev-parse", "--abbrev-ref", "HEAD"); got != "loop/pr-16-"+pr.Hash8() {
		t.Errorf("branch is %q", got)
	}
	if got := w.git(w.clone, "rev-parse", "loop/pr-16"); got != w.mainHead {
		t.Errorf("the user's branch moved to %s", got)
	}
	if err := w.trees.Remove(w.ctx, filepath.Join(w.trees.Root, pr.Slug()), Removal{Force: true}); err == nil || !strings.Contains(err.Error(), "is no tree that gh-loop made") {
		t.Errorf("removing the user's directory: %v", err)
	}
}

// A tree that a person deleted is made again; one whose clone is gone is kept.
func TestTreeOrCloneGone(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	w.git(path, "commit", "-q", "--allow-empty", "-m", "mine")
	mine := w.git(path, "rev-parse", "HEAD")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	w.make(w.request())
	if got := w.git(path, "rev-parse", "HEAD"); got != mine {
		t.Errorf("the commit is lost: HEAD is %s", got)
	}
	if err := os.Rename(w.clone, w.clone+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.trees.Make(w.ctx, w.request()); err == nil || !strings.Contains(err.Error(), "has lost its clone") {
		t.Error(err)
	}
	if err := w.trees.Remove(w.ctx, path, Removal{}); err == nil || !strings.Contains(err.Error(), "cannot be told") {
		t.Error(err)
	}
	if err := w.trees.Remove(w.ctx, path, Removal{Force: true}); err != nil || !free(path) {
		t.Error(err)
	}
}

func TestClone(t *testing.T) {
	w := newWorld(t)
	w.write("clone/sub/x", "")
	w.write("plain/.git/nothing", "")
	for dir, want := range map[string]string{"clone": w.clone, "clone/sub": w.clone, "clone/.git": "", "octo/repo.git": "", "plain": "", ".": ""} {
		root, ok, err := w.trees.Clone(w.ctx, filepath.Join(w.dir, dir))
		if err != nil || root != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, %v", dir, root, ok, err)
		}
	}
	for _, dir := range []string{"nowhere", "clone/.git/HEAD"} {
		if _, _, err := w.trees.Clone(w.ctx, filepath.Join(w.dir, dir)); err == nil {
			t.Errorf("%s is taken for a directory", dir)
		}
	}
}

// Rule 32: tried again only when something changed.
func TestBasis(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	was := w.trees.Basis(r)
	if again := w.trees.Basis(r); again != was || was == "" {
		t.Errorf("%q, then %q", was, again)
	}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"head", func() { r.Head.SHA = w.otherHead }},
		{"remote", func() { w.git(w.clone, "remote", "add", "upstream", "https://github.com/octo/repo") }},
		{"branch", func() { w.git(w.clone, "branch", "loop/pr-16") }},
		{"clone", func() { r.Repos = map[string]string{"octo/repo": w.clone} }},
		{"cwd", func() { r.Cwd = w.dir }},
	} {
		c.change()
		now := w.trees.Basis(r)
		if now == was {
			t.Errorf("a change of %s is not seen", c.name)
		}
		was = now
	}
}

func TestNoGit(t *testing.T) {
	w := newWorld(t)
	w.trees.Git = "surely-not-there"
	if _, _, err := w.trees.Clone(w.ctx, w.clone); err == nil || !strings.Contains(err.Error(), "install git") {
		t.Error(err)
	}
}
