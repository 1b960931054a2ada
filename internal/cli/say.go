package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) sayCommand() *cli.Command {
	return &cli.Command{
		Name: "say", Usage: "for sessions: comment on your own item or pull request", ArgsUsage: "TEXT",
		Description: "The comment carries a mark by which it does not come back as an event.\nOnly a session that gh loop started can say something, on what it works on.\n\nExamples:\n  gh loop say \"Done: the tests pass.\"\n  git log --oneline main.. | gh loop say -",
		Action: func(ctx context.Context, c *cli.Command) error {
			args, err := exactly(c, "TEXT")
			if err != nil {
				return err
			}
			own := e.getenv("GH_LOOP_REF")
			if own == "" {
				return usagef(c, "say is for sessions that gh loop started: $GH_LOOP_REF names none")
			}
			ref, err := work.ParseRef(own)
			if err != nil {
				return fmt.Errorf("$GH_LOOP_REF: %w", err)
			}
			text, err := e.typed(ctx, "TEXT", args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return usagef(c, "TEXT is empty")
			}
			if err := github.Comment(ctx, ref, text); err != nil {
				return err
			}
			fmt.Fprintf(e.err, "said on %s\n", ref.Short())
			return nil
		},
	}
}
