package tree

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// A tree that a person moved by hand is the person's: the new one in its place
// shares nothing with it.
func TestTreeIsMoved(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	away := filepath.Join(w.dir, "away")
	for _, name := range []string{"1", "2", "3"} {
		if err := os.Rename(path, away+name); err != nil {
			t.Fatal(err)
		}
		w.make(w.request())
		if got := w.fails(away+name, "status"); !strings.Contains(got, "not a git repository") {
			t.Errorf("the moved tree works on: %s", got)
		}
	}
	if got := w.git(path, "status", "--porcelain", "--branch"); !strings.HasPrefix(got, "## loop/pr-16...origin/feature") {
		t.Errorf("the new tree is %s", got)
	}
}

// One that was moved with git goes on where it is; ours gets another branch.
func TestTreeIsMovedByGit(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	w.git(w.clone, "worktree", "move", path, filepath.Join(w.dir, "away"))
	w.make(w.request())
	for dir, want := range map[string]string{path: "loop/pr-16-" + pr.Hash8(), filepath.Join(w.dir, "away"): "loop/pr-16"} {
		if got := w.git(dir, "branch", "--show-current"); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	w.commit(path, "mine")
	w.git(path, "push", "-q")
}

// A clone that was moved finds its trees again, work and all.
func TestCloneIsMoved(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	w.write("state/trees/github-octo-repo-16/mine", "x")
	moved := filepath.Join(w.dir, "moved")
	if err := os.Rename(w.clone, moved); err != nil {
		t.Fatal(err)
	}
	if d := w.declines(w.request()); !strings.Contains(d.Why, "has lost its clone") {
		t.Error(d)
	}
	r := w.request()
	r.Cwd = moved
	got, err := w.trees.Make(w.ctx, r)
	if err != nil || got.New || got.Path != path || w.git(path, "status", "--porcelain") != "?? mine" {
		t.Errorf("%+v, %v", got, err)
	}
	w.clone = moved
	if len(w.list()) != 2 {
		t.Errorf("%q", w.list())
	}
}

// After a force-push our branch stays where it is, with what only it has.
func TestHeadIsForcePushed(t *testing.T) {
	w := newWorld(t)
	path := w.make(w.request())
	was := w.git(path, "rev-parse", "HEAD")
	w.git(w.clone, "commit", "-q", "--allow-empty", "-m", "another history")
	w.git(w.clone, "push", "-q", "--force", "origin", "HEAD:feature")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	w.make(w.request())
	if got := w.git(path, "rev-parse", "HEAD"); got != was {
		t.Errorf("HEAD is %s, want %s", got, was)
	}
	if got := w.git(path, "status", "--porcelain", "--branch"); !strings.Contains(got, "[ahead 1, behind 1]") {
		t.Errorf("it does not tell: %s", got)
	}
	if got := w.fails(path, "push"); !strings.Contains(got, "non-fast-forward") {
		t.Errorf("git says %s", got)
	}
	// Nobody has the old head any more but we: unless GitHub is known to.
	if err := w.trees.Remove(w.ctx, path, Removal{}); err == nil {
		t.Error("the old head is lost")
	}
	if err := w.trees.Remove(w.ctx, path, Removal{Known: []string{was}}); err != nil {
		t.Error(err)
	}
}

// Branches whose names only look dangerous work, from the first to the last.
func TestBranchNames(t *testing.T) {
	for _, name := range []string{"feat/ünïcode-漢字", "';touch${IFS}x;'", "$(touch${IFS}x)", "a@b", "x/-y"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.git(w.remote, "branch", name, "feature")
			r := w.request()
			r.Head = work.Head{Branch: name}
			path := w.make(r)
			mine := w.commit(path, "mine")
			w.git(path, "push", "-q")
			if got := w.git(w.remote, "rev-parse", "refs/heads/"+name); got != mine {
				t.Errorf("the remote's is %s, want %s", got, mine)
			}
		})
	}
}

