package tree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// setUp makes a tree with what a configuration asks for.
func (w *world) setUp(f Fresh) Tree {
	w.t.Helper()
	f.Logs = filepath.Join(w.dir, "log")
	w.trees.Fresh = f
	got, err := w.trees.Make(w.ctx, w.request())
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func TestSetup(t *testing.T) {
	w := newWorld(t)
	got := w.setUp(Fresh{Setup: []string{"sh", "-c", "pwd; echo words >&2; touch .git-is-there; git status >/dev/null && touch ok"}})
	if len(got.Warnings) > 0 {
		t.Error(got.Warnings)
	}
	b, err := os.ReadFile(filepath.Join(w.dir, "log", "setup-github-octo-repo-16.log"))
	if want := got.Path + "\nwords\n"; err != nil || string(b) != want {
		t.Errorf("the log says %q, %v; want %q", b, err, want)
	}
	if _, err := os.Stat(filepath.Join(got.Path, "ok")); err != nil {
		t.Error(err)
	}
	_ = os.Remove(filepath.Join(got.Path, "ok"))
	if again := w.setUp(w.trees.Fresh); again.New {
		t.Error("a tree that is there was made again")
	}
	if _, err := os.Stat(filepath.Join(got.Path, "ok")); err == nil {
		t.Error("setup ran again")
	}
}

// A setup that fails or hangs costs no session: the agent is told where to look by a line.
func TestSetupFails(t *testing.T) {
	for name, c := range map[string]struct {
		setup []string
		want  string
	}{
		"fails": {[]string{"sh", "-c", "exit 3"}, `setup "sh" failed: exit status 3: see "`},
		"none":  {[]string{"surely-not-there"}, `setup "surely-not-there" failed: `},
		"hangs": {[]string{"sh", "-c", "trap '' TERM; sleep 600 & wait; sleep 600"}, `setup "sh" was ended after 200ms: see "`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			got := w.setUp(Fresh{Setup: c.setup, Limit: 200 * time.Millisecond})
			if len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], c.want) {
				t.Errorf("%q, want %q", got.Warnings, c.want)
			}
			w.until("setup ends", func() bool { return len(standing(got.Path)) == 0 })
		})
	}
}

// A maker that is told to end leaves nothing half made.
func TestSetupIsCutOff(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	w.trees.Fresh = Fresh{Setup: []string{"sh", "-c", "touch " + w.dir + "/began; sleep 600"}, Logs: w.dir}
	done := make(chan error)
	go func() {
		_, err := w.trees.Make(ctx, w.request())
		done <- err
	}()
	w.until("setup begins", func() bool { _, err := os.Stat(filepath.Join(w.dir, "began")); return err == nil })
	cancel()
	if err := <-done; err == nil || ctx.Err() == nil {
		t.Error("it was not cut off")
	}
	if len(w.list()) != 1 || w.git(w.clone, "branch", "--list", "loop/*") != "" {
		t.Errorf("%q is left", w.list())
	}
	w.trees.Fresh = Fresh{}
	w.make(w.request())
}

func TestCopyAndLink(t *testing.T) {
	w := newWorld(t)
	w.write("clone/.env", "SECRET=1")
	w.write("clone/conf/local.toml", "x")
	w.write("clone/deps/big", "x")
	w.write("clone/dir/x", "x")
	got := w.setUp(Fresh{Copy: []string{".env", "conf/local.toml", "nowhere", "dir"}, Link: []string{"deps"}})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "put it into workspace.link") {
		t.Error(got.Warnings)
	}
	if b, err := os.ReadFile(filepath.Join(got.Path, "conf", "local.toml")); string(b) != "x" {
		t.Error(err)
	}
	if at, err := os.Readlink(filepath.Join(got.Path, "deps")); at != filepath.Join(w.clone, "deps") {
		t.Error(at, err)
	}
	// What was brought along is not lost; what was changed since is.
	w.write("state/trees/github-octo-repo-16/.env", "SECRET=2")
	err := w.trees.Remove(w.ctx, got.Path, Removal{})
	if err == nil || !strings.Contains(err.Error(), `it has 1 changed file: ".env"; `) {
		t.Error(err)
	}
	w.write("state/trees/github-octo-repo-16/.env", "SECRET=1")
	if err := w.trees.Remove(w.ctx, got.Path, Removal{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.clone, "deps", "big")); err != nil {
		t.Error("what was linked is gone")
	}
}

// A branch cannot lead what is copied out of its tree, nor replace its files.
func TestCopyStaysInside(t *testing.T) {
	w := newWorld(t)
	w.write("clone/conf/.env", "SECRET=1")
	w.write("clone/own", "mine")
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
	w.write("outside/x", "")
	if err := os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(side, "conf")); err != nil {
		t.Fatal(err)
	}
	w.write("side/own", "theirs")
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "evil")
	w.git(side, "push", "-q")
	got := w.setUp(Fresh{Copy: []string{"conf/.env", "own"}})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], `"conf/.env" is not brought along`) {
		t.Error(got.Warnings)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "outside", ".env")); err == nil {
		t.Error("a secret left the tree")
	}
	if b, _ := os.ReadFile(filepath.Join(got.Path, "own")); string(b) != "theirs" {
		t.Errorf("own is %q", b)
	}
}

