package tree

import (
	"os"
	"path/filepath"
	"strings"
)

// gitDir is where git keeps what belongs to the working tree at path.
func gitDir(path string) (string, bool) {
	at := filepath.Join(path, ".git")
	info, err := os.Stat(at)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return at, true
	}
	b, err := os.ReadFile(at)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if err != nil || !ok {
		return "", false
	}
	return absolute(path, dir), true
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// commonDir is what all working trees of a clone share.
func commonDir(clone string) string {
	dir, ok := gitDir(clone)
	if !ok {
		return clone // bare
	}
	b, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	return absolute(dir, strings.TrimSpace(string(b)))
}

// whole says, without git, whether the linked working tree at path and its
// clone know each other. One that was copied or moved here is not whole.
func whole(path string) bool {
	dir, ok := gitDir(path)
	if !ok {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && (dir == filepath.Join(path, ".git") || belongs(dir, path))
}

// belongs says whether what git keeps in admin is about the tree at path.
func belongs(admin, path string) bool {
	b, err := os.ReadFile(filepath.Join(admin, "gitdir"))
	return err == nil && resolved(absolute(admin, strings.TrimSpace(string(b)))) == resolved(filepath.Join(path, ".git"))
}

// adminOf finds where a clone keeps what belongs to the tree at path, which
// need not be there; "" if nowhere.
func adminOf(common, path string) string {
	all, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, e := range all {
		if dir := filepath.Join(common, "worktrees", e.Name()); belongs(dir, path) {
			return dir
		}
	}
	return ""
}

// inside says whether path is dir or lies below it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// resolved follows the symbolic links of as much of a path as exists.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}
