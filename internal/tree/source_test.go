package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// A fork's pull request is fetched by its number, and pushed to the fork.
func TestFork(t *testing.T) {
	w := newWorld(t)
	fork := w.bare("cat/repo.git")
	r := w.request()
	r.Head = work.Head{Branch: "topic", SHA: w.otherHead, Repo: "cat/repo"}
	path := w.make(r)
	if got := w.git(path, "rev-parse", "HEAD"); got != w.otherHead {
		t.Errorf("HEAD is %s, want %s", got, w.otherHead)
	}
	mine := w.commit(path, "mine")
	w.git(path, "push", "-q")
	if got := w.git(fork, "rev-parse", "refs/heads/topic"); got != mine {
		t.Errorf("the fork's topic is %s, want %s", got, mine)
	}
	if got := w.git(w.remote, "for-each-ref", "--format=%(refname)", "refs/heads"); got != "refs/heads/feature\nrefs/heads/main" {
		t.Errorf("the repository has %s", got)
	}
	// Nothing here follows the fork: it is asked, and the pull request's head.
	how := Removal{Pulls: []int64{16}}
	if err := os.Rename(fork, fork+".away"); err != nil {
		t.Fatal(err)
	}
	if err := w.trees.Remove(w.ctx, path, how); err == nil {
		t.Error("a commit that nobody is known to have is lost")
	}
	w.git(w.remote, "fetch", "-q", fork+".away", "+topic:refs/pull/16/head")
	if err := w.trees.Remove(w.ctx, path, how); err != nil {
		t.Error(err)
	}
}

// Where a fork does not let us push, the tree says so.
func TestForkCannotPush(t *testing.T) {
	for name, c := range map[string]struct {
		head work.Head
		want string
	}{
		"gone":    {work.Head{Branch: "topic", Repo: "(gone)"}, "nowhere, as the fork of octo/repo#16 is gone"},
		"refused": {work.Head{Branch: "topic", Repo: "cat/repo", NoPush: true}, "nowhere, as cat/repo lets nobody else push to it"},
		"unknown": {work.Head{Repo: "cat/repo"}, "nowhere, as the head branch of octo/repo#16 is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.request()
			r.Head = c.head
			path := w.make(r)
			w.commit(path, "mine")
			if got := w.fails(path, "push"); !strings.Contains(got, c.want) {
				t.Errorf("git says %q, want %q", got, c.want)
			}
		})
	}
}

// A fork for which the clone has a remote is no stranger's.
func TestForkWithRemote(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "remote", "add", "mine", "https://github.com/cat/repo.git")
	w.trees.Fresh = Fresh{Setup: []string{"touch", "setup"}, Logs: w.dir}
	r := w.request()
	r.Head = work.Head{Branch: "topic", Repo: "cat/repo", NoPush: true}
	path := w.make(r)
	if got := w.git(path, "config", "--get-regexp", `^branch\.loop/pr-16\.(push)?remote$`); got != "branch.loop/pr-16.remote mine\nbranch.loop/pr-16.pushremote mine" {
		t.Errorf("the branch goes to %q", got)
	}
	if _, err := os.Stat(filepath.Join(path, "setup")); err != nil {
		t.Error(err)
	}
}

// Trees of another repository come from a clone that the user named, bare or
// not, or from one that we make.
func TestOtherRepository(t *testing.T) {
	for name, clone := range map[string]func(w *world) string{
		"ours": func(*world) string { return "" },
		"named": func(w *world) string {
			w.git(w.dir, "clone", "-q", "octo/lib.git", "lib")
			return filepath.Join(w.dir, "lib")
		},
		"bare": func(w *world) string {
			w.git(w.dir, "clone", "-q", "--bare", "octo/lib.git", "lib")
			return filepath.Join(w.dir, "lib")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			lib := w.bare("octo/lib.git")
			w.git(lib, "update-ref", "refs/pull/3/head", "feature")
			r := w.request()
			r.Ref = work.Ref{Owner: "octo", Repo: "lib", Number: 3}
			if dir := clone(w); dir != "" {
				r.Repos = map[string]string{"octo/lib": dir}
			} else {
				half := filepath.Join(w.trees.Root, clones, "octo-lib~c45e0127.part")
				if err := os.MkdirAll(filepath.Join(half, ".git"), 0o700); err != nil { // of a killed maker
					t.Fatal(err)
				}
			}
			path := w.make(r)
			mine := w.commit(path, "mine")
			push := []string{"push", "-q"}
			if name == "bare" {
				push = append(push, "origin", "HEAD:feature") // git tells what to type
			}
			w.git(path, push...)
			if got := w.git(lib, "rev-parse", "feature"); got != mine {
				t.Errorf("the remote's feature is %s, want %s", got, mine)
			}
			if got := w.list(); len(got) != 1 {
				t.Errorf("the item's clone has trees %q", got)
			}
			if name != "ours" {
				return
			}
			left, _ := filepath.Glob(filepath.Join(w.trees.Root, clones, "*"))
			if len(left) != 1 || strings.HasSuffix(left[0], ".part") {
				t.Errorf("clones are %q", left)
			}
		})
	}
}

