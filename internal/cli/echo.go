package cli

import (
	"context"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/harness"
)

// echoCommand is the agent of our own that shows what it is told.
func (e *env) echoCommand() *cli.Command {
	return &cli.Command{
		Name: "echo", Hidden: true, SkipFlagParsing: true, Usage: "the echo agent",
		Action: func(ctx context.Context, c *cli.Command) error {
			return harness.Echo(ctx, c.Args().Slice(), e.in, e.out, filepath.Join(config.StateDir(e.getenv, e.home()), "echo"))
		},
	}
}
