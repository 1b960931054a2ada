package event

import "strings"

// quote lists fields from pairs of name and value, without the empty ones.
func quote(pairs ...string) []Field {
	var out []Field
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.TrimSpace(pairs[i+1]) != "" {
			out = append(out, Field{pairs[i], pairs[i+1]})
		}
	}
	return out
}

func wordsFields(e *Event, t *thread, w *words) []Field {
	name, state := "comment", ""
	if e.Name == "pull_request_review" {
		name, state = "review", strings.ReplaceAll(w.State, "_", " ")
	}
	return quote("title", t.Title, "verdict", state, "file", w.place(), "diff", w.DiffHunk, name, w.Body)
}

// place is file and line, the way editors write them.
func (w *words) place() string {
	switch {
	case w.Path == "":
		return ""
	case w.StartLine > 0 && w.Line > w.StartLine:
		return w.Path + ":" + count(w.StartLine) + "-" + count(w.Line)
	case w.Line > 0:
		return w.Path + ":" + count(w.Line)
	case w.OriginalLine > 0:
		return w.Path + ":" + count(w.OriginalLine) + " (of an older version)"
	}
	return w.Path
}

func (p *payload) talkFields(e *Event, t *thread) []Field {
	place := ""
	if c := p.talk().Comments; len(c) > 0 {
		place = c[0].place()
	}
	return quote("title", t.Title, "thread", e.Action, "file", place)
}

// stateFields says what changed. A description is quoted only if who sent the
// event wrote it: nobody else's words come in on an allowed person's event.
func (p *payload) stateFields(e *Event, t *thread) []Field {
	own := e.Actor != "" && strings.EqualFold(e.Actor, t.User.login())
	description := ""
	if own && (e.Action == "opened" || e.Action == "edited" && p.Changes.Body != nil) {
		description = t.Body
	}
	fields := quote("title", t.Title, "state", t.state())
	switch e.Action {
	case "labeled", "unlabeled":
		fields = append(fields, quote("label", p.Label.Name)...)
	case "assigned", "unassigned":
		fields = append(fields, quote("assignee", p.Assignee.Login)...)
	case "milestoned", "demilestoned":
		fields = append(fields, quote("milestone", p.Milestone.Title)...)
	case "review_requested", "review_request_removed":
		fields = append(fields, quote("reviewer", p.Reviewer.Login, "team", p.Team.Name)...)
	case "synchronize":
		fields = append(fields, quote("before", p.Before, "after", p.After)...)
	case "transferred":
		fields = append(fields, quote("now at", p.Changes.NewIssue.HTMLURL)...)
	case "opened", "edited", "reopened":
		fields = append(fields, quote("changed", p.Changes.names(), "from title", p.Changes.Title.text(), "branch", t.branches(), "labels", strings.Join(e.Labels, ", "))...)
	}
	return append(fields, quote("description", description)...)
}

func (f *from) text() string {
	if f == nil {
		return ""
	}
	return f.From
}

func (c *changes) names() string {
	var out []string
	for _, n := range []struct {
		name string
		at   *from
	}{{"title", c.Title}, {"description", c.Body}, {"base", c.Base}} {
		if n.at != nil {
			out = append(out, n.name)
		}
	}
	return strings.Join(out, ", ")
}

func (t *thread) state() string {
	switch {
	case t.Merged:
		return "merged"
	case t.Draft && t.State == "open":
		return "open, draft"
	}
	return t.State
}

func (t *thread) branches() string {
	if t.Head == nil || t.Base == nil || t.Head.Ref == "" || t.Base.Ref == "" {
		return ""
	}
	return t.Head.Ref + " into " + t.Base.Ref
}

func checkFields(e *Event, c *check) []Field {
	name := c.Name
	if name == "" {
		name = c.App.Name
	}
	if e.Name == "check_suite" && name != "" {
		name += " (all its checks)"
	}
	title := c.Output.Title
	if title == "" {
		title = c.DisplayTitle
	}
	attempt := ""
	if c.Attempt > 1 {
		attempt = count(c.Attempt)
	}
	branch := c.HeadBranch
	if branch == "" {
		branch = c.Suite.HeadBranch
	}
	return quote("check", name, "conclusion", strings.ReplaceAll(c.Conclusion, "_", " "), "title", title, "attempt", attempt,
		"commit", c.HeadSHA, "branch", branch, "details", webAddress(c.DetailsURL), "summary", c.Output.Summary)
}
