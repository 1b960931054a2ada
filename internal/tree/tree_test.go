package tree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	t                   *testing.T
	dir, remote, clone  string
	trees               Trees
	ctx                 context.Context
	mainHead, otherHead string
}

var first struct{ dir, mainHead, otherHead string } // what every world is a copy of

func TestMain(m *testing.M) {
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_TEMPLATE_DIR": "",
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
		"init -q --bare -b main ../remote.git",
		"init -q -b main",
		"remote add origin ../remote.git",
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
	dir := real(t.TempDir())
	if err := os.CopyFS(dir, os.DirFS(first.dir)); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, remote: filepath.Join(dir, "remote.git"), clone: filepath.Join(dir, "clone"), ctx: context.Background()}
	w.mainHead, w.otherHead = first.mainHead, first.otherHead
	w.trees = Trees{Root: filepath.Join(dir, "state", "trees"), Timeout: 20 * time.Second}
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

func (w *world) request() Request {
	return Request{Cwd: w.clone, Item: item, PR: pr, Head: work.Head{Branch: "feature"}}
}

func (w *world) make(r Request) string {
	w.t.Helper()
	path, err := w.trees.Make(w.ctx, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

// list is the trees that the clone knows, the clone itself included.
func (w *world) list() []string {
	return strings.Split(w.git(w.clone, "worktree", "list"), "\n")
}

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
		{"other repository", "is a clone of octo/lib", false, func(_ *world, r *Request) { r.PR.Repo = "lib" }},
		{"fork", `comes from the fork "cat/repo"`, false, func(_ *world, r *Request) { r.Head.Repo = "cat/repo" }},
		{"flag", `begins with "-"`, false, func(_ *world, r *Request) { r.Head.Branch = "--upload-pack=touch" }},
		{"dots", `contains ".."`, false, func(_ *world, r *Request) { r.Head.Branch = "a..b" }},
		{"branch gone", `refs/heads/nowhere is not on the remote "origin"`, false, func(_ *world, r *Request) { r.Head.Branch = "nowhere" }},
		{"root inside", "trees would stand inside the clone", false, func(w *world, _ *Request) { w.trees.Root = filepath.Join(w.clone, "trees") }},
		{"remote away", "cannot be fetched", true, func(w *world, _ *Request) { _ = os.Rename(w.remote, w.remote+".away") }},
		{"named clone away", "the clone \"/nonexistent\" of octo/lib cannot be used", false, func(_ *world, r *Request) {
			r.PR.Repo, r.Repos = "lib", map[string]string{"octo/lib": "/nonexistent"}
		}},
		{"hook fails", "cannot be made", true, func(w *world, _ *Request) { w.write("clone/.git/hooks/post-checkout", "#!/bin/sh\nexit 1\n") }},
		{"hook hangs", "did not end within", true, func(w *world, _ *Request) {
			w.write("clone/.git/hooks/post-checkout", "#!/bin/sh\nexec sleep 600\n")
			w.trees.Timeout = time.Second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.request()
			c.change(w, &r)
			path, err := w.trees.Make(w.ctx, r)
			var d *DeclinedError
			if !errors.As(err, &d) || d.Reason != "declined-tree" || d.Temporary != c.temporary || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v\nwant %s", path, err, c.want)
			}
			if n := len(w.list()); n != 1 || !free(filepath.Join(w.trees.Root, r.PR.Slug())) {
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
			r.PR.Number += int64(i % 3)
			path, err := w.trees.Make(w.ctx, r)
			if err != nil || filepath.Base(path) != r.PR.Slug() {
				t.Errorf("%q, %v", path, err)
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
	if err := w.trees.Remove(w.ctx, filepath.Join(w.trees.Root, pr.Slug()), true); err == nil || !strings.Contains(err.Error(), "is no tree that gh-loop made") {
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
	if err := w.trees.Remove(w.ctx, path, false); err == nil || !strings.Contains(err.Error(), "cannot be told") {
		t.Error(err)
	}
	if err := w.trees.Remove(w.ctx, path, true); err != nil || !free(path) {
		t.Error(err)
	}
}

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

func TestClone(t *testing.T) {
	w := newWorld(t)
	w.write("clone/sub/x", "")
	w.write("plain/.git/nothing", "")
	for dir, want := range map[string]string{"clone": w.clone, "clone/sub": w.clone, "clone/.git": "", "remote.git": "", "plain": "", ".": ""} {
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
	was := w.trees.Basis(w.ctx, r)
	if again := w.trees.Basis(w.ctx, r); again != was || was == "" {
		t.Errorf("%q, then %q", was, again)
	}
	for name, change := range map[string]func(){
		"head":   func() { r.Head.SHA = w.otherHead },
		"remote": func() { w.git(w.clone, "remote", "add", "upstream", "https://github.com/octo/repo") },
		"branch": func() { w.git(w.clone, "branch", "loop/pr-16") },
		"clone":  func() { r.Repos = map[string]string{"octo/repo": w.clone} },
		"cwd":    func() { r.Cwd = w.dir },
	} {
		change()
		now := w.trees.Basis(w.ctx, r)
		if now == was {
			t.Errorf("a change of %s is not seen", name)
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
