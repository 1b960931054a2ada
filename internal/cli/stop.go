package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) stopCommand() *cli.Command {
	return e.verbCommand(verbCommand{
		verb: loop.Stop, usage: "end an item, or a pull request's session, until you start it",
		about: "The harness ends, the pane stays readable (keepSessionOnClose).\nNeither a reopened issue nor an event starts it again; start does.",
		done:  "stopped; gh loop start REF brings it back", already: "stopped already; gh loop start REF brings it back",
	})
}

func (e *env) closeCommand() *cli.Command {
	return e.verbCommand(verbCommand{
		verb: loop.Close, usage: "end an item, or one session, as if it had closed on GitHub",
		about: "The harness ends, the pane stays readable (keepSessionOnClose).\nIt comes back when it is reopened on GitHub, or by start.",
		done:  "closed; gh loop start REF brings it back", already: "closed already; gh loop start REF brings it back",
	})
}

func (e *env) pauseCommand() *cli.Command {
	return e.verbCommand(verbCommand{
		verb: loop.Pause, usage: "deliver nothing to an item, or to one pull request",
		about: "Its session goes on. Events that come meanwhile are not kept:\nthe conversation reads the thread itself.",
		done:  "paused; gh loop resume REF ends that", already: "paused already; gh loop resume REF ends that",
	})
}

func (e *env) resumeCommand() *cli.Command {
	return e.verbCommand(verbCommand{
		verb: loop.Resume, usage: "deliver events again after a pause", about: "What was held before the pause is taken up.",
		done: "active again", already: "not paused",
	})
}

// verbCommand is a command that does one thing to one ref, taken literally.
type verbCommand struct {
	verb                        loop.Verb
	usage, about, done, already string // in the last two REF stands for the ref
}

func (e *env) verbCommand(v verbCommand) *cli.Command {
	name := string(v.verb)
	return &cli.Command{
		Name: name, Usage: v.usage, ArgsUsage: "REF",
		Description: v.about + "\nREF is taken literally: that of a pull request means its own session,\nand never its item.\n\nExamples:\n  gh loop " + name + " 15\n  gh loop " + name + " octo/repo#16",
		Flags:       []cli.Flag{repoFlag()},
		Action: func(ctx context.Context, c *cli.Command) error {
			d, ref, err := e.loopAndRef(c)
			if err != nil {
				return err
			}
			_, changed, err := d.Obey(ctx, ref, v.verb)
			if err != nil {
				return err
			}
			text := v.already
			if changed {
				text = v.done
			}
			fmt.Fprintf(e.err, "%s: %s\n", ref.Short(), strings.ReplaceAll(text, "REF", ref.Short()))
			switch v.verb {
			case loop.Resume:
				d.Drain(ctx)
			case loop.Stop, loop.Close:
				d.Conclude(ctx, ref)
			}
			return nil
		},
	}
}

// loopAndRef reads the one argument of a command that is about one ref.
func (e *env) loopAndRef(c *cli.Command) (*dispatch.Loop, work.Ref, error) {
	args, err := exactly(c, "REF")
	if err != nil {
		return nil, work.Ref{}, err
	}
	return e.loopAt(c, args[0])
}