// A stranger's fork gets neither secrets nor a run of its code.
func TestForkIsNotSetUp(t *testing.T) {
	w := newWorld(t)
	w.write("clone/.env", "SECRET=1")
	w.trees.Fresh = Fresh{Copy: []string{".env"}, Setup: []string{"touch", "ran"}, Logs: w.dir}
	r := w.request()
	r.Head = work.Head{Branch: "topic", Repo: "cat/repo"}
	got, err := w.trees.Make(w.ctx, r)
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "stranger's fork") {
		t.Error(got.Warnings, err)
	}
	for _, name := range []string{".env", "ran"} {
		if _, err := os.Stat(filepath.Join(got.Path, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// Submodules are there as the clone has them: those that it has, from where it
// has them, whatever the branch says.
func TestSubmodules(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"sub", "other"} {
		w.git(w.dir, "init", "-q", "-b", "main", name)
		w.commit(filepath.Join(w.dir, name), "inside")
		w.git(w.clone, "submodule", "--quiet", "add", filepath.Join(w.dir, name), name)
	}
	w.git(w.clone, "submodule", "--quiet", "deinit", "-f", "other")
	w.git(w.clone, "config", "-f", ".gitmodules", "submodule.sub.url", "/nonexistent")
	w.git(w.clone, "commit", "-q", "-a", "-m", "sub")
	w.git(w.clone, "push", "-q", "origin", "HEAD:feature", "--force")
	got, err := w.trees.Make(w.ctx, w.request())
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(got.Warnings, err)
	}
	if _, err := os.Stat(filepath.Join(got.Path, "sub", "inside")); err != nil {
		t.Error(err)
	}
	if !free(filepath.Join(got.Path, "other")) {
		t.Error("a submodule that the clone has not is there")
	}
	w.git(filepath.Join(got.Path, "sub"), "checkout", "-q", "-b", "mine")
	w.commit(filepath.Join(got.Path, "sub"), "mine")
	w.git(got.Path, "commit", "-q", "-a", "-m", "sub moves")
	w.git(got.Path, "push", "-q")
	err = w.trees.Remove(w.ctx, got.Path, Removal{})
	if err == nil || !strings.Contains(err.Error(), "it has commits in submodules that no remote has;") {
		t.Error(err)
	}
	w.git(filepath.Join(got.Path, "sub"), "push", "-q", "origin", "mine")
	if err := w.trees.Remove(w.ctx, got.Path, Removal{}); err != nil || !free(got.Path) || len(w.list()) != 1 {
		t.Error(err, w.list())
	}
}

// Submodules within submodules are there as the clone has them as well, and
// none is fetched that the clone has.
func TestSubmodulesWithin(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"inner", "spare", "sub"} {
		w.git(w.dir, "init", "-q", "-b", "main", name)
		w.commit(filepath.Join(w.dir, name), "inside")
	}
	sub := filepath.Join(w.dir, "sub")
	w.git(sub, "submodule", "--quiet", "add", filepath.Join(w.dir, "inner"), "in/inner")
	w.git(sub, "submodule", "--quiet", "add", filepath.Join(w.dir, "spare"), "spare")
	w.git(sub, "commit", "-q", "-m", "within")
	w.git(w.clone, "submodule", "--quiet", "add", sub, "a sub")
	w.git(filepath.Join(w.clone, "a sub"), "submodule", "--quiet", "update", "--init", "in/inner")
	w.git(w.clone, "config", "-f", ".gitmodules", "submodule.a sub.url", "/nonexistent")
	w.git(w.clone, "commit", "-q", "-a", "-m", "sub")
	w.git(w.clone, "push", "-q", "origin", "HEAD:feature", "--force")
	for _, name := range []string{"inner", "spare", "sub"} { // no network
		if err := os.Rename(filepath.Join(w.dir, name), filepath.Join(w.dir, name+".away")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.trees.Make(w.ctx, w.request())
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(got.Warnings, err)
	}
	within := filepath.Join(got.Path, "a sub", "in", "inner")
	if _, err := os.Stat(filepath.Join(within, "inside")); err != nil {
		t.Error(err)
	}
	if !free(filepath.Join(got.Path, "a sub", "spare")) {
		t.Error("a submodule that the clone has not is there")
	}
	for dir, want := range map[string]string{filepath.Join(got.Path, "a sub"): sub, within: filepath.Join(w.dir, "inner")} {
		if at := w.git(dir, "remote", "get-url", "origin"); at != want {
			t.Errorf("%s comes from %s, want %s", dir, at, want)
		}
	}
	if at := w.git(filepath.Join(got.Path, "a sub"), "config", "submodule.in/inner.url"); at != filepath.Join(w.dir, "inner") {
		t.Errorf("updated it would come from %s", at)
	}
	if at := w.git(w.clone, "config", "submodule.a sub.url"); at != sub {
		t.Errorf("the clone's own comes from %s", at)
	}
	// What is only there is seen, however deep.
	w.commit(within, "mine")
	err = w.trees.Remove(w.ctx, got.Path, Removal{})
	if err == nil || !strings.Contains(err.Error(), "commits in submodules that no remote has") {
		t.Error(err)
	}
	w.git(got.Path, "submodule", "--quiet", "update", "--force", "--recursive")
	if err := w.trees.Remove(w.ctx, got.Path, Removal{}); err != nil || len(w.list()) != 1 {
		t.Error(err, w.list())
	}
}

// What the clone lacks of a submodule is fetched from where the clone has it.
func TestSubmoduleMoved(t *testing.T) {
	w := newWorld(t)
	sub := filepath.Join(w.dir, "sub")
	w.git(w.dir, "init", "-q", "-b", "main", sub)
	w.commit(sub, "inside")
	w.git(w.clone, "submodule", "--quiet", "add", sub, "sub")
	w.git(w.clone, "commit", "-q", "-m", "sub")
	later := w.commit(sub, "later")
	side := filepath.Join(w.dir, "side")
	w.git(w.clone, "worktree", "add", "-q", "-b", "side", side)
	w.git(side, "update-index", "--cacheinfo", "160000,"+later+",sub")
	w.git(side, "commit", "-q", "-m", "sub moves")
	w.git(side, "push", "-q", "origin", "HEAD:feature", "--force")
	got, err := w.trees.Make(w.ctx, w.request())
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(got.Warnings, err)
	}
	if at := w.git(filepath.Join(got.Path, "sub"), "rev-parse", "HEAD"); at != later {
		t.Errorf("it is at %s, want %s", at, later)
	}
}

