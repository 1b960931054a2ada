// Package tree makes working trees for endpoints and removes them. It is the
// only caller of git.
package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Trees makes and removes working trees below Root, which is absolute. Git is
// the program, "git" if empty. Timeout bounds a question to git, a minute if
// zero; Long bounds what fetches or writes files, ten minutes if zero.
type Trees struct {
	Root          string
	Git           string
	Timeout, Long time.Duration
	Fresh         Fresh
}

// Fresh says what a new tree gets before it is used. Copy and Link are paths
// in the working tree that it is made from; one that is not there is left out.
// Setup is run in the tree for at most Limit, ten minutes if zero, and what it
// says is written to a file in Logs. A stranger's fork gets none of it.
type Fresh struct {
	Copy, Link []string
	Setup      []string
	Limit      time.Duration
	Logs       string
}

// Request says for whom a tree is wanted: for a pull request, or for the item
// itself, which gets a branch of its own unless it is a pull request. Cwd is
// the item's directory. Repos maps [host/]owner/repo to clones that trees may
// be made from.
type Request struct {
	Ref, Item work.Ref
	Cwd       string
	Head      work.Head // the pull request's, as far as it is known
	Repos     map[string]string
}

// Tree is a tree that is ready to work in. Warnings say what a new one lacks.
type Tree struct {
	Path, Branch string
	New          bool
	Warnings     []string
}

// Declined is the reason that an outcome carries when no tree is to be had.
const Declined = "declined-tree"

// DeclinedError says why no tree is to be had, and what would cure it. What is
// Temporary may pass without anything changing that Basis sees, such as a
// network that is down.
type DeclinedError struct {
	Reason    string // Declined
	Why, Cure string
	Temporary bool
}

func (e *DeclinedError) Error() string { return e.Why + "; " + e.Cure }

func declined(cure, why string, args ...any) error {
	return &DeclinedError{Reason: Declined, Why: fmt.Sprintf(why, args...), Cure: cure}
}

func failed(err error, why string, args ...any) error {
	return &DeclinedError{
		Reason: Declined, Why: fmt.Sprintf(why, args...) + ": " + err.Error(),
		Cure: "the next event tries again", Temporary: true,
	}
}

// Clone says whether dir lies in a git working tree, and gives that tree's
// root. Without a .git in dir or above, git is not run.
func (t Trees) Clone(ctx context.Context, dir string) (root string, ok bool, err error) {
	if info, err := os.Stat(dir); err != nil {
		return "", false, err
	} else if !info.IsDir() {
		return "", false, fmt.Errorf("%q is no directory", dir)
	}
	if above(dir) == "" {
		return "", false, nil
	}
	out, err := t.git(ctx, dir, "rev-parse", "--is-inside-work-tree", "--show-toplevel")
	within, root, _ := strings.Cut(out, "\n")
	if within == "false" {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%q has a .git that git does not take: %w", above(dir), err)
	}
	return strings.TrimSuffix(root, "\n"), true, nil
}

// Serves says whether trees can be made from dir: a git working tree, or a bare
// repository.
func (t Trees) Serves(ctx context.Context, dir string) (bool, error) {
	_, ok, err := t.Clone(ctx, dir)
	for _, part := range []string{"HEAD", "objects", "refs"} {
		if _, gone := os.Stat(filepath.Join(dir, part)); gone != nil {
			return ok, err
		}
	}
	return true, nil
}

// above is the nearest directory at or above dir that holds a .git, or "".
// A .git directory that git ignores, because it is empty, does not count.
func above(dir string) string {
	for dir = resolved(dir); ; dir = filepath.Dir(dir) {
		at, ok := gitDir(dir)
		_, err := os.Stat(filepath.Join(at, "HEAD"))
		if ok && (err == nil || at != filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Basis is a short fingerprint of what a decline rested on: the clone and its
// configuration, the branch of ours that may be in the way, the pull request's
// head, the clone that the user named. Git is not run.
func (t Trees) Basis(r Request) string {
	h := sha256.New()
	add := func(parts ...any) { fmt.Fprintf(h, "%q\n", fmt.Sprint(parts...)) }
	add(t.Root, "\n", r.Head.Branch, "\n", r.Head.SHA, "\n", r.Head.Repo)
	_, err := os.Stat(r.Cwd)
	add(err != nil)
	for _, clone := range []string{above(r.Cwd), named(r.Repos, r.Ref.Repository())} {
		add(clone)
		if clone == "" {
			continue
		}
		common := commonDir(clone)
		b, err := os.ReadFile(filepath.Join(common, "config"))
		add(string(b), err != nil)
		_, err = os.Stat(filepath.Join(common, "refs", "heads", filepath.FromSlash(branchName(r.Ref))))
		add(errors.Is(err, os.ErrNotExist))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

const branchPrefix = "loop/pr-"

func branchName(pr work.Ref) string { return branchPrefix + strconv.FormatInt(pr.Number, 10) }
