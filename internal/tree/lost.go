package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// atWork begins what is said of somebody who stands in a tree.
const atWork = "somebody at work in it"

// lost tells what a tree has that nothing else has. Files that the repository
// ignores, and those that were brought along and not changed, do not count. A
// tree that was never finished has nothing.
func (t Trees) lost(ctx context.Context, m made, path string, how Removal) []string {
	var out []string
	if who := standing(path); len(who) > 0 {
		out = append(out, atWork+": "+strings.Join(who, ", "))
	}
	if m.ready && !free(path) {
		changed, err := t.changed(ctx, m, path)
		if err != nil {
			return append(out, "a state that cannot be told: "+err.Error())
		}
		out = append(append(out, changed...), t.unfinished(path)...)
	}
	commits, err := t.commits(ctx, m, path, how)
	if err != nil {
		return append(out, "commits that cannot be told: "+err.Error())
	}
	return append(out, commits...)
}

// commits tells which of a tree's commits only it has. The remote is asked, for
// a short time, only when what was last heard of it is not enough.
func (t Trees) commits(ctx context.Context, m made, path string, how Removal) ([]string, error) {
	tips, err := t.tips(ctx, m, path)
	if err != nil || len(tips) == 0 {
		return nil, err
	}
	n, err := t.only(ctx, m, tips, how.Known)
	if err == nil && n != "0" && !how.Force {
		t.hear(ctx, m, how.Pulls)
		n, err = t.only(ctx, m, tips, how.Known)
	}
	switch {
	case err != nil || n == "0":
		return nil, err
	case n == "1":
		return []string{"1 commit that no remote has"}, nil
	}
	return []string{n + " commits that no remote has"}, nil
}

// hear asks the remotes what they have of a tree's work, within a short time.
func (t Trees) hear(ctx context.Context, m made, pulls []int64) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	fetch := func(remote, theirs, ours string) {
		if remote != "" {
			_, _ = t.git(ctx, m.Clone, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", remote, "+"+theirs+":"+keep(m.hash8(), ours))
		}
	}
	fetch(m.Push, m.Merge, "pushed")
	for _, pull := range pulls {
		fetch(m.Remote, fmt.Sprintf("refs/pull/%d/head", pull), fmt.Sprintf("pr-%d", pull))
	}
}

// tips are the commits that a tree ends in: where it is, and its branch.
func (t Trees) tips(ctx context.Context, m made, path string) (tips []string, err error) {
	if m.ready && !free(path) {
		head, err := t.git(ctx, path, "rev-parse", "--verify", "HEAD^{commit}")
		if err != nil {
			return nil, err
		}
		tips = append(tips, strings.TrimSpace(head))
	}
	if _, err := t.git(ctx, m.Clone, "show-ref", "--quiet", "--verify", "refs/heads/"+m.Branch); err == nil {
		tips = append(tips, "refs/heads/"+m.Branch)
	} else if exit(err) != 1 {
		return nil, err
	}
	return tips, nil
}

// only counts the commits that no remote is known to have. Of what is known to
// be on GitHub only that counts which is here too.
func (t Trees) only(ctx context.Context, m made, tips, known []string) (string, error) {
	args := append([]string{"rev-list", "--count", "--ignore-missing"}, tips...)
	args = append(args, "--not", "--remotes", "--glob=refs/gh-loop")
	for _, sha := range known {
		if commit().MatchString(sha) {
			args = append(args, sha)
		}
	}
	out, err := t.git(ctx, m.Clone, args...)
	return strings.TrimSpace(out), err
}

// changed lists the files that differ from the last commit, and submodules
// with commits of their own.
func (t Trees) changed(ctx context.Context, m made, path string) ([]string, error) {
	if !whole(path) {
		return nil, errors.New("its clone is gone")
	}
	out, err := t.git(ctx, path, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	files := []string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) < 4 {
			continue
		}
		mark, brought := m.brought[entry[3:]]
		if entry[:2] == "??" && brought && asBrought(filepath.Join(path, entry[3:]), mark) {
			continue
		}
		files = append(files, fmt.Sprintf("%q", entry[3:]))
	}
	var lost []string
	if len(files) > 0 {
		words := fmt.Sprintf("%d changed files: ", len(files))
		if len(files) == 1 {
			words = "1 changed file: "
		}
		if more := len(files) - 3; more > 0 {
			files = append(files[:3], fmt.Sprintf("and %d more", more))
		}
		lost = append(lost, words+strings.Join(files, ", "))
	}
	if dir, _ := gitDir(path); free(filepath.Join(dir, "modules")) {
		return lost, nil
	}
	own, err := t.git(ctx, path, "submodule", "--quiet", "foreach", "--recursive", "git rev-list --max-count=1 HEAD --branches --not --remotes")
	if strings.TrimSpace(own) != "" {
		lost = append(lost, "commits in submodules that no remote has")
	}
	return lost, err
}

// unfinished tells what only git's own notes about a tree have.
func (t Trees) unfinished(path string) []string {
	dir, _ := gitDir(path)
	var out []string
	for _, what := range [][2]string{
		{"rebase-merge", "an unfinished rebase"}, {"rebase-apply", "an unfinished rebase"}, {"MERGE_HEAD", "an unfinished merge"},
		{"CHERRY_PICK_HEAD", "an unfinished cherry-pick"}, {"REVERT_HEAD", "an unfinished revert"}, {"BISECT_LOG", "an unfinished bisect"},
		{"locked", "a lock (git worktree lock)"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, what[0])); err == nil && !slices.Contains(out, what[1]) {
			out = append(out, what[1])
		}
	}
	return out
}
