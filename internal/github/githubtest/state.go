package githubtest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// state is what GitHub has.
type state struct {
	now    time.Time
	things []*thing
	ids    int64
	login  string
	lacks  []string // fields that this GitHub does not have
}

// thing is an issue or a pull request.
type thing struct {
	repo, id, title, body, state, by, assoc string
	number                                  int
	pull, draft, hidden, mayPush            bool
	created, updated, closed                time.Time
	branch, sha, base, fork                 string
	labels                                  []string
	comments, reviews                       []*words
	timeline                                []change
	runs                                    []*check
	closes                                  []*thing
	broken                                  string // a field that is not answered
	endless                                 bool   // there is always one more page of comments
}

type words struct {
	id                                   int64
	editor, by, assoc, text, state, path string
	line                                 int
	created, updated, edited             time.Time
	comments                             []*words
}

type change struct {
	kind, by, label, sha string
	at                   time.Time
}

type check struct {
	id, suite                     int64
	sha, name, status, conclusion string
	at                            time.Time
}

// step lets a little time pass, so that things happen one after the other.
func (s *state) step() time.Time {
	s.now = s.now.Add(10 * time.Second)
	return s.now
}

func (s *state) id() int64 {
	s.ids++
	return s.ids
}

func (s *state) find(repo string, number int) *thing {
	for _, t := range s.things {
		if t.number == number && strings.EqualFold(t.repo, repo) {
			return t
		}
	}
	return nil
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func login(name string) any {
	if name == "" || name == "null" {
		return object(nil)
	}
	return object{"__typename": "User", "login": name}
}

// root is what queries begin with.
func (s *state) root(rate object) object {
	o := object{
		"__typename": "Query",
		"viewer":     object{"__typename": "User", "login": s.login},
		"rateLimit":  rate,
		"node":       resolver(func(a object) (any, error) { return s.byID(a["id"]), nil }),
		"nodes": resolver(func(a object) (any, error) {
			out := []any{}
			ids, _ := a["ids"].([]any)
			if len(ids) > 100 {
				return nil, &fault{Type: "ARGUMENT_LIMIT", Message: "You may not provide more than 100 node ids"}
			}
			for _, id := range ids {
				out = append(out, s.byID(id))
			}
			return out, nil
		}),
		"repository": resolver(func(a object) (any, error) {
			name := fmt.Sprint(a["owner"], "/", a["name"])
			if !slices.ContainsFunc(s.things, func(t *thing) bool { return strings.EqualFold(t.repo, name) && !t.hidden }) {
				return nil, &fault{Type: "NOT_FOUND", Message: "Could not resolve to a Repository with the name '" + name + "'."}
			}
			return s.repository(name), nil
		}),
	}
	return o
}

func (s *state) byID(id any) any {
	for _, t := range s.things {
		if t.id == id && !t.hidden {
			return s.object(t)
		}
	}
	return &fault{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a node with the global id of '%v'", id)}
}

func (s *state) repository(name string) object {
	o := object{
		"__typename": "Repository", "nameWithOwner": name, "url": "https://github.com/" + name, "defaultBranchRef": object{"__typename": "Ref", "name": "main"},
	}
	o["issueOrPullRequest"] = resolver(func(a object) (any, error) {
		n, _ := a["number"].(float64)
		if t := s.find(name, int(n)); t != nil && !t.hidden {
			return s.object(t), nil
		}
		return nil, &fault{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to an issue or pull request with the number of %v.", a["number"])}
	})
	o["pullRequests"] = resolver(func(a object) (any, error) {
		var list []any
		for _, t := range s.things {
			if t.pull && strings.EqualFold(t.repo, name) && t.branch == a["headRefName"] && t.state == "OPEN" {
				list = append(list, s.object(t))
			}
		}
		return page(list, a, false)
	})
	return o
}

// object is a thing as GraphQL shows it.
func (s *state) object(t *thing) object {
	kind, path := "Issue", "issues"
	if t.pull {
		kind, path = "PullRequest", "pull"
	}
	url := fmt.Sprintf("https://github.com/%s/%s/%d", t.repo, path, t.number)
	o := object{
		"__typename": kind, "id": t.id, "number": t.number, "url": url, "title": t.title, "body": t.body, "state": t.state,
		"createdAt": stamp(t.created), "updatedAt": stamp(t.updated), "closedAt": stamp(t.closed), "author": login(t.by), "authorAssociation": t.assoc,
		"repository": s.repository(t.repo),
	}
	o["labels"] = connection(t.labels, func(l string) object { return object{"__typename": "Label", "name": l} }, false)
	o["comments"] = connection(t.comments, func(w *words) object { return spoken(w, "IssueComment", url) }, t.endless)
	o["timelineItems"] = resolver(func(a object) (any, error) { return page(t.changes(a), a, false) })
	if t.pull {
		s.pull(o, t, url)
	} else {
		var by []*thing
		for _, p := range s.things {
			if p.pull && p.state == "OPEN" && slices.Contains(p.closes, t) {
				by = append(by, p)
			}
		}
		o["closedByPullRequestsReferences"] = connection(by, s.object, false)
	}
	for _, name := range s.lacks {
		delete(o, name)
	}
	if t.broken != "" {
		o[t.broken] = &fault{Type: "SERVICE_UNAVAILABLE", Message: "Something went wrong while executing your query."}
	}
	return o
}

func (s *state) pull(o object, t *thing, url string) {
	head := object{"__typename": "Repository", "nameWithOwner": t.repo}
	switch t.fork {
	case "":
	case "gone":
		head = nil
	default:
		head["nameWithOwner"] = t.fork
	}
	o["maintainerCanModify"], o["isDraft"], o["isCrossRepository"], o["baseRefName"], o["headRefName"], o["headRefOid"], o["headRepository"] = t.mayPush, t.draft, t.fork != "", t.base, t.branch, t.sha, head
	o["closingIssuesReferences"] = connection(t.closes, s.object, false)
	o["reviews"] = connection(t.reviews, func(w *words) object { return s.review(w, url) }, false)
	o["commits"] = resolver(func(a object) (any, error) {
		c := object{"__typename": "Commit", "oid": t.sha, "statusCheckRollup": s.rollup(t)}
		return page([]any{object{"__typename": "PullRequestCommit", "commit": c}}, a, false)
	})
}

func (s *state) rollup(t *thing) object {
	var runs []*check
	counts := map[string]int{}
	result := "SUCCESS"
	for _, c := range t.runs {
		if c.sha != t.sha {
			continue
		}
		runs = append(runs, c)
		counts[c.status+c.conclusion]++
		switch {
		case c.status != "COMPLETED" && result == "SUCCESS":
			result = "PENDING"
		case c.status == "COMPLETED" && c.conclusion != "SUCCESS" && c.conclusion != "NEUTRAL" && c.conclusion != "SKIPPED":
			result = "FAILURE"
		}
	}
	if len(runs) == 0 {
		return nil
	}
	var byState []any
	for state, n := range counts {
		byState = append(byState, object{"__typename": "CheckRunStateCount", "state": state, "count": n})
	}
	slices.SortFunc(byState, func(a, b any) int { return strings.Compare(a.(object)["state"].(string), b.(object)["state"].(string)) })
	contexts := func(a object) (any, error) {
		var list []any
		for _, c := range runs {
			list = append(list, c.object(t))
		}
		p, err := page(list, a, false)
		if o, ok := p.(object); ok && !slices.Contains(s.lacks, "checkRunCountsByState") {
			o["checkRunCountsByState"] = byState
		}
		return p, err
	}
	return object{"__typename": "StatusCheckRollup", "state": result, "contexts": resolver(contexts)}
}

func (c *check) object(t *thing) object {
	url := fmt.Sprintf("https://github.com/%s/runs/%d", t.repo, c.id)
	suite := object{"__typename": "CheckSuite", "databaseId": c.suite, "updatedAt": stamp(c.at), "conclusion": c.conclusion, "app": object{"__typename": "App", "name": "CI"}}
	return object{
		"__typename": "CheckRun", "databaseId": c.id, "name": c.name, "status": c.status, "conclusion": c.conclusion, "completedAt": stamp(c.at),
		"url": url, "detailsUrl": url, "title": c.name, "summary": "", "checkSuite": suite,
	}
}

func (s *state) review(w *words, url string) object {
	o := spoken(w, "PullRequestReview", url)
	o["state"], o["submittedAt"] = w.state, stamp(w.created)
	o["comments"] = connection(w.comments, func(c *words) object {
		o := spoken(c, "PullRequestReviewComment", url)
		o["state"], o["path"], o["line"], o["startLine"], o["originalLine"], o["diffHunk"] = "SUBMITTED", c.path, c.line, nil, c.line, "@@ -1 +1 @@"
		return o
	}, false)
	return o
}

func spoken(w *words, kind, url string) object {
	return object{
		"__typename": kind, "fullDatabaseId": strconv.FormatInt(w.id, 10), "databaseId": w.id, "body": w.text, "url": fmt.Sprintf("%s#c-%d", url, w.id),
		"createdAt": stamp(w.created), "updatedAt": stamp(w.updated), "lastEditedAt": stamp(w.edited), "editor": login(w.editor), "author": login(w.by), "authorAssociation": w.assoc,
	}
}

func (t *thing) changes(a object) []any {
	kinds, _ := a["itemTypes"].([]any)
	names := map[string]string{
		"LABELED_EVENT": "LabeledEvent", "UNLABELED_EVENT": "UnlabeledEvent", "CLOSED_EVENT": "ClosedEvent", "REOPENED_EVENT": "ReopenedEvent",
		"HEAD_REF_FORCE_PUSHED_EVENT": "HeadRefForcePushedEvent",
	}
	var out []any
	for _, c := range t.timeline {
		if slices.ContainsFunc(kinds, func(k any) bool { return names[fmt.Sprint(k)] == c.kind }) {
			o := object{"__typename": c.kind, "createdAt": stamp(c.at), "actor": login(c.by), "label": object{"__typename": "Label", "name": c.label}}
			if c.sha != "" {
				o["afterCommit"] = object{"__typename": "Commit", "oid": c.sha}
			}
			out = append(out, o)
		}
	}
	return out
}

func connection[T any](list []T, show func(T) object, endless bool) resolver {
	return func(a object) (any, error) {
		all := make([]any, len(list))
		for i, e := range list {
			all[i] = show(e)
		}
		return page(all, a, endless)
	}
}

// page cuts a connection as first, last, before and after say.
func page(all []any, a object, endless bool) (any, error) {
	from, to := 0, len(all)
	if before, ok := position(a["before"]); ok {
		to = min(before, to)
	}
	if after, ok := position(a["after"]); ok {
		from = min(after+1, to)
	}
	if n, ok := a["last"].(float64); ok {
		from = max(from, to-int(n))
	}
	if n, ok := a["first"].(float64); ok {
		to = min(to, from+int(n))
	}
	info := object{"__typename": "PageInfo", "hasPreviousPage": from > 0, "hasNextPage": to < len(all), "startCursor": nil, "endCursor": nil}
	if to > from {
		info["startCursor"], info["endCursor"] = cursor(from), cursor(to-1)
	}
	if endless {
		info["hasPreviousPage"], info["startCursor"] = true, cursor(to)
	}
	return object{"__typename": "Connection", "totalCount": len(all), "pageInfo": info, "nodes": all[from:to]}, nil
}

func cursor(i int) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:" + strconv.Itoa(i)))
}

func position(c any) (int, bool) {
	s, ok := c.(string)
	if !ok {
		return 0, false
	}
	b, err := base64.StdEncoding.DecodeString(s)
	n, nerr := strconv.Atoi(strings.TrimPrefix(string(b), "cursor:"))
	return n, err == nil && nerr == nil
}
