package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/tmux"
)

func (e *env) registerCommand() *cli.Command {
	return &cli.Command{
		Name: "register", Usage: "take over a conversation that you started yourself", ArgsUsage: "REF",
		Description: "The agent must be in front in the pane.\nEvents are typed at it only while that same program is.\n\nExamples:\n  gh loop register 15 --pane %3 --harness claude --session-id ID\n  gh loop register octo/repo#15 --pane %3",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.StringFlag{Name: "session-id", Usage: "the conversation's `ID`, by which it can be resumed"},
			&cli.StringFlag{Name: "harness", Usage: "the agent's `NAME`"},
			&cli.StringFlag{Name: "cwd", Usage: "`DIR` that it works in (default: here)"},
			&cli.StringFlag{Name: "pane", Usage: "the agent's `PANE`, %N (default: the current one)"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			args, err := exactly(c, "REF")
			if err != nil {
				return err
			}
			q := dispatch.RegisterRequest{Harness: c.String("harness"), ID: c.String("session-id"), Pane: c.String("pane")}
			if q.Ref, err = e.ref(c, args[0]); err != nil {
				return err
			}
			if q.Pane == "" {
				q.Pane = e.getenv("TMUX_PANE")
			}
			if q.Pane == "" {
				return usagef(c, "--pane is missing, and this is not inside tmux")
			}
			if q.Cwd, err = directory(c); err != nil {
				return err
			}
			d, err := e.build()
			if err != nil {
				return err
			}
			q.Socket, q.Program = tmux.DefaultSocket(e.getenv), filepath.Base(d.Bin)
			r, err := d.Register(ctx, q)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.err, "%s: pane %s of session %s is its session now\n", r.Ref.Short(), r.Tmux.Pane, r.TmuxTarget)
			d.Drain(ctx)
			return nil
		},
	}
}
