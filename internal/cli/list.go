package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/tableprinter"
	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/work"
)

// rowFields are what --json of list and show can give.
var rowFields = []string{
	"ref", "url", "title", "role", "item", "status", "state", "harness", "harnessSessionId", "cwd", "branch", "tmuxTarget",
	"pane", "createdAt", "lastEventAt", "deliveries", "held", "sessionPerPr", "linkage", "pullRequests", "file",
}

func (e *env) listCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "show what is worked on, and how each session is",
		Description: "Examples:\n  gh loop list\n  gh loop list --json ref,state,held --jq '.[] | select(.held > 0)'",
		Flags:       append(jsonFlags(), &cli.StringFlag{Name: "state", Usage: "`STATE`: " + strings.Join(states, ", ")}),
		Action: func(ctx context.Context, c *cli.Command) error {
			if _, err := exactly(c); err != nil {
				return err
			}
			fields, err := wanted(c, rowFields)
			if err != nil {
				return err
			}
			state := c.String("state")
			if c.IsSet("state") && !slices.Contains(states, state) {
				return usagef(c, "%q is no state: there are %s", state, strings.Join(states, ", "))
			}
			d, err := e.build()
			if err != nil {
				return err
			}
			v, err := d.Look(ctx)
			if err != nil {
				return err
			}
			e.warn(v)
			slices.SortStableFunc(v.Records, func(a, b *work.Record) int { return byRef(a.Ref, b.Ref) })
			if fields != nil {
				rows := []map[string]any{}
				for _, r := range v.Records {
					for _, row := range chosen(recordRow(d, v, r), state) {
						rows = append(rows, pick(row, fields))
					}
				}
				return e.printJSON(c, rows)
			}
			if err := e.printList(v, state); err != nil {
				return err
			}
			if state != "" {
				return nil
			}
			return e.printKept(d, v)
		},
	}
}

// states are what --state takes.
var states = []string{"running", "waiting", "idle", "dead", "none", "unknown"}

// chosen gives an item's row, or, of it and its pull requests, those that are
// live and in a state, each as a row of its own.
func chosen(item map[string]any, state string) []map[string]any {
	if state == "" {
		return []map[string]any{item}
	}
	prs, _ := item["pullRequests"].([]map[string]any)
	return slices.DeleteFunc(append([]map[string]any{item}, prs...), func(row map[string]any) bool {
		return row["state"] != state || row["status"] == work.Closed
	})
}

// warn tells what a person should look at, whatever they asked for.
func (e *env) warn(v dispatch.View) {
	for _, b := range v.Damaged {
		fmt.Fprintf(e.err, "%s: %s\n", programName, clean(b.Error()))
	}
	for _, r := range v.Records {
		for _, b := range r.Damaged() {
			fmt.Fprintf(e.err, "%s: %s: an entry of pullRequests cannot be read: %s\n", programName, r.Ref.Short(), clean(b.Err.Error()))
		}
	}
	for _, r := range v.Records {
		for _, s := range r.Endpoints() {
			if dispatch.Gone(s) {
				fmt.Fprintf(e.err, "%s: %s: its directory %s is gone\n", programName, s.Ref.Short(), clean(s.Cwd))
			}
		}
	}
	if v.Poison > 0 {
		fmt.Fprintf(e.err, "%s: %d events were set aside after five tries: gh loop log tells which\n", programName, v.Poison)
	}
}

func (e *env) printList(v dispatch.View, only string) error {
	if len(v.Records) == 0 {
		fmt.Fprintln(e.err, "Nothing is worked on. Begin with: gh loop start NUMBER")
		return nil
	}
	s := e.screen()
	wide := !s.tty || s.width >= 100 // on a narrow one the title is worth more than tmux's name
	header := []string{"REF", "STATE", "SESSION", "LAST EVENT", "HELD", "TITLE"}
	if !wide {
		header = slices.Delete(header, 2, 3)
	}
	t := e.table(s, header...)
	for _, r := range v.Records {
		for i, x := range append([]*work.Session{&r.Session}, sorted(r)...) {
			if only != "" && (only != v.State(x) || !x.Live()) {
				continue
			}
			indent := ""
			if s.tty && i > 0 {
				indent = "  "
			}
			e.row(t, s, v, indent, x, wide)
		}
	}
	return t.Render()
}

// printKept tells of trees that stay behind. With a record that cannot be read
// nobody can say whose a tree is.
func (e *env) printKept(d *dispatch.Loop, v dispatch.View) error {
	if len(v.Damaged) > 0 {
		return nil
	}
	kept, err := d.KeptTrees(v.Records)
	for _, t := range kept {
		if t.Ref != "" {
			ref := refOf(t.Ref).Short()
			fmt.Fprintf(e.err, "%s: the tree %s; gh loop cleanup %s takes it away, with --force whatever is in it\n", ref, clean(t.Path+" "+whyKept(t)), ref)
		}
	}
	return err
}

func whyKept(t dispatch.KeptTree) string {
	switch {
	case t.Ref == "":
		return "is no tree of ours"
	case t.Why == "":
		return "was left behind"
	}
	return "is kept, it has " + t.Why
}

func (e *env) row(t tableprinter.TablePrinter, s screen, v dispatch.View, indent string, x *work.Session, wide bool) {
	state := stateOf(v, x)
	held := ""
	if n := v.Held[x.Ref.Key()]; n > 0 {
		held = fmt.Sprint(n)
	}
	t.AddField(indent+x.Name().Short(), tableprinter.WithTruncate(nil), tableprinter.WithColor(func(text string) string { return s.link(x.Name().URL(), text) }))
	t.AddField(s.lettered(state), tableprinter.WithTruncate(nil), tableprinter.WithColor(func(text string) string { return s.paint(stateColour(state), text) }))
	if wide {
		t.AddField(x.TmuxTarget)
	}
	t.AddField(e.when(s, x.LastEventAt), tableprinter.WithTruncate(nil))
	t.AddField(held, tableprinter.WithTruncate(nil))
	t.AddField(s.title(x.Title))
	t.EndRow()
}

// when is relative for people and exact for scripts.
func (e *env) when(s screen, stamp string) string {
	if !s.tty {
		return stamp
	}
	return ago(e.now(), stamp)
}

// recordRow is an item with its pull requests, as --json gives it.
func recordRow(d *dispatch.Loop, v dispatch.View, r *work.Record) map[string]any {
	row := sessionRow(v, &r.Session, r)
	row["role"], row["file"] = "item", d.Store.Path(r.Ref)
	row["sessionPerPr"] = r.Mode(d.Settings.Mode)
	prs := []map[string]any{}
	for _, pr := range sorted(r) {
		p := sessionRow(v, pr, r)
		p["role"] = "pr"
		prs = append(prs, p)
	}
	row["pullRequests"] = prs
	return row
}

func sessionRow(v dispatch.View, s *work.Session, r *work.Record) map[string]any {
	row := map[string]any{
		"ref": s.Ref, "url": s.Name().URL(), "title": s.Title, "item": r.Ref, "status": s.Status, "state": v.State(s), "harness": s.Harness,
		"harnessSessionId": s.HarnessSessionID, "cwd": s.Cwd, "branch": "", "tmuxTarget": s.TmuxTarget, "pane": "",
		"createdAt": s.CreatedAt, "lastEventAt": s.LastEventAt, "deliveries": len(s.RecentDeliveries), "held": v.Held[s.Ref.Key()], "linkage": s.Linkage,
	}
	if s.Head != nil {
		row["branch"] = s.Head.Branch
	}
	if p, ok := v.Pane(s); ok {
		row["pane"] = p.Pane
	}
	return row
}
