package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxSize bounds the file; a person's is a hundredth of it.
const maxSize = 256 << 10

// Error is one thing that is wrong in a configuration file.
type Error struct {
	Path string
	Line int    // 1 is the first
	Key  string // as TOML writes it, "" for a mistake in the notation itself
	Why  string // what was expected, and the cure
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.Path, e.Line, e.Key, e.Why)
}

// Load reads the configuration: $GH_LOOP_CONFIG, else
// $XDG_CONFIG_HOME/gh-loop/config.toml, else ~/.config/gh-loop/config.toml.
// No file is the default configuration, unless $GH_LOOP_CONFIG names one. The
// error joins an Error for everything that is wrong, in the file's order.
func Load(getenv func(string) string, home string) (Config, error) {
	path, named := Path(getenv, home)
	b, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return Default(), nil
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, fmt.Errorf("there is no configuration %q, which GH_LOOP_CONFIG names: create it, or unset GH_LOOP_CONFIG", path)
	case err != nil:
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, string(b), home)
}

// Path is the file that Load reads, and whether $GH_LOOP_CONFIG names it.
func Path(getenv func(string) string, home string) (path string, named bool) {
	if p := getenv("GH_LOOP_CONFIG"); p != "" {
		return p, true
	}
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "gh-loop", "config.toml"), false
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file: put the configuration there, or name another with GH_LOOP_CONFIG", path)
	}
	if info.Size() > maxSize {
		return nil, fmt.Errorf("%q has %d bytes, and a configuration at most %d: is it another file?", path, info.Size(), maxSize)
	}
	return os.ReadFile(path)
}

// Parse reads the text of a configuration file; path is for messages, home
// stands for "~".
func Parse(path, text, home string) (Config, error) {
	var file map[string]any
	if _, err := toml.Decode(text, &file); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			// The library's own line is one too high when the mistake is a line's end.
			before := text[:min(max(syntax.Position.Start, 0), len(text))]
			return Config{}, &Error{Path: path, Line: strings.Count(before, "\n") + 1, Why: strings.TrimSuffix(syntax.Message, ".") + ": this is not TOML; see https://toml.io"}
		}
		return Config{}, &Error{Path: path, Line: 1, Why: err.Error()}
	}
	c := Default()
	c.Path, c.text = path, text
	r := reader{home: home, settings: map[string]setting{}}
	for _, s := range c.fixed() {
		r.settings[s.key.String()] = s
	}
	r.table(&c, nil, file)
	r.check(&c)
	if len(r.found) == 0 {
		return c, nil
	}
	return Config{}, r.errors(path, text)
}

// reader collects what is wrong.
type reader struct {
	home     string
	settings map[string]setting
	found    []problem
}

type problem struct {
	key toml.Key
	why string
}

// wrong notes what is wrong with a key, once: what a value of the wrong kind
// is taken for has faults of its own, and they are nobody's.
func (r *reader) wrong(key toml.Key, format string, args ...any) {
	if slices.ContainsFunc(r.found, func(p problem) bool { return slices.Equal(p.key, key) }) {
		return
	}
	r.found = append(r.found, problem{slices.Clone(key), fmt.Sprintf(format, args...)})
}

func (r *reader) errors(path, text string) error {
	lines := keyLines(text)
	list := make([]*Error, len(r.found))
	for i, p := range r.found {
		list[i] = &Error{Path: path, Line: lineOf(lines, p.key), Key: p.key.String(), Why: p.why}
	}
	slices.SortStableFunc(list, func(a, b *Error) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Key, b.Key)) })
	all := make([]error, len(list))
	for i, e := range list {
		all[i] = e
	}
	return errors.Join(all...)
}

// table goes through what stands at a key; at no key stands the whole file.
func (r *reader) table(c *Config, at toml.Key, table map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := append(slices.Clone(at), name)
		if s, ok := r.settings[key.String()]; ok {
			if why := s.set(table[name], r.home); why != "" {
				r.wrong(key, "%s", why)
			}
			continue
		}
		names, isTable := r.within(c, key)
		inner, ok := table[name].(map[string]any)
		switch {
		case !isTable:
			r.unknown(at, name)
		case !ok:
			r.wrong(key, "%s stands where there should be a table: write [%s] on a line of its own, and its keys below it", kind(table[name]), key)
		case names == nil:
			r.table(c, key, inner)
		default:
			names(key, inner)
		}
	}
}

// within says whether a key is a table, and who reads it if its names are the
// user's own.
func (r *reader) within(c *Config, key toml.Key) (names func(toml.Key, map[string]any), ok bool) {
	switch key.String() {
	case "routing", "routing.control", "routing.control.keywords", "routing.tmux", "workspace", "log":
		return nil, true
	case "workspace.repos":
		return func(key toml.Key, t map[string]any) { r.repos(c, key, t) }, true
	case "harness":
		return func(key toml.Key, t map[string]any) { r.harnesses(c, key, t) }, true
	}
	return nil, false
}

// unknown names the keys that there are: one that differs in case only, or all
// of the table.
func (r *reader) unknown(at toml.Key, name string) {
	key := append(slices.Clone(at), name)
	var there []string
	for _, known := range r.names(at) {
		if strings.EqualFold(known, name) {
			r.wrong(key, "there is no such key: upper and lower case count, write %s", known)
			return
		}
		there = append(there, known)
	}
	where := "at the top"
	if len(at) > 0 {
		where = "in [" + at.String() + "]"
	}
	r.wrong(key, "there is no such key: %s there are %s", where, strings.Join(there, ", "))
}

// names lists what may stand in a table.
func (r *reader) names(at toml.Key) []string {
	seen := map[string]bool{}
	all := []toml.Key{{"harness", ""}, {"workspace", "repos", ""}}
	for _, s := range r.settings {
		all = append(all, s.key)
	}
	for _, key := range all {
		if len(key) > len(at) && slices.Equal(key[:len(at)], at) && key[len(at)] != "" {
			seen[key[len(at)]] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
