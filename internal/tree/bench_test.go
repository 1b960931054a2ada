package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/bench/turns"
	"github.com/gh-loop/gh-loop/internal/work"
)

// BenchmarkMake compares making a tree of 10,000 files, whose head is here
// already, with a bare git worktree add; they take turns. bars: under 1.5 times.
func BenchmarkMake(b *testing.B) {
	w := openWorld(b)
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
	files := 10_000
	if turns.Short() {
		files = 500
	}
	for i := range files {
		w.write(fmt.Sprintf("side/%02d/%02d/file-%d.go", i%50, i/50%20, i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 200))
	}
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "many")
	w.git(side, "push", "-q")
	w.git(w.clone, "fetch", "-q")
	r := w.request()
	r.Head = work.Head{Branch: "feature", SHA: w.git(side, "rev-parse", "HEAD")}
	if err := os.Rename(w.remote, w.remote+".away"); err != nil { // no network
		b.Fatal(err)
	}
	var took turns.Turns
	plain := filepath.Join(w.dir, "plain")
	for b.Loop() {
		var path string
		took.Time("tree", func() { path = w.make(r) })
		took.Time("worktree-add", func() { w.git(w.clone, "worktree", "add", "-q", "-b", "plain", plain, "origin/feature") })
		w.git(w.clone, "worktree", "remove", "--force", plain)
		w.git(w.clone, "branch", "-q", "-D", "plain")
		if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
			b.Fatal(err)
		}
	}
	took.Report(b)
}

// No network when the objects are there, and few runs of git.
func TestRunsOfGit(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "fetch", "-q")
	w.write("git", "#!/bin/sh\necho \"$@\" >>"+w.dir+"/runs\nexec git \"$@\"\n")
	w.trees.Git = filepath.Join(w.dir, "git")
	r := w.request()
	r.Head.SHA = w.otherHead
	w.make(r)
	b, err := os.ReadFile(filepath.Join(w.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	runs := strings.Split(strings.TrimSpace(string(b)), "\n")
	t.Logf("%d runs", len(runs))
	if len(runs) > 14 || strings.Contains(string(b), " fetch ") || strings.Contains(string(b), " ls-remote ") {
		t.Errorf("%d runs:\n%s", len(runs), b)
	}
	if err := os.Remove(filepath.Join(w.dir, "runs")); err != nil {
		t.Fatal(err)
	}
	w.make(r)
	if _, err := os.Stat(filepath.Join(w.dir, "runs")); err == nil {
		t.Error("git ran for a tree that is there")
	}
}
