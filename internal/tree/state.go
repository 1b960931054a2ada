package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// notes is the directory below Root with a file for each tree and each clone.
// The file is what makers lock, and says whose a tree is.
const notes = ".loop"

// note is one locked file. The kernel frees the lock when its holder dies.
type note struct{ file *os.File }

// made is what a tree's note says. Ready is written when the tree is whole: a
// tree without it was left half made by somebody who was killed.
type made struct {
	Ref    string `json:"ref"`
	Clone  string `json:"clone"`
	Branch string `json:"branch,omitempty"`
	ready  bool
}

// lock waits until the note is ours, at most as long as ctx.
func (t Trees) lock(ctx context.Context, name string) (*note, error) {
	if err := os.MkdirAll(filepath.Join(t.Root, notes), 0o700); err != nil {
		return nil, fmt.Errorf("trees cannot be kept: %w; set workspace.root to a directory that can be written", err)
	}
	f, err := os.OpenFile(filepath.Join(t.Root, notes, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &note{f}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("%q cannot be locked: %w; trees must be on a local disk", f.Name(), err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("another process holds %q: %w", f.Name(), ctx.Err()), f.Close())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (n *note) unlock() { _ = n.file.Close() }

// cloneNote names the note of a clone: git's configuration has one writer.
func cloneNote(clone string) string {
	sum := sha256.Sum256([]byte(resolved(clone)))
	return "clone-" + hex.EncodeToString(sum[:8])
}

// read gives what the note of a tree says; nothing if there is none.
func (t Trees) read(name string) (made, error) {
	b, err := os.ReadFile(filepath.Join(t.Root, notes, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return made{}, err
	}
	var m made
	first, rest, whole := bytes.Cut(b, []byte("\n"))
	if !whole || json.Unmarshal(first, &m) != nil {
		return made{}, nil // torn: nothing was begun yet
	}
	m.ready = string(rest) == "ready\n"
	return m, nil
}

// begin writes down that a tree is being made, before anything of it exists.
func (n *note) begin(m made) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := n.clear(); err != nil {
		return err
	}
	return n.append(string(b) + "\n")
}

// finish writes down that the tree is whole.
func (n *note) finish() error { return n.append("ready\n") }

func (n *note) append(s string) error {
	if _, err := n.file.Seek(0, 2); err != nil {
		return err
	}
	if _, err := n.file.WriteString(s); err != nil {
		return err
	}
	return n.file.Sync()
}

// clear forgets the tree.
func (n *note) clear() error { return n.file.Truncate(0) }

// whole says, without git, whether a linked working tree stands at path: its
// .git names a directory of a clone that is still there.
func whole(path string) bool {
	dir, ok := gitDir(path)
	if !ok {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil
}

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
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(path, dir)
	}
	return dir, true
}
