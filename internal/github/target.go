package github

import "github.com/gh-loop/gh-loop/internal/work"

// target is a thing that is asked for by its name, or, with a branch, the pull
// requests of its repository that have that head.
type target struct {
	ref    work.Ref
	branch string
}
