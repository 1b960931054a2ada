package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/tmux"
)

// maxBody is the largest webhook body that GitHub sends: 25 MB.
const maxBody = 25 << 20

func (e *env) eventCommand() *cli.Command {
	return &cli.Command{
		Name: "event", Usage: "take one webhook body and hand it to its conversation", ArgsUsage: "[FILE]",
		Description: "Exit 0 means that the event is ours: delivered, settled, or held for later.\n\nExamples:\n  gh loop event --event issue_comment --delivery 8f2c body.json\n  gh webhook forward --repo octo/repo --events issue_comment |\n    gh loop event --stream",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "event", Usage: "GitHub's `NAME` of the event (default: told from the body)"},
			&cli.StringFlag{Name: "delivery", Usage: "GitHub's `ID` of the delivery"},
			&cli.BoolFlag{Name: "stream", Usage: "take one body after the other, until the end"},
			&cli.BoolFlag{Name: "json", Usage: "print one line of JSON for each event"},
		},
		Action: e.event,
	}
}

func (e *env) event(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() > 1 {
		return usagef(c, "%q is one argument too many", c.Args().Get(1))
	}
	if c.Bool("stream") && c.String("delivery") != "" {
		return usagef(c, "--delivery names one event, and --stream brings many")
	}
	file := e.in
	source := "standard input"
	if name := c.Args().First(); name != "" && name != "-" {
		f, err := opened(ctx, name)
		if err != nil {
			return err
		}
		defer f.Close()
		file, source = f, name
	}
	in := reading(ctx, file)
	d, err := e.build()
	if err != nil {
		return err
	}
	if c.Bool("stream") {
		err = e.stream(ctx, c, d, in, source)
	} else {
		ctx = tmux.Once(ctx) // also for what is taken up behind it
		err = e.one(ctx, c, d, in, source)
	}
	d.Drain(ctx)
	return err
}

func (e *env) one(ctx context.Context, c *cli.Command, d *dispatch.Loop, in io.Reader, source string) error {
	limited := &io.LimitedReader{R: in, N: maxBody + 1}
	body, err := wholeBody(limited)
	switch {
	case limited.N == 0:
		return fmt.Errorf("%s: %w", source, errTooLarge)
	case err != nil:
		return fmt.Errorf("%s: %w", source, err)
	}
	r, err := d.Event(ctx, c.String("event"), c.String("delivery"), body)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return e.tell(c, r)
}

// wholeBody gives a body as it is, or what we need of it if it is long.
func wholeBody(in io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(in, largeBody))
	if err != nil || len(body) < largeBody {
		return body, err
	}
	return event.CondenseAll(io.MultiReader(bytes.NewReader(body), in))
}

// stream takes JSON values, not lines: gh webhook forward prints bodies over
// several lines at times. A value that is no event is told and passed over; a
// text that is no JSON ends the stream, as nobody knows where the next begins.
func (e *env) stream(ctx context.Context, c *cli.Command, d *dispatch.Loop, in io.Reader, source string) error {
	bodies := bufio.NewReaderSize(in, 64<<10)
	failed := false
	for n := 1; ctx.Err() == nil; n++ {
		body, err := event.Condense(bodies)
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: body %d: %w", source, n, err)
		}
		r, err := d.Event(ctx, c.String("event"), "", body)
		if err != nil {
			fmt.Fprintf(e.err, "%s: %s: body %d: %s\n", programName, source, n, clean(err.Error()))
			failed = true
			continue
		}
		if err := e.tell(c, r); err != nil {
			return err
		}
	}
	if failed {
		return errSilent
	}
	return nil
}

func (e *env) tell(c *cli.Command, r dispatch.Result) error {
	if c.Bool("json") {
		return e.printResult(r)
	}
	for _, o := range r.Outcomes {
		fmt.Fprintln(e.err, clean(outcomeLine(r, o)))
	}
	return nil
}

func (e *env) printResult(r dispatch.Result) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// outcomeLine says in one line what became of an event for one record.
func outcomeLine(r dispatch.Result, o loop.Outcome) string {
	line := cmp.Or(r.Event, "no event of GitHub's")
	if r.Action != "" {
		line += "." + r.Action
	}
	line += ": " + string(o.Fate)
	if !o.Endpoint.IsZero() {
		line += " " + o.Endpoint.Short()
	}
	if o.How != "" {
		line += ", " + string(o.How)
	}
	if o.TmuxTarget != "" {
		line += " in " + o.TmuxTarget
	}
	if o.Reason != "" {
		line += ": " + string(o.Reason)
	}
	if o.Message != "" {
		line += " (" + o.Message + ")"
	}
	return line
}
