package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/journal"
)

// followEvery is how often log --follow looks for new lines.
const followEvery = 200 * time.Millisecond

func (e *env) logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "show what happened, and why", ArgsUsage: "[REF]",
		Description: "Examples:\n  gh loop log\n  gh loop log 15 --follow",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as lines come"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"L"}, Value: 50, Usage: "show the last `N` lines; 0 shows all"},
			&cli.BoolFlag{Name: "json", Usage: "print the lines as they are stored"},
		},
		Action: e.log,
	}
}

func (e *env) log(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() > 1 {
		return usagef(c, "%q is one argument too many", c.Args().Get(1))
	}
	if c.Int("limit") < 0 {
		return usagef(c, "--limit: %d is below 0", c.Int("limit"))
	}
	about := ""
	if c.Args().Present() {
		ref, err := e.ref(c, c.Args().First())
		if err != nil {
			return err
		}
		about = ref.Key()
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	s := e.screen()
	print := func(l journal.Line) error {
		if c.Bool("json") {
			enc := json.NewEncoder(e.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(l)
		}
		_, err := fmt.Fprintln(e.out, e.logLine(s, l))
		return err
	}
	concerns := func(l journal.Line) bool {
		return about == "" || strings.ToLower(l.Item) == about || strings.ToLower(l.Endpoint) == about
	}
	var last []journal.Line
	if err := d.Log.Read(func(l journal.Line) bool {
		if concerns(l) {
			last = append(last, l)
			if n := c.Int("limit"); n > 0 && len(last) > n {
				last = last[1:]
			}
		}
		return true
	}); err != nil {
		return err
	}
	for _, l := range last {
		if err := print(l); err != nil {
			return err
		}
	}
	if !c.Bool("follow") {
		return nil
	}
	var printErr error
	err = d.Log.Follow(ctx, followEvery, func(l journal.Line) bool {
		if concerns(l) {
			printErr = print(l)
		}
		return printErr == nil
	}, nil)
	return errors.Join(err, printErr)
}

// logLine is a line of the log as people read it: when, what, where to, why.
func (e *env) logLine(s screen, l journal.Line) string {
	when := l.At
	if s.tty {
		when = fmt.Sprintf("%-9s", ago(e.now(), l.At))
	}
	parts := []string{s.paint("2", when), s.paint(fateColour(l.What), fmt.Sprintf("%-10s", l.What))}
	where := shortRef(l.Endpoint)
	if item := shortRef(l.Item); item != "" && item != where {
		where = strings.TrimPrefix(where+" (of "+item+")", " ")
	}
	for _, p := range []string{where, l.Event, l.How, l.Reason} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if l.Message != "" {
		parts = append(parts, s.paint("2", l.Message))
	}
	return strings.ReplaceAll(strings.Join(parts, "  "), "\n", " ")
}

func shortRef(text string) string { return strings.TrimPrefix(text, "github:") }

func fateColour(what string) string {
	return map[string]string{"delivered": "32", "held": "33", "failed": "31", "error": "31", "declined": "33", "spawned": "36", "respawned": "36"}[what]
}
