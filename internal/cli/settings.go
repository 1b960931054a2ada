package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/harness"
)

// settings is an agent's file of settings, and what we once added to it.
type settings struct {
	harness.Hooks
	path, bin string // path is the file itself, not a link to it
	there     bool
	text      string // as it is
	memo      string // where added is kept
	added     *added
}

// added is what an install remembers. It holds nothing of the user's.
type added struct {
	Path    string           `json:"path"`
	Created bool             `json:"created,omitempty"` // there was no such file
	Made    string           `json:"made,omitempty"`    // the topmost directory that there was not either
	Inserts []harness.Insert `json:"inserts"`
	Was     []harness.Insert `json:"was,omitempty"` // what stood there before, should the settings not have been written
}

// settingsOf finds the settings of the agent that a call names.
func (e *env) settingsOf(c *cli.Command) (*settings, error) {
	args, err := exactly(c, "the agent's name ("+hooksAgents+")")
	if err != nil {
		return nil, err
	}
	h, ok := harness.HooksOf(args[0])
	if !ok {
		return nil, usagef(c, "%q has no hooks that are known: there are those of %s; any other agent can call gh-loop hook harness running|waiting|idle itself", args[0], hooksAgents)
	}
	return e.settingsIn(args[0], h, h.Path(e.getenv, e.home()))
}

func (e *env) hooksDir() string { return filepath.Join(config.StateDir(e.getenv, e.home()), "hooks") }

// settingsIn reads an agent's settings in path. What was added to them is
// remembered under the agent's name or, where a variable moved them, under that
// and a mark of the place, so that one does not forget the other.
func (e *env) settingsIn(name string, h harness.Hooks, path string) (s *settings, err error) {
	s = &settings{Hooks: h, path: path, memo: filepath.Join(e.hooksDir(), name+".json")}
	if s.bin, err = e.bin(); err != nil {
		return nil, err
	}
	s.path = resolved(s.path)
	usual := resolved(h.Path(func(string) string { return "" }, e.home()))
	if s.path != usual {
		s.memo = filepath.Join(e.hooksDir(), fmt.Sprintf("%s-%08x.json", name, crc32.ChecksumIEEE([]byte(s.path))))
	}
	b, err := readSettings(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.text, s.there = string(b), err == nil
	if b, err := os.ReadFile(s.memo); err == nil {
		var a added
		if json.Unmarshal(b, &a) == nil && a.Path == s.path {
			s.added = &a
		}
	}
	return s, nil
}

// readSettings reads a file, and nothing that could keep us waiting.
func readSettings(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file: remove it, or make it one", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// resolved follows links, also to and through what is not there yet: it is made
// where they point.
func resolved(path string) string {
	const most = 40 // as many as Linux follows
	for range most {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			return r
		}
		dir := filepath.Dir(path)
		if dir == path {
			return path
		}
		to, err := os.Readlink(path)
		if err != nil {
			return filepath.Join(resolved(dir), filepath.Base(path))
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(resolved(dir), to)
		}
		path = to
	}
	return path // they go round in a circle, which whoever opens it hears
}

// added are all settings that install remembers to have added to, and those in
// their usual places that have hooks of ours.
func (e *env) added() (all []*settings, err error) {
	memos, err := filepath.Glob(filepath.Join(e.hooksDir(), "*.json"))
	for _, memo := range memos {
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(memo), ".json"), "-")
		h, known := harness.HooksOf(name)
		b, rerr := os.ReadFile(memo)
		var a added
		if rerr == nil {
			rerr = json.Unmarshal(b, &a)
		}
		if rerr == nil && (!known || a.Path == "") {
			rerr = errors.New("it says no place")
		}
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("%s, which remembers where hooks were added: %w; take them out with gh loop hooks uninstall NAME", memo, rerr))
			continue
		}
		s, rerr := e.settingsIn(name, h, a.Path)
		if rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		s.memo = memo
		s.added = &a
		all = append(all, s)
	}
	for _, name := range strings.Split(hooksAgents, "|") { // what is remembered may be lost
		h, _ := harness.HooksOf(name)
		s, rerr := e.settingsIn(name, h, h.Path(e.getenv, e.home()))
		if rerr == nil && h.In(s.text) && !slices.ContainsFunc(all, func(x *settings) bool { return x.path == s.path }) {
			all = append(all, s)
		}
	}
	return all, err
}

