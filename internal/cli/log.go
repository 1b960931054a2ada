package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
		Description: "Each line says when, what, to whom, of which event, how, and why.\n\n" +
			"Examples:\n  gh loop log 15 --follow\n  gh loop log --since 2h --fate held",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as lines come"},
			&cli.StringFlag{Name: "since", Usage: "only since `TIME`: 30m, 2h, 3d or 2026-08-07"},
			&cli.StringFlag{Name: "fate", Usage: "only this `FATE`: " + strings.Join(fates, ", ")},
			&cli.IntFlag{Name: "limit", Aliases: []string{"L"}, Value: 50, Usage: "show the last `N` lines; 0 shows all"},
			&cli.BoolFlag{Name: "json", Usage: "print the lines as they are stored"},
		},
		Action: e.log,
	}
}

var fates = []string{"delivered", "settled", "held", "failed"}

// wish is what somebody wants to see of the log.
type wish struct {
	about, fate string
	since       time.Time
}

func (e *env) log(ctx context.Context, c *cli.Command) error {
	w, err := e.wish(c)
	if err != nil {
		return err
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	s := e.screen()
	say := func(l journal.Line) error {
		if c.Bool("json") {
			enc := json.NewEncoder(e.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(l)
		}
		_, err := fmt.Fprintln(e.out, s.fold(e.logLine(s, l)))
		return err
	}
	var last []journal.Line
	follow := c.Bool("follow")
	caughtUp := !follow
	flush := func() error {
		caughtUp = true
		if len(last) == 0 && s.tty && !follow {
			fmt.Fprintln(e.err, "Nothing of that is in the log.")
		}
		for _, l := range last {
			if err := say(l); err != nil {
				return err
			}
		}
		return nil
	}
	var printErr error
	see := func(l journal.Line) bool {
		switch {
		case !w.takes(l):
		case follow && caughtUp:
			printErr = say(l)
		default:
			last = append(last, l)
			if n := c.Int("limit"); n > 0 && len(last) > n {
				last = last[1:]
			}
		}
		return printErr == nil
	}
	if !follow {
		return errors.Join(d.Log.Read(see), flush())
	}
	err = d.Log.Follow(ctx, followEvery, see, func() bool { printErr = flush(); return printErr == nil })
	return errors.Join(err, printErr)
}

func (e *env) wish(c *cli.Command) (w wish, err error) {
	if c.Args().Len() > 1 {
		return w, usagef(c, "%q is one argument too many", c.Args().Get(1))
	}
	if c.Int("limit") < 0 {
		return w, usagef(c, "--limit: %d is below 0", c.Int("limit"))
	}
	if w.fate = c.String("fate"); w.fate != "" && !slices.Contains(fates, w.fate) {
		return w, usagef(c, "--fate: %q is no fate; there are %s", w.fate, strings.Join(fates, ", "))
	}
	if text := c.String("since"); text != "" {
		var ok bool
		if w.since, ok = before(e.now(), text); !ok {
			return w, usagef(c, "--since: %q is no time; write 30m, 2h, 3d, 2026-08-07 or 2026-08-07T09:12:04Z", text)
		}
	}
	if c.Args().Present() {
		ref, err := e.ref(c, c.Args().First())
		if err != nil {
			return w, err
		}
		w.about = ref.Key()
	}
	return w, nil
}

// before reads a time: how long ago, a day, or a moment.
func before(now time.Time, text string) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return now.AddDate(0, 0, -n), err == nil && n >= 0
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), ago >= 0
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	return at, err == nil
}

func (w wish) takes(l journal.Line) bool {
	if w.fate != "" && l.What != w.fate {
		return false
	}
	if at, err := time.Parse(time.RFC3339, l.At); !w.since.IsZero() && (err != nil || at.Before(w.since)) {
		return false
	}
	return w.about == "" || strings.ToLower(l.Item) == w.about || strings.ToLower(l.Endpoint) == w.about
}

// logLine is a line of the log as people read it: when, what, where to, why.
func (e *env) logLine(s screen, l journal.Line) string {
	when := l.At
	if s.tty {
		when = fmt.Sprintf("%-9s", ago(e.now(), l.At))
	}
	parts := []string{s.paint("2", when), s.paint(fateColour(l.What), fmt.Sprintf("%-10s", s.title(l.What)))}
	where := shortRef(l.Endpoint)
	if item := shortRef(l.Item); item != "" && item != where {
		if repo, number, ok := strings.Cut(item, "#"); s.tty && ok && strings.HasPrefix(where, repo+"#") {
			item = "#" + number // where the repository is the same, its name twice tells nothing
		}
		where = strings.TrimPrefix(where+" (of "+item+")", " ")
	}
	for _, p := range []string{where, l.Event, l.How, l.Reason} {
		if p != "" {
			parts = append(parts, s.title(p))
		}
	}
	if l.Message != "" {
		parts = append(parts, s.paint("2", s.title(l.Message)))
	}
	return strings.Join(parts, "  ")
}

func shortRef(text string) string { return strings.TrimPrefix(text, "github:") }

func fateColour(what string) string {
	return map[string]string{"delivered": "32", "held": "33", "failed": "31", "error": "31", "declined": "33", "spawned": "36", "respawned": "36"}[what]
}
