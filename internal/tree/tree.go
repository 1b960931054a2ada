// Package tree makes working trees for endpoints and removes them. It is the
// only caller of git.
package tree

import (
	"context"
	"errors"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Trees makes and removes working trees below Root. Git is the program, "git"
// if empty; Timeout bounds each run of it, a minute if zero.
type Trees struct {
	Root    string
	Git     string
	Timeout time.Duration
}

// Request says for whom a tree is wanted. Repos maps owner/repo to clones that
// trees may be made from.
type Request struct {
	Cwd      string
	Item, PR work.Ref
	Head     work.Head
	Repos    map[string]string
}

// DeclinedError says why no tree is to be had, and what would cure it.
type DeclinedError struct{ Reason, Why, Cure string }

func (e *DeclinedError) Error() string { return e.Why + "; " + e.Cure }

// DirtyError says what would be lost with a tree.
type DirtyError struct {
	Path string
	Lost []string
}

func (e *DirtyError) Error() string { return e.Path }

// Clone says whether dir lies in a git working tree, and that tree's root.
func (t Trees) Clone(ctx context.Context, dir string) (root string, ok bool, err error) {
	return "", false, errors.New("being built")
}

// Make gives the path of a tree on the pull request's head.
func (t Trees) Make(ctx context.Context, r Request) (path string, err error) {
	return "", errors.New("being built")
}

// Remove takes a tree away that loses nothing, or any with force.
func (t Trees) Remove(ctx context.Context, path string, force bool) error {
	return errors.New("being built")
}

// Basis is a short fingerprint of what Make's answer rests on.
func (t Trees) Basis(ctx context.Context, r Request) string { return "" }
