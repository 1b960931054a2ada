package github

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
)

// What is found by asking becomes the body that a webhook would have brought,
// member by member, so that nothing behind it knows the difference, and a
// webhook about the same thing has the same key (rule 36).

type members = map[string]any

// body finishes a body. Its delivery is made from the key, which is what the
// same thing found twice has in common.
func (n *node) body(host, name, action, fallback string, m members) event.Found {
	m["action"] = action
	m["repository"] = n.repository()
	if refs := n.references(host); len(refs) > 0 {
		m[event.ReferencesMember] = refs
	}
	b, err := json.Marshal(m)
	if err != nil { // strings, numbers and maps of them
		return event.Found{}
	}
	delivery := fallback
	if e, err := event.Read(b, name, ""); err == nil && e.Key != "" {
		delivery = e.Key
	}
	return event.Found{Name: name, Delivery: "sync:" + delivery, Body: b}
}

func (n *node) repository() members {
	return members{"full_name": n.Repo.Name, "html_url": n.Repo.URL, "default_branch": n.defaultBranch()}
}

func (a *actor) member() any {
	if a == nil {
		return nil // a deleted account
	}
	return members{"login": a.Login}
}

// thread is the issue or pull request, with what changed about it.
func (n *node) thread(changed members) members {
	state := "open"
	if n.over() {
		state = "closed"
	}
	labels := []members{}
	for _, l := range n.Labels.all() {
		labels = append(labels, members{"name": l.Name})
	}
	m := members{
		"number": n.Number, "node_id": n.ID, "title": n.Title, "body": n.Body, "state": state, "html_url": n.URL, "user": n.Author.member(),
		"author_association": n.Association, "labels": labels, "created_at": n.CreatedAt, "updated_at": n.UpdatedAt, "closed_at": nullable(n.ClosedAt),
	}
	if n.pull() {
		m["merged"], m["draft"] = n.State == "MERGED", n.Draft
		if n.MayPush != nil {
			m["maintainer_can_modify"] = *n.MayPush
		}
		m["base"] = members{"ref": n.Base, "repo": members{"full_name": n.Repo.Name}}
		head := members{"ref": n.Branch, "sha": n.SHA, "repo": nil}
		if n.HeadRepo != nil {
			head["repo"] = members{"full_name": n.HeadRepo.Name}
		} else if !n.Fork {
			head["repo"] = members{"full_name": n.Repo.Name}
		}
		m["head"] = head
	}
	maps.Copy(m, changed)
	return m
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// spoken is a comment or review.
func (n *node) spoken(host, name, action string, w *words) event.Found {
	said := members{
		"id": w.id(), "body": w.Body, "html_url": w.URL, "user": w.Author.member(), "author_association": w.Association,
		"created_at": w.CreatedAt, "updated_at": w.UpdatedAt,
	}
	m := members{"sender": w.Author.member()}
	if action == "edited" {
		m["sender"] = w.Editor.member()
	}
	switch name {
	case "issue_comment":
		issue := n.thread(nil)
		if n.pull() {
			issue["pull_request"] = members{"html_url": n.URL}
		}
		m["issue"], m["comment"] = issue, said
	case "pull_request_review":
		said["state"], said["submitted_at"] = strings.ToLower(w.State), w.SubmittedAt
		delete(said, "created_at")
		m["pull_request"], m["review"] = n.thread(nil), said
	default:
		maps.Copy(said, members{"path": w.Path, "line": w.Line, "start_line": w.StartLine, "original_line": w.Original, "diff_hunk": w.Diff})
		m["pull_request"], m["comment"] = n.thread(nil), said
	}
	return n.body(host, name, action, w.URL, m)
}

// changed is a change of the issue or pull request itself.
func (n *node) changed(host, action string, by *actor, about, more members) event.Found {
	name, member := "issues", "issue"
	if n.pull() {
		name, member = "pull_request", "pull_request"
	}
	m := members{member: n.thread(about), "sender": by.member(), "number": n.Number}
	maps.Copy(m, more)
	return n.body(host, name, action, n.URL+" "+action+" "+n.UpdatedAt, m)
}

func (n *node) labelled(host, action string, c *change) event.Found {
	return n.changed(host, action, c.Actor, members{"updated_at": c.CreatedAt}, members{"label": members{"name": c.Label.Name}})
}

func (n *node) closed(host string) event.Found {
	return n.changed(host, "closed", n.by("ClosedEvent"), nil, nil)
}

func (n *node) reopened(host string) event.Found {
	return n.changed(host, "reopened", n.by("ReopenedEvent"), members{"updated_at": n.reopenedAt()}, nil)
}

func (n *node) opened(host string) event.Found {
	return n.changed(host, "opened", n.Author, members{"updated_at": n.CreatedAt}, nil)
}

// pushed is a new head. GitHub says who pushed only of a forced push; of others
// there is no sender, and so nobody whose event it would be.
func (n *node) pushed(host, before string) event.Found {
	var by *actor
	for _, c := range n.Timeline.all() {
		if c.After != nil && c.After.OID == n.SHA {
			by = c.Actor
		}
	}
	return n.changed(host, "synchronize", by, nil, members{"before": before, "after": n.SHA})
}

// by is who did the last of such changes.
func (n *node) by(kind string) *actor {
	var last *change
	for _, c := range n.Timeline.all() {
		if c.Type == kind && (last == nil || c.CreatedAt >= last.CreatedAt) {
			last = c
		}
	}
	if last == nil {
		return nil
	}
	return last.Actor
}

// checked is a check run that ended.
func (n *node) checked(host string, r *run) event.Found {
	c := members{
		"id": r.number(), "name": r.Name, "status": "completed", "conclusion": strings.ToLower(r.Conclusion), "html_url": r.URL, "details_url": r.Details,
		"head_sha": n.SHA, "completed_at": r.CompletedAt, "output": members{"title": r.Title, "summary": r.Summary},
		"check_suite": members{"head_branch": n.Branch}, "pull_requests": n.checkedPulls(),
	}
	return n.body(host, "check_run", "completed", r.URL, members{"check_run": c})
}

// passed says that all checks passed, by the suite that ended last.
func (n *node) passed(host string, r *run) event.Found {
	app := ""
	if r.Suite.App != nil {
		app = r.Suite.App.Name
	}
	c := members{
		"id": r.Suite.ID, "status": "completed", "conclusion": "success", "head_branch": n.Branch, "head_sha": n.SHA, "updated_at": r.Suite.UpdatedAt,
		"app": members{"name": app}, "pull_requests": n.checkedPulls(),
	}
	return n.body(host, "check_suite", "completed", n.URL+" passed "+n.SHA, members{"check_suite": c})
}

// checkedPulls names the pull request, also where a webhook would not know it,
// as it does not for forks.
func (n *node) checkedPulls() []members {
	t := n.thread(nil)
	return []members{{"number": n.Number, "head": t["head"], "base": members{"ref": n.Base}}}
}
