package tree

import (
	"os"
	"path/filepath"
	"strings"
)

// Head is the branch that a working tree is on, read from git's own files
// without running git; "" if it is on none, or is no tree.
func Head(path string) string {
	dir, ok := gitDir(path)
	if !ok {
		return ""
	}
	b, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: refs/heads/")
	if !ok || checkBranch(branch) != nil {
		return ""
	}
	return branch
}

// Own says whether a branch is one that was made together with a tree.
func Own(branch string) bool { return strings.HasPrefix(branch, branchPrefix) }
