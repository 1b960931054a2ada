package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) linkCommand() *cli.Command {
	return &cli.Command{
		Name: "link", Usage: "say which item a pull request delivers", ArgsUsage: "PR",
		Description: "Examples:\n  gh loop link 16 --to 15\n  gh loop link octo/lib#3 --to octo/repo#15",
		Flags:       []cli.Flag{repoFlag(), &cli.StringFlag{Name: "to", Usage: "the item's `REF` (default: $GH_LOOP_ITEM)"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			pr, item, err := e.pair(c, "to")
			if err != nil {
				return err
			}
			d, err := e.build()
			if err != nil {
				return err
			}
			isNew, err := d.Link(ctx, pr, item)
			if err != nil {
				return err
			}
			if !isNew {
				fmt.Fprintf(e.err, "%s is on %s already\n", pr.Short(), item.Short())
				return nil
			}
			fmt.Fprintf(e.err, "%s delivers %s from now on\n", pr.Short(), item.Short())
			return nil
		},
	}
}

func (e *env) unlinkCommand() *cli.Command {
	return &cli.Command{
		Name: "unlink", Usage: "take a pull request off an item", ArgsUsage: "PR",
		Description: "The pull request's own session ends as one that closed does.\n\nExamples:\n  gh loop unlink 16 --from 15\n  gh loop unlink octo/lib#3 --from octo/repo#15",
		Flags:       []cli.Flag{repoFlag(), &cli.StringFlag{Name: "from", Usage: "the item's `REF` (default: $GH_LOOP_ITEM)"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			pr, item, err := e.pair(c, "from")
			if err != nil {
				return err
			}
			d, err := e.build()
			if err != nil {
				return err
			}
			had, err := d.Unlink(ctx, pr, item)
			if err != nil {
				return err
			}
			if !had {
				return fmt.Errorf("%s is not on %s", pr.Short(), item.Short())
			}
			fmt.Fprintf(e.err, "%s is off %s\n", pr.Short(), item.Short())
			return nil
		},
	}
}

// pair reads a pull request and the item that a flag or the session names.
func (e *env) pair(c *cli.Command, flag string) (pr, item work.Ref, err error) {
	args, err := exactly(c, "PR")
	if err != nil {
		return pr, item, err
	}
	text := c.String(flag)
	if text == "" {
		text = e.getenv("GH_LOOP_ITEM")
	}
	if text == "" {
		return pr, item, usagef(c, "--%s is missing, and $GH_LOOP_ITEM names no item", flag)
	}
	if pr, err = e.ref(c, args[0]); err != nil {
		return pr, item, err
	}
	item, err = e.ref(c, text)
	return pr, item, err
}
