package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// body builds a webhook body as GitHub sends it, from a kind and flags.
type body struct {
	kind                                                     string
	issue, pr, id                                            int64
	repo, text, about, by, assoc, action, branch, sha, title string
	head, label, state, author, conclusion, path, at         string
	merged, escapes                                          bool
	out                                                      string
}

// newBody reads "KIND [FLAGS]". id is the comment's or check's unless a flag
// names another.
func newBody(args []string, id int64) (*body, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("a body needs a kind: comment, review, inline, pr, issue or check")
	}
	b := &body{kind: args[0]}
	f := flag.NewFlagSet(b.kind, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Int64Var(&b.issue, "issue", 0, "number of the issue")
	f.Int64Var(&b.pr, "pr", 0, "number of the pull request")
	f.Int64Var(&b.id, "id", id, "id of the comment, review or check")
	f.StringVar(&b.repo, "repo", "octo/repo", "[host/]owner/repo")
	f.StringVar(&b.text, "text", "", "what the comment or review says")
	f.StringVar(&b.about, "body", "", "description of the issue or pull request")
	f.StringVar(&b.by, "by", "octocat", "who did it; - is a deleted account")
	f.StringVar(&b.author, "author", "octocat", "who opened the issue or pull request")
	f.StringVar(&b.assoc, "assoc", "NONE", "association of who did it")
	f.StringVar(&b.action, "action", "", "the action, if not the kind's usual one")
	f.StringVar(&b.branch, "branch", "topic", "head branch")
	f.StringVar(&b.sha, "sha", "", "head commit")
	f.StringVar(&b.head, "head", "", "head repository, if it is a fork")
	f.StringVar(&b.title, "title", "A title", "title of the issue or pull request")
	f.StringVar(&b.label, "label", "", "a label that it has")
	f.StringVar(&b.state, "state", "commented", "state of the review")
	f.StringVar(&b.conclusion, "conclusion", "failure", "of the check")
	f.StringVar(&b.path, "path", "main.go", "file of an inline comment")
	f.StringVar(&b.at, "at", "2026-08-07T10:00:00Z", "when it was changed last")
	f.BoolVar(&b.merged, "merged", false, "it was merged")
	f.BoolVar(&b.escapes, "e", false, `text has escapes as Go has them`)
	f.StringVar(&b.out, "o", "body.json", "file to write")
	if err := f.Parse(args[1:]); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is one argument too many", f.Arg(0))
	}
	if b.escapes {
		text, err := strconv.Unquote(`"` + b.text + `"`)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", b.text, err)
		}
		b.text = text
	}
	return b, nil
}

type obj = map[string]any

// encode gives the body's bytes. Control characters stay as JSON escapes them.
func (b *body) encode() ([]byte, error) {
	o := obj{"action": b.act(map[string]string{"review": "submitted", "pr": "opened", "issue": "opened", "check": "completed"}[b.kind]),
		"repository": b.repository(), "sender": b.user(b.by)}
	switch b.kind {
	case "comment":
		o["issue"], o["comment"] = b.thread(), b.words()
	case "review":
		o["pull_request"], o["review"] = b.pull(), b.words()
	case "inline":
		c := b.words()
		c["path"], c["line"], c["diff_hunk"] = b.path, 12, "@@ -1 +1 @@"
		o["pull_request"], o["comment"] = b.pull(), c
	case "pr":
		o["pull_request"], o["number"] = b.pull(), b.pr
	case "issue":
		o["issue"] = b.thread()
	case "check":
		o["check_run"] = b.check()
	default:
		return nil, fmt.Errorf("no body is of kind %q", b.kind)
	}
	return json.Marshal(o)
}

func (b *body) act(usual string) string {
	switch {
	case b.action != "":
		return b.action
	case usual != "":
		return usual
	}
	return "created"
}

func (b *body) user(login string) any {
	if login == "-" {
		return nil
	}
	return obj{"login": login, "type": "User"}
}

func (b *body) web() string {
	if strings.Count(b.repo, "/") == 2 {
		return "https://" + b.repo
	}
	return "https://github.com/" + b.repo
}

func (b *body) full() string {
	parts := strings.Split(b.repo, "/")
	return strings.Join(parts[len(parts)-2:], "/")
}

func (b *body) repository() obj {
	owner, name, _ := strings.Cut(b.full(), "/")
	return obj{"id": 1, "full_name": b.full(), "html_url": b.web(), "name": name, "owner": obj{"login": owner}, "default_branch": "main"}
}

func (b *body) open() string {
	if b.act("") == "closed" {
		return "closed"
	}
	return "open"
}

func (b *body) labels() []obj {
	if b.label == "" {
		return []obj{}
	}
	return []obj{{"name": b.label}}
}

// thread is an issue, or a pull request as comments on it carry it.
func (b *body) thread() obj {
	n, kind := b.issue, "issues"
	if b.pr > 0 {
		n, kind = b.pr, "pull"
	}
	t := obj{"number": n, "title": b.title, "body": b.about, "state": b.open(), "user": b.user(b.author), "labels": b.labels(),
		"html_url": fmt.Sprintf("%s/%s/%d", b.web(), kind, n), "updated_at": b.at, "author_association": b.assoc}
	if b.open() == "closed" {
		t["closed_at"] = b.at
	}
	if b.pr > 0 {
		t["pull_request"] = obj{"html_url": t["html_url"]}
	}
	return t
}

func (b *body) pull() obj {
	t := b.thread()
	delete(t, "pull_request")
	own := obj{"id": 1, "full_name": b.full(), "html_url": b.web()}
	from := own
	if b.head != "" {
		from = obj{"id": 2, "full_name": b.head, "html_url": "https://github.com/" + b.head}
	}
	t["merged"], t["draft"] = b.merged, false
	t["head"], t["base"] = obj{"ref": b.branch, "sha": b.sha, "repo": from}, obj{"ref": "main", "repo": own}
	return t
}

func (b *body) words() obj {
	return obj{"id": b.id, "node_id": fmt.Sprintf("IC_%d", b.id), "body": b.text, "user": b.user(b.by), "author_association": b.assoc,
		"created_at": b.at, "updated_at": b.at, "submitted_at": b.at, "state": b.state, "html_url": fmt.Sprintf("%s/issues/1#issuecomment-%d", b.web(), b.id)}
}

// check is a failed check run, of a pull request if one is named.
func (b *body) check() obj {
	pulls := []obj{}
	if b.pr > 0 {
		pulls = append(pulls, obj{"number": b.pr, "head": obj{"ref": b.branch, "sha": b.sha}, "base": obj{"ref": "main"}})
	}
	return obj{"id": b.id, "name": b.title, "status": "completed", "conclusion": b.conclusion, "head_sha": b.sha,
		"html_url": fmt.Sprintf("%s/runs/%d", b.web(), b.id), "pull_requests": pulls, "check_suite": obj{"head_branch": b.branch},
		"output": obj{"title": b.text}}
}
