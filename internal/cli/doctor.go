package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// level is how good what a check saw is.
type level string

// The levels. A warning is for people to weigh; something bad breaks a promise.
const (
	good    level = "good"
	warning level = "warning"
	bad     level = "bad"
	skipped level = "skipped"
)

// finding is what a check saw, and the cure. mend is set where doctor may
// carry the cure out by itself.
type finding struct {
	Check  string `json:"check"`
	Result level  `json:"result"`
	Saw    string `json:"saw"`
	Cure   string `json:"cure,omitempty"`
	Mended bool   `json:"mended,omitempty"`

	mend func() error
}

// check looks at one thing.
type check struct {
	name string
	look func(*exam) finding
}

func fine(format string, args ...any) finding {
	return finding{Result: good, Saw: fmt.Sprintf(format, args...)}
}

func pass(format string, args ...any) finding {
	return finding{Result: skipped, Saw: fmt.Sprintf(format, args...)}
}

func warn(cure, format string, args ...any) finding {
	return finding{Result: warning, Saw: fmt.Sprintf(format, args...), Cure: cure}
}

func wrong(cure, format string, args ...any) finding {
	return finding{Result: bad, Saw: fmt.Sprintf(format, args...), Cure: cure}
}

func (f finding) by(mend func() error) finding {
	f.mend = mend
	return f
}

func (e *env) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "find what is wrong on this machine, and say the cure",
		Description: "Every check says what it saw. It also plays the dangerous cases of a delivery\non a tmux server of its own, with the tmux that is installed; your own server\n" +
			"is only looked at. It ends with 1 if something is bad.\n\n" +
			"Examples:\n  gh loop doctor\n  gh loop doctor --json | jq '.[] | select(.result == \"bad\")'",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print every finding as JSON"},
			&cli.BoolFlag{Name: "fix", Usage: "do what is safe to do: hooks, permissions, leftovers"},
			&cli.BoolFlag{Name: "online", Usage: "ask GitHub as well: is the token taken, and for what"},
			&cli.BoolFlag{Name: "no-play", Usage: "leave out what is played on a tmux server of its own"},
		},
		Action: e.doctor,
	}
}

func (e *env) doctor(ctx context.Context, c *cli.Command) error {
	if _, err := exactly(c); err != nil {
		return err
	}
	x, err := e.examine(ctx)
	if err != nil {
		return err
	}
	x.online, x.play = c.Bool("online"), !c.Bool("no-play")
	var found []finding
	for _, k := range checks() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := k.look(x)
		f.Check = k.name
		if c.Bool("fix") {
			f.fix()
		}
		f.Saw, f.Cure = x.plain(f.Saw), x.plain(f.Cure)
		found = append(found, f)
	}
	if c.Bool("json") {
		enc := json.NewEncoder(e.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(found)
	} else {
		err = e.printFindings(found)
	}
	if err == nil && count(found, bad) > 0 {
		err = errSilent
	}
	return err
}

// fix carries a cure out, if there is one that is safe.
func (f *finding) fix() {
	if f.mend == nil || f.Result == good {
		return
	}
	if err := f.mend(); err != nil {
		f.Saw += "; mending it: " + err.Error()
		return
	}
	f.Result, f.Mended = good, true
}

func count(all []finding, l level) (n int) {
	for _, f := range all {
		if f.Result == l {
			n++
		}
	}
	return n
}

func (e *env) printFindings(all []finding) error {
	s := e.screen()
	mark := map[level]string{good: s.paint("32", "ok  "), warning: s.paint("33", "look"), bad: s.paint("31;1", "BAD "), skipped: s.paint("2", "-   ")}
	const margin = 29
	for _, f := range all {
		text := f.Saw
		if f.Mended {
			text += " (mended)"
		} else if f.Cure != "" {
			text += "\n" + s.paint("1", "cure:") + " " + f.Cure
		}
		if s.tty {
			text = wrapped(text, s.width-margin)
		}
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", margin))
		if _, err := fmt.Fprintf(e.out, "%s  %-21s  %s\n", mark[f.Result], f.Check, text); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.err, "%d good, %d to look at, %d bad, %d skipped\n", count(all, good), count(all, warning), count(all, bad), count(all, skipped))
	return nil
}

// wrapped breaks lines between words, where they would be longer than width.
func wrapped(text string, width int) string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(l) {
			if line != "" && columns(line)+1+columns(word) > width {
				out = append(out, line)
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
