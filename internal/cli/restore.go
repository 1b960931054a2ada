package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/tmux"
)

func (e *env) restoreCommand() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "bring everything back after tmux or the machine went down",
		Description: "Sessions that live are left alone, so it can be run at any time, and twice.\n\nExamples:\n  gh loop restore --dry-run\n  gh loop restore",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "say what would be done"}},
		Action:      e.restore,
	}
}

func (e *env) restore(ctx context.Context, c *cli.Command) error {
	if _, err := exactly(c); err != nil {
		return err
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	dry := c.Bool("dry-run")
	back, alive, failed := 0, 0, 0
	err = d.Restore(ctx, dry, func(r dispatch.Restored) {
		line, ok := restoredLine(r, dry)
		switch {
		case !ok:
			failed++
		case r.State == tmux.Live:
			alive++
		case line != "":
			back++
		}
		if line != "" {
			fmt.Fprintln(e.err, clean(line))
		}
	})
	if err != nil {
		return err
	}
	words := "brought back"
	if dry {
		words = "to bring back"
	}
	fmt.Fprintf(e.err, "%d %s, %d running, %d not possible\n", back, words, alive, failed)
	if failed > 0 {
		return errSilent
	}
	if !dry {
		d.Drain(ctx)
	}
	return nil
}

func restoredLine(r dispatch.Restored, dry bool) (line string, ok bool) {
	name := r.Endpoint.Short()
	switch {
	case r.Err != nil:
		return name + ": not brought back: " + r.Err.Error(), false
	case r.State == tmux.Live, r.State == "":
		return "", true
	case dry:
		return name + ": would be brought back in session " + r.TmuxTarget, true
	case r.Did == loop.Spawned:
		return name + ": started afresh in session " + r.TmuxTarget, true
	}
	return name + ": back in session " + r.TmuxTarget, true
}
