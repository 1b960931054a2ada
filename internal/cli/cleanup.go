package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) cleanupCommand() *cli.Command {
	return e.endingCommand("cleanup", "end every session of an item and remove its trees", "cleaned up",
		"Sessions of pull requests end first, and none is kept. A tree that has\nchanges, or commits that are on no remote, stays unless forced.",
		(*dispatch.Loop).Cleanup)
}

func (e *env) resetCommand() *cli.Command {
	return e.endingCommand("reset", "clean up, and forget the item on this machine", "forgotten",
		"As cleanup does; then the record goes, with its conversations' ids.\nWhat was commanded for it on GitHub stays known.",
		(*dispatch.Loop).Reset)
}

// endingCommand is a command that ends for good what a ref names.
func (e *env) endingCommand(name, usage, done, about string, carryOut func(*dispatch.Loop, context.Context, work.Ref, bool) ([]dispatch.Step, error)) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "REF",
		Description: about + "\nREF is taken literally: that of a pull request means its own session,\nand never its item.\n\nExamples:\n  gh loop " + name + " 15 --dry-run\n  gh loop " + name + " 15",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done"},
			&cli.BoolFlag{Name: "force", Usage: "remove trees although something would be lost"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			d, ref, err := e.loopAndRef(c)
			if err != nil {
				return err
			}
			if c.Bool("dry-run") {
				steps, err := d.Plan(ctx, ref)
				for _, s := range steps {
					e.wouldDo(s, c.Bool("force"))
				}
				return err
			}
			steps, err := carryOut(d, ctx, ref, c.Bool("force"))
			kept := e.didDo(steps)
			if err != nil {
				return err
			}
			if kept {
				return errSilent
			}
			fmt.Fprintf(e.err, "%s: %s\n", ref.Short(), done)
			return nil
		},
	}
}

func (e *env) wouldDo(s dispatch.Step, force bool) {
	line := "has no session"
	if s.Session != "" {
		line = "session " + s.Session + " would end"
	}
	has := strings.Join(s.Lost, " and ")
	switch {
	case s.Err != nil:
		line += "; " + s.Err.Error()
	case s.Tree == "":
	case has == "":
		line += "; tree " + s.Tree + " would go, nothing would be lost"
	case force:
		line += "; tree " + s.Tree + " would go, with what it has: " + has
	default:
		line += "; tree " + s.Tree + " would go if it had nothing to lose then; now it has " + has
	}
	fmt.Fprintf(e.err, "%s: %s\n", s.Endpoint.Short(), clean(line))
}

// didDo tells what was done about trees, and whether one stays.
func (e *env) didDo(steps []dispatch.Step) (kept bool) {
	for _, s := range steps {
		switch {
		case s.Err != nil:
			kept = true
			fmt.Fprintf(e.err, "%s: %s\n", s.Endpoint.Short(), clean(s.Err.Error()))
		case s.Tree != "":
			fmt.Fprintf(e.err, "%s: tree %s is removed\n", s.Endpoint.Short(), clean(s.Tree))
		}
	}
	return kept
}
