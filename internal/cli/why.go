package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/work"
)

var whyFields = []string{"ref", "url", "records", "damaged", "github", "notBelieved", "actor", "next"}

func (e *env) whyCommand() *cli.Command {
	return &cli.Command{
		Name: "why", Usage: "show how an issue or pull request is routed, and what said so", ArgsUsage: "REF",
		Description: "Tells which records have it, what GitHub says now, what of that is not\nbelieved, and what the next comment would do.\n\nExamples:\n  gh loop why 16\n  gh loop why 16 --offline\n  gh loop why 16 --json next --jq '.next[].endpoint'",
		Flags:       append(jsonFlags(), repoFlag(), &cli.BoolFlag{Name: "offline", Usage: "do not ask GitHub"}),
		Action:      e.why,
	}
}

func (e *env) why(ctx context.Context, c *cli.Command) error {
	args, err := exactly(c, "REF")
	if err != nil {
		return err
	}
	fields, err := wanted(c, whyFields)
	if err != nil {
		return err
	}
	d, ref, err := e.loopAt(c, args[0])
	if err != nil {
		return err
	}
	look := e.look
	if c.Bool("offline") {
		look, d.Gone = nil, nil
	}
	w, err := d.Why(ctx, ref, look)
	if fields != nil {
		if perr := e.printJSON(c, pick(whyRow(w), fields)); perr != nil {
			return perr
		}
		return err
	}
	e.printWhy(w)
	return err
}

func (e *env) look(ctx context.Context, ref work.Ref) (event.Thing, error) {
	c, err := github.Dial(ref.Host, e.now)
	if err != nil {
		return event.Thing{}, err
	}
	return c.Look(ctx, ref)
}

func whyRow(w dispatch.Why) map[string]any {
	row := map[string]any{
		"ref": w.Ref, "url": w.Ref.URL(), "records": orEmpty(w.Owners), "damaged": orEmpty(w.Damaged), "github": nil,
		"notBelieved": orEmpty(w.Doubts), "actor": w.Actor, "next": orEmpty(w.Next),
	}
	if g := w.GitHub; g != nil {
		row["github"] = map[string]any{"ref": g.Ref, "title": g.Title, "state": strings.ToLower(g.State), "head": g.Head, "refs": orEmpty(g.Refs), "pullRequests": pullRefs(g)}
	}
	return row
}

func pullRefs(g *event.Thing) []work.Ref {
	refs := []work.Ref{}
	for _, p := range g.Pulls {
		refs = append(refs, p.Ref)
	}
	return refs
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (e *env) printWhy(w dispatch.Why) {
	s := e.screen()
	say := func(format string, args ...any) { fmt.Fprintln(e.out, s.fold(clean(fmt.Sprintf(format, args...)))) }
	part := func(title string) { fmt.Fprintln(e.out, s.paint("1", title)) }
	title := ""
	if w.GitHub != nil {
		title = "  " + event.Line(w.GitHub.Title, 200) + " (" + strings.ToLower(w.GitHub.State) + ")"
	}
	fmt.Fprintln(e.out, s.paint("1", w.Ref.Short())+clean(title))
	part("On record")
	for _, o := range w.Owners {
		by := "the item itself"
		if o.Role == "pr" {
			by = "a pull request of it"
			if o.Linkage != nil {
				by += ", linked by " + string(o.Linkage.Source)
			}
		}
		say("  %s: %s, since %s; %s, session %s", o.Item.Short(), by, e.when(s, o.Since), o.Status, o.State)
		if !o.MovedTo.IsZero() {
			say("  %s is its name now", o.MovedTo.Short())
		}
	}
	if len(w.Owners) == 0 {
		say("  nobody works on it here: gh loop start %s begins", w.Ref.Short())
	}
	for _, b := range w.Damaged {
		say("  %s", b)
	}
	if w.GitHub != nil {
		part("GitHub says")
		e.printGitHub(w, say)
	}
	if len(w.Doubts) > 0 {
		part("Not believed, or not followed")
		for _, d := range w.Doubts {
			say("  %s: %s", d.What, d.Why)
		}
	}
	part("The next comment" + map[bool]string{true: " by " + w.Actor}[w.Actor != ""])
	for _, n := range w.Next {
		say("  %s", nextLine(n))
	}
}

func (e *env) printGitHub(w dispatch.Why, say func(string, ...any)) {
	said := false
	for _, n := range w.GitHub.Refs {
		if n.Ref.Same(w.GitHub.Ref) {
			continue
		}
		words := make([]string, len(n.Sources))
		for i, s := range n.Sources {
			words[i] = string(s)
		}
		say("  it delivers %s (%s)", n.Ref.Short(), strings.Join(words, ", "))
		said = true
	}
	for _, p := range w.GitHub.Pulls {
		say("  %s delivers it (%s)", p.Ref.Short(), p.Source)
		said = true
	}
	if !w.GitHub.Ref.Same(w.Ref) {
		say("  its name is %s now", w.GitHub.Ref.Short())
		said = true
	}
	if !said {
		say("  nothing that links it to anything else")
	}
}

func nextLine(n dispatch.Next) string {
	line := "is " + string(n.Fate)
	if !n.Endpoint.IsZero() {
		line += " to " + n.Endpoint.Short()
	}
	if !n.Item.IsZero() && !n.Item.Same(n.Endpoint) {
		line += " (of " + n.Item.Short() + ")"
	}
	if n.How != "" {
		line += ", " + string(n.How)
	}
	if n.Reason != "" {
		line += ": " + string(n.Reason)
	}
	return line
}
