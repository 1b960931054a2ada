package tree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gh-loop/gh-loop/internal/work"
)

// source is where a tree comes from, and where its work goes.
type source struct {
	home
	theirs string // the ref on the remote, "" if nothing is to be fetched
	ours   string // where it is kept here
	sha    string // what it should be, "" if not known

	branches []string // the local branch: the first of ours or of nobody's
	onRemote []string // of these, what the remote has and is not ours
	push     upstream
	foreign  bool // a stranger's fork
	warnings []string
}

// upstream is what a branch tracks and where it is pushed to: names of remotes
// or addresses, and a ref.
type upstream struct{ remote, push, merge string }

// noPush stands in the place of a remote in a tree that cannot push, so that
// git itself says why.
const noPush = "nowhere, as "

var commit = pattern(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// keep names a ref of ours in a clone. They go with the tree that they are for.
func keep(hash8, what string) string { return "refs/gh-loop/" + hash8 + "/" + what }

func pullRef(ref work.Ref) string { return fmt.Sprintf("refs/pull/%d/head", ref.Number) }

// source finds clone, remote and ref for a tree. was is what the tree's note
// says of a former one.
func (t Trees) source(ctx context.Context, r Request, was made) (source, error) {
	h, err := t.cloneOf(ctx, r, was)
	if err != nil {
		return source{}, err
	}
	s := source{home: h}
	if s.remote == "" {
		s.fresh(r.Ref, was.Branch, nil)
		return s, t.fromHere(ctx, &s)
	}
	plain := branchName(r.Ref)
	s.branches = []string{plain, plain + "-" + r.Ref.Hash8(), strings.Replace(plain, "/", "-", 1)}
	if commit().MatchString(r.Head.SHA) {
		s.sha = r.Head.SHA
	}
	if r.Head.Branch != "" {
		if err := checkBranch(r.Head.Branch); err != nil {
			return source{}, declined("rename the branch", "the head branch %.80q of %s is refused: %v", r.Head.Branch, r.Ref.Short(), err)
		}
	}
	fork, err := work.ParseRepo(r.Head.Repo)
	switch {
	case r.Head.Repo != "" && (err != nil || !fork.Same(r.Ref.Repository())):
		s.fork(r, fork)
		return s, nil
	case r.Head.Branch != "":
		s.follow(r.Head.Branch)
		return s, nil
	}
	return t.ask(ctx, r, s, was)
}

// follow takes a branch of the repository.
func (s *source) follow(branch string) {
	s.theirs, s.ours = "refs/heads/"+branch, "refs/remotes/"+s.remote+"/"+branch
	s.push = upstream{s.remote, s.remote, s.theirs}
}

// fork takes the head of a fork's pull request from the repository itself, and
// pushes to the fork, as gh pr checkout does: by the remote that the clone has
// for it, or by its address.
func (s *source) fork(r Request, fork work.Repo) {
	s.byNumber(r.Ref)
	at, _ := pick(s.remotes, fork)
	switch {
	case fork == (work.Repo{}):
		s.foreign = true
		s.push.push = noPush + "the fork of " + r.Ref.Short() + " is gone"
		return
	case r.Head.Branch == "":
		s.foreign = at == ""
		s.push.push = noPush + "the head branch of " + r.Ref.Short() + " is not known"
		return
	case at == "":
		s.foreign = true
		at = addressOf(s.remotes, s.remote, r.Ref.Repository(), fork)
	}
	if s.foreign && r.Head.NoPush {
		s.push.push = noPush + fork.String() + " lets nobody else push to it"
		return
	}
	s.push = upstream{at, at, "refs/heads/" + r.Head.Branch}
}

// byNumber takes a pull request's head by the ref that GitHub keeps for it.
func (s *source) byNumber(pr work.Ref) {
	s.theirs, s.ours = pullRef(pr), keep(pr.Hash8(), "head")
	s.push = upstream{s.remote, noPush + "the head branch of " + pr.Short() + " is not known", s.theirs}
}

const pushAgain = "is that a clone of the repository? then push it again, or close the pull request"

// ask asks the remote what the ref's number is, once, where no event has told:
// a pull request, whose branch is the one with the same head, or an issue,
// which gets a branch of its own from the default branch.
func (t Trees) ask(ctx context.Context, r Request, s source, was made) (source, error) {
	isItem := r.Ref.Same(r.Item)
	out, err := t.git(ctx, s.clone, "ls-remote", "--symref", "--", s.remote, "HEAD", pullRef(r.Ref), "refs/heads/*")
	if err != nil {
		if isItem && ctx.Err() == nil {
			return t.offline(ctx, r, s, was, err)
		}
		return s, failed(err, "the remote %q of %q does not answer", s.remote, s.clone)
	}
	said := answer(out)
	if head, ok := said.refs[pullRef(r.Ref)]; ok {
		s.sha = head
		branches := said.branchesAt(head)
		if len(branches) == 1 && checkBranch(branches[0]) == nil {
			s.follow(branches[0])
		} else {
			s.byNumber(r.Ref)
			s.foreign = len(branches) == 0
		}
		return s, nil
	}
	if !isItem {
		return s, declined(pushAgain, "%s is not on the remote %q of %q", pullRef(r.Ref), s.remote, s.clone)
	}
	base := said.head
	if _, ok := said.refs["refs/heads/"+was.Branch]; ok && was.Branch != "" {
		base = was.Branch // pushed before its tree was removed
	}
	s.sha = said.refs["refs/heads/"+base]
	if s.sha == "" || checkBranch(base) != nil {
		return s, declined("push a first commit", "the remote %q of %q has no default branch", s.remote, s.clone)
	}
	s.follow(base)
	s.fresh(r.Ref, was.Branch, said.branchesAt(""))
	return s, nil
}

// fresh gives an item a branch of its own, which a pull request's head can be
// recognised by: issue-N, or issue-N-2 and so on where the remote has that.
func (s *source) fresh(item work.Ref, was string, onRemote []string) {
	s.branches = nil
	if was != "" {
		s.branches = []string{was}
	}
	plain := fmt.Sprintf("issue-%d", item.Number)
	for i := 1; i < 10; i++ {
		name := plain
		if i > 1 {
			name = fmt.Sprintf("%s-%d", plain, i)
		}
		if name != was {
			s.branches = append(s.branches, name)
		}
	}
	for _, name := range onRemote {
		if name != was {
			s.onRemote = append(s.onRemote, name)
		}
	}
	s.push = upstream{remote: s.remote, push: s.remote} // the ref is the branch's own name
}

// offline begins an item's branch where the remote's default branch was last seen.
func (t Trees) offline(ctx context.Context, r Request, s source, was made, why error) (source, error) {
	at, err := t.git(ctx, s.clone, "symbolic-ref", "--quiet", "refs/remotes/"+s.remote+"/HEAD")
	if err != nil {
		return s, failed(why, "the remote %q of %q does not answer", s.remote, s.clone)
	}
	known, err := t.git(ctx, s.clone, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/"+s.remote)
	if err != nil {
		return s, failed(err, "the branches of %q cannot be listed", s.clone)
	}
	s.warnings = append(s.warnings, "the remote does not answer, the branch begins at what was last fetched: "+why.Error())
	s.fresh(r.Ref, was.Branch, strings.Fields(known))
	s.ours = strings.TrimSpace(at)
	return s, nil
}

// fromHere begins an item's branch at the commit that its clone, which has no
// remote, is at.
func (t Trees) fromHere(ctx context.Context, s *source) error {
	at, err := t.git(ctx, s.root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err != nil {
		return declined("make a first commit", "%q has no commit yet", s.root)
	}
	s.ours = strings.TrimSpace(at)
	s.sha = s.ours
	return nil
}

// remoteRefs is what git ls-remote --symref tells.
type remoteRefs struct {
	refs map[string]string
	list []string // branches in the remote's order
	head string   // the default branch
}

func answer(out string) remoteRefs {
	said := remoteRefs{refs: map[string]string{}}
	for line := range strings.Lines(out) {
		value, ref, ok := strings.Cut(strings.TrimSpace(line), "\t")
		target, symbolic := strings.CutPrefix(value, "ref: refs/heads/")
		switch {
		case !ok:
		case symbolic && ref == "HEAD":
			said.head = target
		case commit().MatchString(value):
			said.refs[ref] = value
			if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
				said.list = append(said.list, branch)
			}
		}
	}
	return said
}

// branchesAt lists the branches at a commit, or all for "".
func (a remoteRefs) branchesAt(sha string) []string {
	var out []string
	for _, branch := range a.list {
		if sha == "" || a.refs["refs/heads/"+branch] == sha {
			out = append(out, branch)
		}
	}
	return out
}

// fetch brings the head here, unless it is here already.
func (t Trees) fetch(ctx context.Context, s source) error {
	if s.theirs == "" {
		return nil
	}
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
		return declined(pushAgain, "%s is not on the remote %q of %q", s.theirs, s.remote, s.clone)
	}
	return failed(err, "%s cannot be fetched from the remote %q of %q", s.theirs, s.remote, s.clone)
}

// home is a clone that a tree can be made from.
type home struct {
	clone   string // what all its trees share, which outlives each of them
	root    string // the working tree that files are copied from, "" if there is none
	remote  string // the repository's, "" if the clone has none at all
	remotes []remote
}

// cloneOf finds a clone of the ref's repository: the one that the item works
// in, the one of a former tree, the one that the user named, or one that we
// make. We make none of a pull request's repository that is its item's as well:
// where the item works, there it would be.
func (t Trees) cloneOf(ctx context.Context, r Request, was made) (home, error) {
	repo := r.Ref.Repository()
	_, itself, _ := t.name(r.Item)
	for _, dir := range []string{r.Cwd, was.Clone, itself.Clone, named(r.Repos, repo)} {
		if dir == "" {
			continue
		}
		h, err := t.homeAt(ctx, dir)
		if err != nil && dir == named(r.Repos, repo) {
			return home{}, declined("mend workspace.repos in the configuration", "the clone %q of %s cannot be used: %v", dir, repo, err)
		}
		if err != nil {
			continue
		}
		exact, fallback := pick(h.remotes, repo)
		own := dir == was.Clone || dir == named(r.Repos, repo) || r.Item.Repository().Same(repo)
		switch {
		case exact != "":
			h.remote = exact
		case own && fallback != "":
			h.remote = fallback
		case !own || len(h.remotes) > 0 || !r.Ref.Same(r.Item):
			continue
		}
		if err := t.outside(h); err != nil {
			return home{}, err
		}
		return h, nil
	}
	if r.Item.Repository().Same(repo) && !r.Ref.Same(r.Item) {
		return home{}, declined(fmt.Sprintf("name a clone in the configuration: workspace.repos.%q = \"/path\"", repo), "neither %q nor workspace.repos is a clone of %s", r.Cwd, repo)
	}
	return t.ownClone(ctx, r)
}

// homeAt reads what clone is at dir, which may be a working tree or bare.
func (t Trees) homeAt(ctx context.Context, dir string) (home, error) {
	out, err := t.git(ctx, dir, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--git-common-dir")
	if err != nil {
		return home{}, err
	}
	said := strings.SplitN(strings.TrimSuffix(out, "\n"), "\n", 3)
	h := home{clone: resolved(absolute(dir, said[2]))}
	switch {
	case said[1] == "true":
		if h.root, _, err = t.Clone(ctx, dir); err != nil {
			return home{}, err
		}
	case said[0] != "true" && filepath.Base(h.clone) == ".git":
		h.root = filepath.Dir(h.clone)
	}
	h.remotes, err = t.remotes(ctx, h.clone)
	return h, err
}

// outside refuses a clone that the trees would stand inside of.
func (t Trees) outside(h home) error {
	for _, dir := range []string{h.root, strings.TrimSuffix(h.clone, "/.git")} {
		if dir != "" && inside(dir, t.Root) {
			return declined("set workspace.root to a directory outside of it", "trees would stand inside the clone %q", dir)
		}
	}
	return nil
}
