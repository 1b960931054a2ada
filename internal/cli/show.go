package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/work"
)

// recentLines is how many lines of the log show prints.
const recentLines = 8

func (e *env) showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show one item whole: sessions, pull requests, what came last", ArgsUsage: "REF",
		Description: "A pull request's REF shows the item that it delivers.\n\nExamples:\n  gh loop show 15\n  gh loop show 16 --json state,pullRequests",
		Flags:       append(jsonFlags(), repoFlag()),
		Action:      e.show,
	}
}

func (e *env) show(ctx context.Context, c *cli.Command) error {
	args, err := exactly(c, "REF")
	if err != nil {
		return err
	}
	fields, err := wanted(c, rowFields)
	if err != nil {
		return err
	}
	d, ref, err := e.loopAt(c, args[0])
	if err != nil {
		return err
	}
	v, err := d.LookAt(ctx, ref)
	if err != nil {
		return err
	}
	e.warn(v)
	r := v.Records[0]
	if fields != nil {
		return e.printJSON(c, pick(recordRow(d, v, r), fields))
	}
	return e.printShow(d, v, r)
}

func (e *env) printShow(d *dispatch.Loop, v dispatch.View, r *work.Record) error {
	s := e.screen()
	e = e.folded(s)
	fmt.Fprintf(e.out, "%s  %s\n", s.paint("1", s.link(r.Name().URL(), r.Name().Short())), s.title(r.Title))
	if url := r.Name().URL(); url != "" {
		fmt.Fprintln(e.out, s.paint("2", url))
	}
	e.printSession(s, v, &r.Session, "")
	fmt.Fprintf(e.out, "  %-14s %s\n", "own sessions", r.Mode(d.Settings.Mode))
	fmt.Fprintf(e.out, "  %-14s %s\n", "record", e.shownPath(s, d.Store.Path(r.Ref)))
	for _, pr := range sorted(r) {
		name := s.link(pr.Name().URL(), pr.Name().Short())
		if !pr.Live() && r.Live() { // ended: a line is enough
			fmt.Fprintf(e.out, "\n%s  %s  %s\n", s.paint("2", name), s.paint("2", s.lettered("closed")), s.title(pr.Title))
			continue
		}
		fmt.Fprintf(e.out, "\n%s  %s\n", s.paint("1", name), s.title(pr.Title))
		e.printSession(s, v, pr, r.Cwd)
	}
	return e.printRecent(s, d, r)
}

// printSession tells of one session what is not as its item's, whose directory
// is above.
func (e *env) printSession(s screen, v dispatch.View, x *work.Session, above string) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(e.out, "  %-14s %s\n", name, clean(value))
		}
	}
	state := v.State(x)
	status := string(x.Status)
	if x.EndedBy != "" {
		status += " by " + string(x.EndedBy)
	}
	if !x.MovedTo.IsZero() {
		line("recorded as", x.Ref.Short())
	}
	if at := e.when(s, x.LastEventAt); at != "" {
		status += ", last event " + at
	}
	how := ""
	if p, ok := v.Pane(x); ok && p.Dead {
		how = " (" + dispatch.Ended(p.DeadStatus) + ")"
	}
	fmt.Fprintf(e.out, "  %-14s %s%s, %s\n", "state", s.paint(stateColour(state), s.lettered(state)), clean(how), clean(status))
	line("session", x.TmuxTarget)
	line("conversation", strings.TrimSpace(x.Harness+" "+x.HarnessSessionID))
	if dispatch.Gone(x) {
		line("directory", e.shownPath(s, x.Cwd)+" (gone)")
	} else if x.Cwd != above {
		line("directory", e.shownPath(s, x.Cwd))
	}
	if x.Linkage != nil {
		line("linked by", strings.TrimSpace(string(x.Linkage.Source)+" "+e.when(s, x.Linkage.At)))
	}
	if x.Declined != nil {
		line("no session", x.Declined.Reason)
	}
	if n := v.Held[x.Ref.Key()]; n > 0 {
		line("held", fmt.Sprintf("%d events", n))
	}
}

// shownPath is short for people and whole for scripts.
func (e *env) shownPath(s screen, path string) string {
	if !s.tty {
		return path
	}
	return e.homely(path)
}

// printRecent shows the last lines of the log that are about the item.
func (e *env) printRecent(s screen, d *dispatch.Loop, r *work.Record) error {
	var last []journal.Line
	err := d.Log.Read(func(l journal.Line) bool {
		if l.Item == r.Ref.String() || r.At(refOf(l.Endpoint)) != nil {
			last = append(last, l)
			if len(last) > 2*recentLines {
				last = last[1:]
			}
		}
		return true
	})
	last = confirmed(last)
	if err != nil || len(last) == 0 {
		return err
	}
	fmt.Fprintln(e.out)
	for _, l := range last[max(0, len(last)-recentLines):] {
		fmt.Fprintln(e.out, "  "+e.logLine(s, l))
	}
	return nil
}

// confirmed marks the deliveries of which the harness itself said that they
// were submitted, whichever of the two lines was written first.
func confirmed(lines []journal.Line) []journal.Line {
	id := func(l journal.Line) [2]string { return [2]string{l.Endpoint, l.Delivery} }
	said, delivered := map[[2]string]bool{}, map[[2]string]bool{}
	for _, l := range lines {
		said[id(l)] = said[id(l)] || l.What == "confirmed"
		delivered[id(l)] = delivered[id(l)] || l.What == "delivered"
	}
	var out []journal.Line
	for _, l := range lines {
		if l.What == "confirmed" && delivered[id(l)] {
			continue
		}
		if l.What == "delivered" && said[id(l)] {
			l.How += "  confirmed"
		}
		out = append(out, l)
	}
	return out
}

// refOf reads a ref that we wrote; a damaged one is no ref.
func refOf(text string) work.Ref {
	r, _ := work.ParseRef(text)
	return r
}
