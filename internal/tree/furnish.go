package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// furnish gives a fresh tree what it needs to be usable: the submodules that
// the clone has, the files that are to be copied and linked, and what the setup
// command does. What it cannot give is a warning: an agent can work without.
func (t Trees) furnish(ctx context.Context, n *note, path string, s source) []string {
	out := t.submodules(ctx, s.clone, s.root, path)
	f := t.Fresh
	if len(f.Copy)+len(f.Link)+len(f.Setup) == 0 || ctx.Err() != nil {
		return out
	}
	if s.foreign {
		return append(out, "the head is a stranger's fork: workspace.copy, link and setup are left out")
	}
	if s.root != "" {
		out = append(out, t.bring(n, path, s.root)...)
	}
	if err := t.setup(ctx, path); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// bring copies and links what is not part of the repository, as far as it is
// there. Nothing is replaced, and nothing is written outside of the tree,
// whatever links the branch holds.
func (t Trees) bring(n *note, path, from string) (warnings []string) {
	to, err := os.OpenRoot(path)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = to.Close() }()
	brought := map[string]string{}
	each := func(list []string, how func(*os.Root, string, string) (string, error)) {
		for _, rel := range list {
			src := filepath.Join(from, filepath.FromSlash(rel))
			if _, err := os.Stat(src); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			mark, err := how(to, src, rel)
			if err == nil {
				brought[rel] = mark
			} else if !errors.Is(err, fs.ErrExist) {
				warnings = append(warnings, fmt.Sprintf("%q is not brought along: %v", rel, err))
			}
		}
	}
	each(t.Fresh.Copy, copyFile)
	each(t.Fresh.Link, link)
	b, err := json.Marshal(brought)
	if err == nil {
		err = n.append("brought " + string(b))
	}
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings
}

func copyFile(to *os.Root, src, rel string) (string, error) {
	in, err := os.Open(src)
	if err != nil {
		return "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is no file: put it into workspace.link")
	}
	if err := to.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
		return "", err
	}
	out, err := to.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, to.Remove(rel))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func link(to *os.Root, src, rel string) (string, error) {
	if err := to.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
		return "", err
	}
	return "-> " + src, to.Symlink(src, rel)
}

// asBrought says whether a file is still as it was brought along.
func asBrought(path, mark string) bool {
	if target, ok := strings.CutPrefix(mark, "-> "); ok {
		at, err := os.Readlink(path)
		return err == nil && at == target
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	b, err := os.ReadFile(path)
	sum := sha256.Sum256(b)
	return err == nil && hex.EncodeToString(sum[:]) == mark
}

// setup runs the user's command in the tree.
func (t Trees) setup(ctx context.Context, path string) error {
	argv := t.Fresh.Setup
	if len(argv) == 0 || ctx.Err() != nil {
		return nil
	}
	log := filepath.Join(t.Fresh.Logs, "setup-"+filepath.Base(path)+".log")
	if err := os.MkdirAll(t.Fresh.Logs, 0o700); err != nil {
		return fmt.Errorf("setup was not run: %w", err)
	}
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("setup was not run: %w", err)
	}
	defer out.Close()
	limit := or(t.Fresh.Limit, 10*time.Minute)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = path, append(environment(), "PWD="+path)
	err = run(ctx, cmd, out, out)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("setup %q was ended after %s: see %q", argv[0], limit, log)
	}
	return fmt.Errorf("setup %q failed: %w: see %q", argv[0], err, log)
}