// Repositories that are not as usual.
func TestKindsOfClones(t *testing.T) {
	for name, make := range map[string]func(w *world, dir string){
		"shallow": func(w *world, dir string) { w.git(w.dir, "clone", "-q", "--depth=1", "file://"+w.remote, dir) },
		"single":  func(w *world, dir string) { w.git(w.dir, "clone", "-q", "--single-branch", w.remote, dir) },
		"partial": func(w *world, dir string) {
			w.git(w.remote, "config", "uploadpack.allowFilter", "true")
			w.git(w.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
			w.git(w.dir, "clone", "-q", "--filter=blob:none", "file://"+w.remote, dir)
		},
		"sparse": func(w *world, dir string) {
			w.git(w.dir, "clone", "-q", w.remote, dir)
			w.git(dir, "sparse-checkout", "set", "only")
		},
		"linked": func(w *world, dir string) { w.git(w.clone, "worktree", "add", "-q", "--detach", dir) },
		"empty": func(w *world, dir string) {
			w.git(w.dir, "init", "-q", dir)
			w.git(dir, "remote", "add", "origin", w.remote)
		},
		"packed": func(w *world, dir string) {
			w.git(w.dir, "clone", "-q", w.remote, dir)
			w.git(dir, "pack-refs", "--all")
		},
		"own hooks": func(w *world, dir string) {
			w.git(w.dir, "clone", "-q", w.remote, dir)
			w.write("hooks/post-checkout", "#!/bin/sh\nsleep 600\n")
			w.write("hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
			w.write("hooks/fsmonitor", "#!/bin/sh\nsleep 600\n")
			w.git(dir, "config", "core.fsmonitor", filepath.Join(w.dir, "hooks", "fsmonitor"))
			w.git(dir, "config", "core.hooksPath", filepath.Join(w.dir, "hooks"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			side := filepath.Join(w.dir, "side")
			w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
			w.commit(side, "file")
			w.git(side, "push", "-q")
			dir := filepath.Join(w.dir, "c "+name)
			make(w, dir)
			r := w.request()
			r.Cwd = dir
			path := w.make(r)
			if _, err := os.Stat(filepath.Join(path, "file")); err != nil {
				t.Error(err)
			}
			if name == "own hooks" {
				w.git(dir, "config", "--unset", "core.hooksPath")
				w.git(dir, "config", "--unset", "core.fsmonitor")
			}
			mine := w.commit(path, "mine")
			w.git(path, "push", "-q")
			if got := w.git(w.remote, "rev-parse", "feature"); got != mine {
				t.Errorf("the remote's feature is %s, want %s", got, mine)
			}
			if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// In a bare repository there is no working tree to fight over.
func TestCwdIsBare(t *testing.T) {
	w := newWorld(t)
	if _, ok, err := w.trees.Clone(w.ctx, w.remote); ok || err != nil {
		t.Error(ok, err)
	}
}

// A disk that is full half way leaves nothing half made.
func TestDiskIsFull(t *testing.T) {
	w := newWorld(t)
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
	w.write("side/a", "small")
	w.write("side/b", strings.Repeat("large", 1<<20))
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "large")
	w.git(side, "push", "-q")
	w.program("ulimit -f 512; trap '' XFSZ; git \"$@\"")
	d := w.declines(w.request())
	if !d.Temporary || len(w.list()) != 1 || !free(filepath.Join(w.trees.Root, pr.Slug())) || w.git(w.clone, "branch", "--list", "loop/*") != "" {
		t.Errorf("%v, %q", d, w.list())
	}
	w.trees.Git = ""
	if path := w.make(w.request()); w.git(path, "status", "--porcelain") != "" {
		t.Error("the tree is not whole")
	}
}

// Nor does one that is full half way through a clone of ours.
func TestDiskIsFullInClone(t *testing.T) {
	w := newWorld(t)
	w.git(w.clone, "remote", "set-url", "origin", "file://"+w.remote)
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	w.write("side/noise", string(noise))
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "large")
	w.git(side, "push", "-q", "origin", "feature", "feature:refs/pull/3/head")
	w.bare("octo/lib.git")
	r := w.request()
	r.Ref = work.Ref{Owner: "octo", Repo: "lib", Number: 3}
	w.write("git", "#!/bin/sh\ncase \"$*\" in *clone*) ulimit -f 512; trap '' XFSZ;; esac\nexec git \"$@\"\n")
	w.trees.Git = filepath.Join(w.dir, "git")
	d := w.declines(r)
	left, _ := filepath.Glob(filepath.Join(w.trees.Root, clones, "*"))
	if !d.Temporary || !strings.Contains(d.Why, "octo/lib cannot be cloned from") || len(left) > 0 || !free(filepath.Join(w.trees.Root, r.Ref.Slug())) {
		t.Errorf("%v, %q is left", d, left)
	}
	w.trees.Git = ""
	if path := w.make(r); w.git(path, "status", "--porcelain") != "" || free(path) {
		t.Error("the tree is not whole")
	}
}
