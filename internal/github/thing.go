package github

import (
	"context"
	"net/http"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// thing is what a node says about itself and about whom it concerns.
func (n *node) thing(host string) event.Thing {
	t := event.Thing{Ref: n.ref(host), NodeID: n.ID, Title: n.Title, State: n.State, Head: n.head(host)}
	if n.pull() {
		t.Refs, t.Doubts = n.route(host)
	}
	for _, p := range n.ClosedBy.all() {
		if p.Repo != nil && p.Number > 0 && p.pull() {
			t.Pulls = append(t.Pulls, event.Linked{Thing: p.thing(host), Source: work.FromReference, Created: p.CreatedAt})
		}
	}
	return t
}

// route names whom a pull request concerns, and what could have named somebody
// and is not believed.
func (n *node) route(host string) ([]event.Named, []event.Doubt) {
	ref := n.ref(host)
	branch, doubts := n.Branch, []event.Doubt(nil)
	why := ""
	switch {
	case n.Fork:
		why = "it is a fork's branch: anybody names those"
	case n.Branch == n.defaultBranch():
		why = "it is the default branch"
	}
	if why != "" {
		for _, named := range event.Route(ref, nil, branch, "") {
			if !named.Ref.Same(ref) {
				doubts = append(doubts, event.Doubt{What: "branch " + branch + " names " + named.Ref.Short(), Why: why})
			}
		}
		branch = ""
	}
	refs := event.Route(ref, n.references(host), branch, n.Body)
	for _, named := range refs {
		if len(named.Sources) == 1 && named.Sources[0] == work.FromKeyword && n.Closing != nil && strings.EqualFold(n.Base, n.defaultBranch()) {
			doubts = append(doubts, event.Doubt{What: "GitHub does not list " + named.Ref.Short() + " among what it closes", Why: "the description says so, and that is believed"})
		}
	}
	return refs, doubts
}

// Look reads one issue or pull request by its name, as far as why tells of it.
func (c *Client) Look(ctx context.Context, ref work.Ref) (event.Thing, error) {
	a, err := c.ask(ctx, lookQuery, map[string]any{"owner": ref.Owner, "name": ref.Repo, "number": ref.Number})
	if err != nil {
		return event.Thing{}, err
	}
	t := thing{ref: ref}
	(&round{Client: c}).fillNamed(a, "repository", &t)
	switch {
	case t.hidden:
		return event.Thing{}, &AnswerError{c.name, http.StatusOK, "it shows no issue or pull request " + ref.Short() + " to " + c.viewer, false}
	case t.print == nil:
		return event.Thing{}, &AnswerError{c.name, http.StatusOK, "there is nothing about " + ref.Short() + " in it", true}
	}
	return t.print.thing(c.host), nil
}
