package tree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRemove(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	for range 2 {
		if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil || !free(path) || len(w.list()) != 1 {
			t.Fatalf("%v, %q", err, w.list())
		}
	}
	if got := w.git(w.clone, "branch", "--list", "loop/*"); got != "" {
		t.Errorf("branch %s is left", got)
	}
	w.make(w.request())
	w.write("state/trees/github-octo-repo-16/new file", "x")
	w.git(path, "commit", "-q", "--allow-empty", "-m", "three")
	mine := w.git(path, "rev-parse", "HEAD")
	var dirty *DirtyError
	err := w.trees.Remove(w.ctx, path, Removal{})
	want := `has 1 changed file: "new file" and 1 commit that no remote has; commit and push, or remove it with --force`
	if !errors.As(err, &dirty) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := w.trees.Remove(w.ctx, path, Removal{Force: true}); err != nil || !free(path) {
		t.Fatal(err)
	}
	if got := w.git(w.clone, "rev-parse", "loop/pr-16"); got != mine {
		t.Errorf("force lost the commit: %s, want %s", got, mine)
	}
}

func TestRemoveOnlyBelowRoot(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{w.clone, w.trees.Root, w.trees.Root + "/..", w.trees.Root + "/../trees", w.trees.Root + "/.loop", w.trees.Root + "/a/b", "", "/"} {
		if err := w.trees.Remove(w.ctx, path, Removal{Force: true}); err == nil {
			t.Errorf("%q was removed", path)
		}
	}
	if _, err := os.Stat(w.clone); err != nil {
		t.Error(err)
	}
}

// What a pull request's last head holds is not lost, be it merged by squash and
// its branch gone: GitHub keeps it.
func TestRemoveSquashed(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	mine := w.commit(path, "mine")
	w.git(path, "push", "-q")
	w.git(w.remote, "update-ref", "refs/pull/16/head", "feature")
	w.git(w.remote, "branch", "-D", "feature")
	w.git(w.clone, "fetch", "-q", "--prune")
	if err := w.trees.Remove(w.ctx, path, Removal{}); err == nil || !strings.Contains(err.Error(), "2 commits that no remote has") {
		t.Error(err)
	}
	later := w.commit(path, "later")
	if err := w.trees.Remove(w.ctx, path, Removal{Known: []string{mine}, Pulls: []int64{16}}); err == nil || !strings.Contains(err.Error(), "1 commit that no remote has") {
		t.Errorf("%s is lost: %v", later, err)
	}
	w.git(path, "reset", "-q", "--hard", mine)
	if err := w.trees.Remove(w.ctx, path, Removal{Known: []string{mine, strings.Repeat("0", 40), "-x", ""}}); err != nil {
		t.Error(err)
	}
}

// Without a record of the head the remote is asked, and without an answer the tree is kept.
func TestRemoveAsksTheRemote(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	mine := w.commit(path, "mine")
	w.git(path, "push", "-q", "origin", "HEAD:refs/pull/16/head")
	if err := os.Rename(w.remote, w.remote+".away"); err != nil {
		t.Fatal(err)
	}
	how := Removal{Pulls: []int64{16}}
	if err := w.trees.Remove(w.ctx, path, how); err == nil {
		t.Errorf("%s is lost", mine)
	}
	if list, err := w.trees.List(); err != nil || len(list) != 1 || list[0] != (Listed{path, pr.Key(), "1 commit that no remote has"}) {
		t.Errorf("%+v, %v", list, err)
	}
	if err := os.Rename(w.remote+".away", w.remote); err != nil {
		t.Fatal(err)
	}
	if err := w.trees.Remove(w.ctx, path, how); err != nil {
		t.Error(err)
	}
	if list, err := w.trees.List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestRemoveKeeps(t *testing.T) {
	for want, change := range map[string]func(w *world, path string){
		"an unfinished merge": func(w *world, path string) {
			w.git(path, "checkout", "-q", "--detach", "HEAD~")
			w.git(path, "merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "origin/feature")
		},
		"a lock (git worktree lock)":                                  func(w *world, path string) { w.git(w.clone, "worktree", "lock", path) },
		"a state that cannot be told: its clone is gone":              func(w *world, _ string) { _ = os.Rename(w.clone, w.clone+".away") },
		"commits that cannot be told: git rev-parse: exit status 128": func(w *world, path string) { w.git(path, "update-ref", "-d", "refs/heads/loop/pr-16") },
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			path := w.make(w.request())
			change(w, path)
			if err := w.trees.Remove(w.ctx, path, Removal{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if lost, err := w.trees.Lost(w.ctx, path, Removal{}); err != nil || !strings.Contains(strings.Join(lost, " and "), want) {
				t.Errorf("%q, %v", lost, err)
			}
			if err := w.trees.Remove(w.ctx, path, Removal{Force: true}); err != nil || !free(path) {
				t.Error(err)
			}
		})
	}
}

// A tree that somebody stands in is kept until they leave.
func TestRemoveStandingIn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells where processes stand")
	}
	w := newWorld(t)
	path := w.make(w.request())
	cmd := exec.Command("sleep", "600")
	cmd.Dir = filepath.Join(path, ".")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	want := fmt.Sprintf("it has somebody at work in it: process %d (sleep);", cmd.Process.Pid)
	if err := w.trees.Remove(w.ctx, path, Removal{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	_ = cmd.Process.Kill()
	if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
		t.Error(err)
	}
}
