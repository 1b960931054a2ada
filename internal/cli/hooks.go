package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/urfave/cli/v3"

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
				Action:      e.hooksInstall},
			{Name: "uninstall", Usage: "take the hooks out again", ArgsUsage: hooksAgents,
				Flags:       append(flags(), &cli.BoolFlag{Name: "all", Usage: "out of all settings that they were added to"}),
				Description: "Examples:\n  gh loop hooks uninstall claude\n  gh loop hooks uninstall --all --yes",
				Action:      e.hooksUninstall},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return usagef(c, "%q is neither show, install nor uninstall", c.Args().First())
			}
			return usagef(c, "show, install or uninstall is missing")
		},
	}
}

func (e *env) hooksShow(_ context.Context, c *cli.Command) error {
	s, err := e.settingsOf(c)
	if err != nil {
		return err
	}
	before := s.text
	text, _, _, err := s.install()
	if err != nil && s.Shape != harness.Plugin { // to be put there by hand
		fmt.Fprintf(e.err, "%s\n", clean(err.Error()))
		before = ""
		text, _, err = s.Add(before, s.bin)
	}
	if err == nil {
		_, err = fmt.Fprint(e.out, diff(s.path, before, text))
	}
	return err
}

func (e *env) hooksInstall(ctx context.Context, c *cli.Command) error {
	s, err := e.settingsOf(c)
	if err != nil {
		return err
	}
	return e.hooksChange(ctx, c, s, (*settings).install)
}

// hooksUninstall goes on with the next settings where some cannot be changed.
func (e *env) hooksUninstall(ctx context.Context, c *cli.Command) error {
	if !c.Bool("all") {
		s, err := e.settingsOf(c)
		if err != nil {
			return err
		}
		return e.hooksChange(ctx, c, s, (*settings).uninstall)
	}
	if _, err := exactly(c); err != nil {
		return err
	}
	all, err := e.added()
	for _, s := range all {
		err = errors.Join(err, e.hooksChange(ctx, c, s, (*settings).uninstall))
	}
	return err
}

func (e *env) hooksChange(ctx context.Context, c *cli.Command, s *settings, change func(*settings) (string, bool, *added, error)) error {
	text, absent, memo, err := change(s)
	if err != nil {
		return err
	}
	if text == s.text && !absent {
		if memo == nil && s.added != nil && !exists(filepath.Dir(s.path)) { // on a disk that is not mounted, for one
			fmt.Fprintf(e.err, "%s is not there; what was added to it stays remembered.\n", filepath.Dir(s.path))
			return nil
		}
		fmt.Fprintf(e.err, "%s is as it should be.\n", s.path)
		if memo != nil || c.Bool("dry-run") {
			return nil
		}
		return s.forget()
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
	done := "written"
	if absent {
		done = "removed"
	}
	fmt.Fprintf(e.err, "%s is %s.\n", s.path, done)
	if memo != nil && s.Note != "" {
		fmt.Fprintln(e.err, s.Note+".")
	}
	return nil
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
