package tree

import (
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

	"github.com/gh-loop/gh-loop/internal/work"
)

// notes is the directory below Root with a file for each tree and each clone.
// The file is what makers lock, and says whose a tree is. It outlives the tree,
// so that one that is made again stands in the same place on the same branch.
const notes = ".loop"

// note is one locked file. The kernel frees the lock when its holder dies.
type note struct{ file *os.File }

// made is what a tree's note says: one line of JSON, and then a word a line of
// what became of it.
type made struct {
	Ref    string `json:"ref"`
	Clone  string `json:"clone"`            // what all trees of the clone share
	Remote string `json:"remote,omitempty"` // the repository's, in the clone
	Branch string `json:"branch,omitempty"`
	Push   string `json:"push,omitempty"`  // where it is pushed to, "" if that is not known
	Merge  string `json:"merge,omitempty"` // as which ref

	ready   bool              // it is whole: without that, its maker was killed
	gone    bool              // it was removed
	kept    string            // why it was not removed
	brought map[string]string // files that were copied or linked: hash or target
}

func (m made) hash8() string {
	ref, _ := work.ParseRef(m.Ref)
	return ref.Hash8()
}

// lockWait bounds the wait for another maker of the same tree or clone.
func (t Trees) lockWait() time.Duration {
	return 2*or(t.Long, 10*time.Minute) + or(t.Fresh.Limit, 10*time.Minute)
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
	lines := strings.SplitAfter(string(b), "\n")
	if !strings.HasSuffix(lines[0], "\n") || json.Unmarshal([]byte(lines[0]), &m) != nil {
		return made{}, nil // torn: nothing was begun yet
	}
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !strings.HasSuffix(line, "\n"): // torn
		case word == "ready":
			m.ready = true
		case word == "gone":
			m.ready, m.gone, m.kept = false, true, ""
		case word == "kept":
			m.kept = rest
		case word == "brought":
			_ = json.Unmarshal([]byte(rest), &m.brought)
		}
	}
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
	return n.append(string(b))
}

func (n *note) append(line string) error {
	if _, err := n.file.Seek(0, 2); err != nil {
		return err
	}
	if _, err := n.file.WriteString(line + "\n"); err != nil {
		return err
	}
	return n.file.Sync()
}

// clear forgets the tree.
func (n *note) clear() error { return n.file.Truncate(0) }

// name chooses the tree's directory: the slug, or if another ref's tree or
// anything that is not ours stands there, the slug with the ref's hash.
func (t Trees) name(ref work.Ref) (string, made, error) {
	for _, name := range []string{ref.Slug(), ref.Slug() + "~" + ref.Hash8()} {
		m, err := t.read(name)
		if err != nil {
			return "", made{}, err
		}
		ours := m.Ref == ref.Key() && !m.gone
		if ours || (m.Ref == ref.Key() || m.Ref == "") && free(filepath.Join(t.Root, name)) {
			return name, m, nil
		}
	}
	path := filepath.Join(t.Root, ref.Slug())
	return "", made{}, declined(fmt.Sprintf("move %q away", path), "something that is not ours stands at %q", path)
}

// Path is where a ref's tree stands, or will stand.
func (t Trees) Path(ref work.Ref) (string, error) {
	name, _, err := t.name(ref)
	return filepath.Join(t.Root, name), err
}

// free says whether a path is not there, or an empty directory.
func free(path string) bool {
	list, err := os.ReadDir(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && len(list) == 0
}

// Listed is a tree of ours that stands below Root. Kept says why it was not
// removed when that was tried, "" if it was not. What somebody else put there
// has no Ref.
type Listed struct {
	Path, Ref, Kept string
}

// List gives the trees that there are, and what stands where they do.
func (t Trees) List() ([]Listed, error) {
	all, err := os.ReadDir(t.Root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []Listed
	for _, e := range all {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		m, err := t.read(e.Name())
		if err != nil {
			return out, err
		}
		path := filepath.Join(t.Root, e.Name())
		switch {
		case free(path):
		case m.Ref == "" || m.gone:
			out = append(out, Listed{Path: path})
		default:
			out = append(out, Listed{path, m.Ref, m.kept})
		}
	}
	return out, err
}
