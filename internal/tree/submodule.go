package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// submodules checks out those that the clone has, with the addresses that it
// has, whatever the branch says of them, and those within them likewise. common
// is where git keeps what belongs to the clone, root its working tree, "" if it
// has none, path the tree. What the clone has is not fetched.
func (t Trees) submodules(ctx context.Context, common, root, path string) (warnings []string) {
	if _, err := os.Lstat(filepath.Join(path, ".gitmodules")); err != nil {
		return nil
	}
	has, err := t.settings(ctx, common, "url", "config")
	if err != nil || len(has) == 0 {
		return nil // it has none
	}
	paths, err := t.settings(ctx, path, "path", "config", "--file", ".gitmodules")
	if err != nil {
		return []string{"the submodules are not checked out: " + err.Error()}
	}
	for _, sub := range paths {
		name, dir := sub[0], sub[1]
		for _, h := range has {
			if h[0] != name {
				continue
			}
			kept := keptModule(common, root, name, dir)
			if err := t.submodule(ctx, path, dir, name, h[1], kept); err != nil {
				warnings = append(warnings, fmt.Sprintf("the submodule %q is not checked out: %v", dir, err))
			} else if at := filepath.Join(path, dir); kept != "" && ours(path, at) {
				within := ""
				if root != "" {
					within = filepath.Join(root, dir)
				}
				warnings = append(warnings, t.submodules(ctx, kept, within, at)...)
			}
		}
	}
	return warnings
}

// settings lists one setting of each submodule: its name and the value.
func (t Trees) settings(ctx context.Context, dir, key string, from ...string) (out [][2]string, err error) {
	said, err := t.git(ctx, dir, append(from, "-z", "--get-regexp", `^submodule\..*\.`+key+`$`)...)
	if err != nil && exit(err) != 1 {
		return nil, err
	}
	for entry := range strings.SplitSeq(said, "\x00") {
		name, value, ok := strings.Cut(entry, "\n")
		if name = strings.TrimSuffix(strings.TrimPrefix(name, "submodule."), "."+key); ok && !strings.Contains(name, "..") {
			out = append(out, [2]string{name, value})
		}
	}
	return out, nil
}

// keptModule is where the clone keeps a submodule, "" if nowhere.
func keptModule(common, root, name, dir string) string {
	at := filepath.Join(common, "modules", filepath.FromSlash(name))
	if _, err := os.Stat(filepath.Join(at, "HEAD")); err == nil {
		return at
	}
	if at, ok := gitDir(filepath.Join(root, dir)); ok && root != "" {
		return at
	}
	return ""
}

// ours says whether what stands at a path is a submodule of the tree, and not
// something that a link of the branch leads to.
func ours(tree, at string) bool {
	whole, ok := gitDir(tree)
	part, is := gitDir(at)
	return ok && is && inside(filepath.Join(whole, "modules"), part)
}

// submodule checks one out: from what the clone keeps, or from its address.
func (t Trees) submodule(ctx context.Context, path, dir, name, address, kept string) error {
	at := filepath.Join(path, dir)
	if kept != "" && !strings.Contains(name, "=") {
		// The user's own clone is no stranger's repository, for which git forbids the
		// transport since https://github.com/git/git/commit/a1d4f67c12ac172f835e6d5e4e0a197075e2146b.
		_, err := t.git(ctx, path, "-c", "protocol.file.allow=always", "-c", "submodule."+name+".url="+kept, "submodule", "--quiet", "update", "--", dir)
		if ours(path, at) {
			if _, err := t.git(ctx, at, "remote", "set-url", "origin", address); err != nil {
				return err
			}
		}
		if err == nil {
			return t.address(ctx, path, name, address)
		}
	}
	if err := t.address(ctx, path, name, address); err != nil {
		return err
	}
	_, err := t.git(ctx, path, "submodule", "--quiet", "update", "--", dir)
	return err
}

// address says where a submodule is from, in a submodule that has it in turn:
// the tree itself shares its settings with the clone.
func (t Trees) address(ctx context.Context, path, name, address string) error {
	key := "submodule." + name + ".url"
	if is, err := t.git(ctx, path, "config", "--get", key); err == nil && strings.TrimSpace(is) == address {
		return nil
	}
	_, err := t.git(ctx, path, "config", key, address)
	return err
}
