package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/harness"
)

const hooksAgents = "claude|codex|copilot|cursor|gemini|opencode"

func (e *env) hooksCommand() *cli.Command {
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would change, and change nothing"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
		}
	}
	return &cli.Command{
		Name: "hooks", Usage: "let an agent's own hooks say how it is",
		Description: "Hooks are added to the agent's own settings, below what is there, and taken\nout again without a trace.\n\nExamples:\n  gh loop hooks show claude\n  gh loop hooks install claude",
		Commands: []*cli.Command{
			{Name: "show", Usage: "show what install would add", ArgsUsage: hooksAgents, Action: e.hooksShow,
				Description: "Examples:\n  gh loop hooks show claude\n  gh loop hooks show codex"},
			{Name: "install", Usage: "add the hooks to the agent's settings", ArgsUsage: hooksAgents, Flags: flags(),
				Description: "Examples:\n  gh loop hooks install claude\n  gh loop hooks install codex --dry-run",
				Action:      func(ctx context.Context, c *cli.Command) error { return e.hooksChange(ctx, c, (*settings).install) }},
			{Name: "uninstall", Usage: "take the hooks out again", ArgsUsage: hooksAgents, Flags: flags(),
				Description: "Examples:\n  gh loop hooks uninstall claude\n  gh loop hooks uninstall codex --yes",
				Action:      func(ctx context.Context, c *cli.Command) error { return e.hooksChange(ctx, c, (*settings).uninstall) }},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return usagef(c, "%q is neither show, install nor uninstall", c.Args().First())
			}
			return usagef(c, "show, install or uninstall is missing")
		},
	}
}

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
	Inserts []harness.Insert `json:"inserts"`
}

func (e *env) settingsOf(c *cli.Command) (*settings, error) {
	args, err := exactly(c, "the agent's name ("+hooksAgents+")")
	if err != nil {
		return nil, err
	}
	h, ok := harness.HooksOf(args[0])
	if !ok {
		return nil, usagef(c, "%q has no hooks that are known: there are those of %s; any other agent can call gh-loop hook harness running|waiting|idle itself", args[0], hooksAgents)
	}
	s := &settings{Hooks: h, path: h.Path(e.getenv, e.home()), memo: filepath.Join(config.StateDir(e.getenv, e.home()), "hooks", args[0]+".json")}
	if s.bin, err = e.bin(); err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = resolved
	}
	b, err := os.ReadFile(s.path)
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

// without gives the settings without our hooks: byte for byte as they were
// before them, or, where the agent wrote them anew since, freed of them. absent
// says that the file was ours alone.
func (s *settings) without() (text string, absent bool, err error) {
	if s.added != nil {
		if text, err := harness.Undo(s.text, s.added.Inserts); err == nil {
			return text, s.added.Created && strings.TrimSpace(text) == "", nil
		}
	}
	if s.Shape == harness.Plugin || strings.TrimSpace(s.text) == "" {
		return s.text, false, nil
	}
	text, err = harness.Strip(s.text)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", s.path, err)
	}
	return text, false, nil
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
	return text, false, &added{Path: s.path, Created: absent || !s.there, Inserts: inserts}, nil
}

func (s *settings) uninstall() (text string, absent bool, memo *added, err error) {
	text, absent, err = s.without()
	return text, absent, nil, err
}

func (e *env) hooksShow(_ context.Context, c *cli.Command) error {
	s, err := e.settingsOf(c)
	if err != nil {
		return err
	}
	text, _, _, err := s.install()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(e.out, diff(s.path, s.text, text))
	return err
}

func (e *env) hooksChange(ctx context.Context, c *cli.Command, change func(*settings) (string, bool, *added, error)) error {
	s, err := e.settingsOf(c)
	if err != nil {
		return err
	}
	text, absent, memo, err := change(s)
	if err != nil {
		return err
	}
	if text == s.text && !absent {
		fmt.Fprintf(e.err, "%s is as it should be.\n", s.path)
		return nil
	}
	fmt.Fprint(e.out, diff(s.path, s.text, text))
	if c.Bool("dry-run") {
		return nil
	}
	if yes, err := e.agree(ctx, c.Bool("yes")); !yes || err != nil {
		return err
	}
	if err := s.write(text, absent, memo); err != nil {
		return err
	}
	fmt.Fprintf(e.err, "%s is written.\n", s.path)
	if memo != nil && s.Note != "" {
		fmt.Fprintln(e.err, s.Note+".")
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
	if now, err := os.ReadFile(s.path); err == nil != s.there || string(now) != s.text {
		return fmt.Errorf("%s was changed by somebody else meanwhile: try again", s.path)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(s.path); err == nil {
		mode = st.Mode().Perm()
	}
	var err error
	if absent {
		err = os.Remove(s.path)
	} else {
		err = replace(s.path, []byte(text), mode)
	}
	if err == nil && memo == nil {
		if err = os.Remove(s.memo); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

func replace(path string, b []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := path + ".gh-loop-new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
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

// agree asks a person; a script that says the command has agreed.
func (e *env) agree(ctx context.Context, agreed bool) (bool, error) {
	if agreed || !term.IsTerminal(e.in) {
		return true, nil
	}
	answer, err := e.ask(ctx, "Write this? [y/N] ")
	return strings.HasPrefix(strings.ToLower(answer), "y"), err
}

// diff shows what changes: the lines that differ, each file's other lines
// being the same and in the same order.
func diff(path, before, after string) string {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := make([][]int, len(a)+1) // length of what a[i:] and b[j:] have in common
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	out := []string{"--- " + path, "+++ " + path}
	line := func(mark, text string) {
		if text != "" {
			out = append(out, mark+clean(strings.TrimSuffix(text, "\n")))
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			line("-", a[i])
			i++
		default:
			line("+", b[j])
			j++
		}
	}
	return strings.Join(out, "\n") + "\n"
}