// without gives the settings without our hooks: byte for byte as they were
// before them, or, where the agent wrote them anew since, freed of them. absent
// says that the file was ours alone.
func (s *settings) without() (text string, absent bool, err error) {
	if s.added != nil {
		for _, inserts := range [][]harness.Insert{s.added.Inserts, s.added.Was} {
			if text, err := harness.Undo(s.text, inserts); err == nil && len(inserts) > 0 {
				return text, s.added.Created && strings.TrimSpace(text) == "", nil
			}
		}
	}
	switch {
	case s.Shape == harness.Plugin && s.Current(s.text): // as install writes it: nobody else's
		return "", true, nil
	case s.Shape == harness.Plugin && s.In(s.text):
		return "", false, fmt.Errorf("%s: it is not as it was written any more: remove it by hand if nothing in it is yours", s.path)
	case s.Shape == harness.Plugin, strings.TrimSpace(s.text) == "":
		return s.text, false, nil
	}
	text, err = harness.Strip(s.text)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", s.path, err)
	}
	return text, s.added != nil && s.added.Created && text != s.text && s.Bare(text), nil
}

// install gives the settings with our hooks.
func (s *settings) install() (text string, absent bool, memo *added, err error) {
	before, absent, err := s.without()
	if err != nil {
		return "", false, nil, err
	}
	text, inserts, err := s.Add(before, s.bin)
	if err != nil {
		return "", false, nil, fmt.Errorf("%s: %w", s.path, err)
	}
	memo = &added{Path: s.path, Created: absent || !s.there, Inserts: inserts}
	if s.added != nil {
		memo.Made, memo.Was = s.added.Made, s.added.Inserts
	}
	for dir := filepath.Dir(s.path); !exists(dir); dir = filepath.Dir(dir) {
		memo.Made = dir
	}
	return text, false, memo, nil
}

func (s *settings) uninstall() (text string, absent bool, memo *added, err error) {
	text, absent, err = s.without()
	return text, absent, nil, err
}

// forget removes what was remembered, once nothing of ours is in the settings.
func (s *settings) forget() error {
	if err := os.Remove(s.memo); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write puts the settings in place of the old ones, whole or not at all. What
// is needed to undo that is on disk before.
func (s *settings) write(text string, absent bool, memo *added) error {
	if memo != nil {
		b, err := json.Marshal(memo)
		if err != nil {
			return err
		}
		if err := replace(s.memo, b, 0o600); err != nil {
			return err
		}
	}
	if now, err := readSettings(s.path); err == nil != s.there || string(now) != s.text {
		return fmt.Errorf("%s was changed by somebody else meanwhile: try again", s.path)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(s.path); err == nil {
		mode = st.Mode().Perm()
	}
	var err error
	if absent {
		err = s.remove()
	} else {
		err = replace(s.path, []byte(text), mode)
	}
	if err == nil && memo == nil {
		err = s.forget()
	}
	return err
}

// remove takes away a file that was ours alone, and the directories that were
// made for it, unless somebody has put something there since.
func (s *settings) remove() error {
	if err := os.Remove(s.path); err != nil || s.added == nil || s.added.Made == "" {
		return err
	}
	for dir := filepath.Dir(s.path); len(dir) >= len(s.added.Made) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return nil
}

func replace(path string, b []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".gh-loop-*")
	if err != nil {
		return err
	}
	tmp := f.Name()
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}
