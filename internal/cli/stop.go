package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) stopCommand() *cli.Command {
	return &cli.Command{
		Name: "stop", Usage: "end an item, or one pull request's session, and remember that you did", ArgsUsage: "REF",
		Description: "The harness ends, the pane stays readable (keepSessionOnClose). start brings it back.\n\nExamples:\n  gh loop stop 15\n  gh loop stop octo/repo#16",
		Flags:       []cli.Flag{repoFlag()},
		Action: func(ctx context.Context, c *cli.Command) error {
			args, err := exactly(c, "REF")
			if err != nil {
				return err
			}
			ref, err := e.ref(c, args[0])
			if err != nil {
				return err
			}
			d, err := e.build()
			if err != nil {
				return err
			}
			if _, err := d.Stop(ctx, ref, work.ByStop); err != nil {
				return err
			}
			fmt.Fprintf(e.err, "%s: stopped; gh loop start %s brings it back\n", ref.Short(), ref.Short())
			return nil
		},
	}
}
