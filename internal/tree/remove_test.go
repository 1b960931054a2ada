package tree

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestRemove(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	for range 2 {
		if err := w.trees.Remove(w.ctx, path, false); err != nil || !free(path) || len(w.list()) != 1 {
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
	err := w.trees.Remove(w.ctx, path, false)
	want := `has 1 changed file: "new file" and 1 commit that no remote has; commit and push, or remove it with --force`
	if !errors.As(err, &dirty) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := w.trees.Remove(w.ctx, path, true); err != nil || !free(path) {
		t.Fatal(err)
	}
	if got := w.git(w.clone, "rev-parse", "loop/pr-16"); got != mine {
		t.Errorf("force lost the commit: %s, want %s", got, mine)
	}
}

func TestRemoveOnlyBelowRoot(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{w.clone, w.trees.Root, w.trees.Root + "/..", w.trees.Root + "/../trees", w.trees.Root + "/.loop", w.trees.Root + "/a/b", "", "/"} {
		if err := w.trees.Remove(w.ctx, path, true); err == nil {
			t.Errorf("%q was removed", path)
		}
	}
	if _, err := os.Stat(w.clone); err != nil {
		t.Error(err)
	}
}