// Without an event that told the head, the branch is the one with the same commit.
func TestHeadIsAskedFor(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Head = work.Head{}
	path := w.make(r)
	mine := w.commit(path, "mine")
	w.git(path, "push", "-q")
	if got := w.git(w.remote, "rev-parse", "feature"); got != mine {
		t.Errorf("the remote's feature is %s, want %s", got, mine)
	}
	w.git(w.remote, "update-ref", "refs/pull/17/head", w.mainHead+"^{commit}")
	w.git(w.remote, "branch", "same", w.mainHead)
	r.Ref.Number = 17
	path = w.make(r)
	w.commit(path, "mine")
	if got := w.fails(path, "push"); !strings.Contains(got, "is not known") {
		t.Errorf("git says %q", got)
	}
	r.Ref.Number = 99
	if d := w.declines(r); d.Temporary || !strings.Contains(d.Why, "refs/pull/99/head is not on the remote") {
		t.Error(d)
	}
}

// An item's tree is on a fresh branch of the default branch, which is pushed
// under its own name; made again, it goes on where that is.
func TestFreshBranch(t *testing.T) {
	w := newWorld(t)
	w.git(w.remote, "branch", "-m", "main", "trunk")
	w.git(w.remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
	got, err := w.trees.Make(w.ctx, w.fresh())
	if err != nil || got.Branch != "issue-15" || !got.New {
		t.Fatalf("%+v, %v", got, err)
	}
	mine := w.commit(got.Path, "mine")
	w.git(got.Path, "push", "-q")
	if at := w.git(w.remote, "rev-parse", "issue-15", "issue-15~"); at != mine+"\n"+w.mainHead {
		t.Errorf("the remote has %s", at)
	}
	if err := w.trees.Remove(w.ctx, got.Path, Removal{}); err != nil {
		t.Fatal(err)
	}
	if again, err := w.trees.Make(w.ctx, w.fresh()); err != nil || again.Path != got.Path || w.git(again.Path, "rev-parse", "HEAD") != mine {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestFreshBranchIsTaken(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "branch", "issue-15/other")
	w.git(w.remote, "branch", "issue-15-2", "main")
	w.git(w.clone, "branch", "issue-15-3")
	got, err := w.trees.Make(w.ctx, w.fresh())
	if err != nil || got.Branch != "issue-15-4" {
		t.Errorf("%+v, %v", got, err)
	}
	w.git(w.clone, "branch", "loop") // git keeps no loop/pr-16 beside it
	if path := w.make(w.request()); w.git(path, "branch", "--show-current") != "loop-pr-16" {
		t.Errorf("branch is %s", w.git(path, "branch", "--show-current"))
	}
}

// An item that is a pull request gets a tree on its head.
func TestItemIsPullRequest(t *testing.T) {
	w := newWorld(t)
	r := w.fresh()
	r.Ref, r.Item = pr, pr
	path := w.make(r)
	if got := w.git(path, "branch", "--show-current"); got != "loop/pr-16" {
		t.Errorf("branch is %q", got)
	}
	if got := w.git(path, "rev-parse", "HEAD"); got != w.otherHead {
		t.Errorf("HEAD is %s, want %s", got, w.otherHead)
	}
}

func TestFreshWithoutNetwork(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "remote", "set-head", "origin", "main")
	if err := os.Rename(w.remote, w.remote+".away"); err != nil {
		t.Fatal(err)
	}
	got, err := w.trees.Make(w.ctx, w.fresh())
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "does not answer") || w.git(got.Path, "rev-parse", "HEAD") != w.mainHead {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFreshWithoutRemote(t *testing.T) {
	w := newWorld(t)
	w.git(w.dir, "init", "-q", "-b", "trunk", "alone")
	r := w.fresh()
	r.Cwd = filepath.Join(w.dir, "alone")
	if d := w.declines(r); d.Temporary || !strings.Contains(d.Why, "has no commit yet") {
		t.Error(d)
	}
	first := w.commit(r.Cwd, "first")
	if path := w.make(r); w.git(path, "rev-parse", "HEAD") != first {
		t.Error("the branch does not begin where the clone is")
	}
}