// Filters run as the clone has them, LFS for one; one that hangs is bounded.
func TestFilters(t *testing.T) {
	w := newWorld(t)
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", w.remote, side)
	w.write("side/.gitattributes", "*.big filter=large\n")
	w.write("side/a.big", "pointer\n")
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "large")
	w.git(side, "push", "-q")
	w.git(w.clone, "config", "filter.large.smudge", "sed s/pointer/content/")
	w.git(w.clone, "config", "filter.large.clean", "sed s/content/pointer/")
	path := w.make(w.request())
	if b, err := os.ReadFile(filepath.Join(path, "a.big")); string(b) != "content\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
		t.Fatal(err)
	}
	w.git(w.clone, "config", "filter.large.smudge", "sleep 600")
	w.trees.Long = time.Second
	if d := w.declines(w.request()); !strings.Contains(d.Why, "did not end within 1s") || len(w.list()) != 1 {
		t.Error(d, w.list())
	}
}

// Files in LFS are whole in a tree, without a network where the clone has them,
// and can be pushed; without LFS's remote the tree is not made.
func TestLFS(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed; TestFilters has a filter of its own")
	}
	w := newWorld(t)
	large := strings.Repeat("large ", 1000)
	side := filepath.Join(w.dir, "side")
	w.git(w.dir, "clone", "-q", "-b", "feature", "file://"+w.remote, side)
	w.git(w.clone, "remote", "set-url", "origin", "file://"+w.remote)
	for _, dir := range []string{side, w.clone} {
		w.git(dir, "lfs", "install", "--local")
	}
	w.git(side, "lfs", "track", "*.big")
	w.write("side/a.big", large)
	w.git(side, "add", "-A")
	w.git(side, "commit", "-q", "-m", "large")
	w.git(side, "push", "-q")
	path := w.make(w.request())
	if b, err := os.ReadFile(filepath.Join(path, "a.big")); string(b) != large {
		t.Errorf("%.40q, %v", b, err)
	}
	w.write("state/trees/github-octo-repo-16/a.big", large+"and more")
	w.git(path, "commit", "-q", "-a", "-m", "larger")
	w.git(path, "push", "-q")
	r := w.request()
	r.Head.SHA = w.git(path, "rev-parse", "HEAD")
	if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.remote, w.remote+".away"); err != nil { // no network
		t.Fatal(err)
	}
	w.make(r)
	if b, err := os.ReadFile(filepath.Join(path, "a.big")); string(b) != large+"and more" {
		t.Errorf("%.40q, %v", b, err)
	}
	if err := w.trees.Remove(w.ctx, path, Removal{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.clone, ".git", "lfs", "objects")); err != nil {
		t.Fatal(err)
	}
	if d := w.declines(r); !d.Temporary || len(w.list()) != 1 || !free(path) {
		t.Error(d, w.list())
	}
}
