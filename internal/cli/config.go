package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
)

func (e *env) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "show the configuration in force, and what set each value",
		Description: "Examples:\n  gh loop config\n  gh loop config | grep sessionPerPr",
		Action: func(_ context.Context, c *cli.Command) error {
			if _, err := exactly(c); err != nil {
				return err
			}
			conf, err := config.Load(e.getenv, e.home())
			if err != nil {
				return err
			}
			s := e.screen()
			t := e.table(s, "KEY", "VALUE", "FROM")
			for _, set := range conf.Settings() {
				t.AddField(set.Key)
				t.AddField(set.Value)
				t.AddField(set.Source)
				t.EndRow()
			}
			if err := t.Render(); err != nil {
				return err
			}
			path, _ := config.Path(e.getenv, e.home())
			fmt.Fprintf(e.err, "file: %s%s\nstate: %s\n", path, map[bool]string{true: " (not there; the defaults hold)"}[conf.Path == ""], config.StateDir(e.getenv, e.home()))
			return nil
		},
	}
}
