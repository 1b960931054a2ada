package tree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

var (
	item = work.Ref{Owner: "octo", Repo: "repo", Number: 15}
	pr   = work.Ref{Owner: "octo", Repo: "repo", Number: 16}
)

// world is a bare remote with the branches main and feature, and a clone of it
// in which somebody works on main.
type world struct {
	t                   testing.TB
	dir, remote, clone  string
	trees               Trees
	ctx                 context.Context
	mainHead, otherHead string
}

var first struct{ dir, mainHead, otherHead string } // what every world is a copy of

func TestMain(m *testing.M) {
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always", // for submodules "GIT_TEMPLATE_DIR": "",
		"GIT_AUTHOR_NAME": "octocat", "GIT_AUTHOR_EMAIL": "octocat@example.com",
		"GIT_COMMITTER_NAME": "octocat", "GIT_COMMITTER_EMAIL": "octocat@example.com",
		"GIT_DIR": "/nonexistent", // no test may be led astray by it
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "tree")
	if err != nil {
		panic(err)
	}
	first.dir = dir
	if err := build(dir); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the first world with the code under test as its only git.
func build(dir string) error {
	clone := filepath.Join(dir, "clone")
	for _, step := range []string{
		"init -q --bare -b main ../octo/repo.git",
		"init -q -b main",
		"remote add origin ../octo/repo.git",
		"commit -q --allow-empty -m one",
		"push -q -u origin main",
		"commit -q --allow-empty -m two",
		"push -q origin main:refs/heads/feature main:refs/pull/16/head main:refs/pull/17/head",
	} {
		if err := os.MkdirAll(clone, 0o700); err != nil {
			return err
		}
		if _, err := (Trees{}).git(context.Background(), clone, strings.Fields(step)...); err != nil {
			return err
		}
	}
	heads, err := (Trees{}).git(context.Background(), clone, "rev-parse", "main~", "main")
	if err != nil {
		return err
	}
	first.mainHead, first.otherHead, _ = strings.Cut(strings.TrimSpace(heads), "\n")
	for _, step := range []string{"reset -q --hard main~", "update-ref -d refs/remotes/origin/feature"} {
		if _, err := (Trees{}).git(context.Background(), clone, strings.Fields(step)...); err != nil {
			return err
		}
	}
	return nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return openWorld(t)
}

func openWorld(t testing.TB) *world {
	t.Helper()
	dir := resolved(t.TempDir())
	if err := os.CopyFS(dir, os.DirFS(first.dir)); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, remote: filepath.Join(dir, "octo", "repo.git"), clone: filepath.Join(dir, "clone"), ctx: context.Background()}
	w.mainHead, w.otherHead = first.mainHead, first.otherHead
	w.trees = Trees{Root: filepath.Join(dir, "state", "trees"), Timeout: 20 * time.Second, Long: 20 * time.Second}
	w.git(w.clone, "remote", "set-url", "origin", w.remote)
	return w
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// program makes git do something else where it adds a tree.
func (w *world) program(add string) {
	w.write("git", "#!/bin/sh\ncase \"$*\" in *worktree\\ add*) "+add+";; *) exec git \"$@\";; esac\n")
	w.trees.Git = filepath.Join(w.dir, "git")
}

func (w *world) request() Request {
	return Request{Cwd: w.clone, Item: item, Ref: pr, Head: work.Head{Branch: "feature"}}
}

// fresh asks for the item's own tree.
func (w *world) fresh() Request { return Request{Cwd: w.clone, Item: item, Ref: item} }

// bare makes a copy of the remote under another name.
func (w *world) bare(name string) string {
	w.t.Helper()
	to := filepath.Join(w.dir, name)
	w.git(w.dir, "clone", "-q", "--bare", w.remote, to)
	return to
}

// commit makes a commit in dir that changes a file, and gives its id.
func (w *world) commit(dir, file string) string {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(file+time.Now().String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.git(dir, "add", "--", file)
	w.git(dir, "commit", "-q", "-m", file)
	return w.git(dir, "rev-parse", "HEAD")
}

// fails gives what git says when it refuses.
func (w *world) fails(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, environment()
	out, err := cmd.CombinedOutput()
	if err == nil {
		w.t.Errorf("git %q succeeds", args)
	}
	return string(out)
}

// declines makes no tree and gives the reason.
func (w *world) declines(r Request) *DeclinedError {
	w.t.Helper()
	got, err := w.trees.Make(w.ctx, r)
	var d *DeclinedError
	if !errors.As(err, &d) {
		w.t.Fatalf("%q, %v is no decline", got.Path, err)
	}
	return d
}

func (w *world) make(r Request) string {
	w.t.Helper()
	got, err := w.trees.Make(w.ctx, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Path
}

// list is the trees that the clone knows, the clone itself included.
func (w *world) list() []string {
	return strings.Split(w.git(w.clone, "worktree", "list"), "\n")
}

// until polls until something holds.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("never: %s", what)
		}
	}
}
