package githubtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Do changes what GitHub has, or how it behaves, by a line of words. A REF is
// owner/repo#number, NAME=VALUE pairs follow; _ in a value is a space.
//
//	issue REF [title= body= by= assoc=]           pr REF [… head= sha= base= fork= maypush=no closes=REF,REF]
//	comment|review|inline REF [text= file= by= assoc= state= path= line=]  file holds the text as it is
//	edit ID text= [by=]                           label|unlabel REF NAME [by=]
//	close|merge|reopen REF [by=]                  push REF SHA [by=]
//	check REF NAME pending|success|failure        body REF TEXT · closes REF REF,REF
//	hide|show REF · rename REPO REPO · move REF REF
//	break REF FIELD · endless REF · lack FIELD    fail KIND [N] · clock DURATION
//
// The kinds of failures are those of Server.Fail.
func (s *Server) Do(line ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := command{Server: s, pairs: map[string]string{}}
	for i, w := range line {
		if name, value, ok := strings.Cut(w, "="); ok && i > 1 {
			c.pairs[name] = value
		} else {
			c.words = append(c.words, w)
		}
	}
	if len(c.words) < 2 {
		return fmt.Errorf("%q is no command", line)
	}
	return c.do()
}

type command struct {
	*Server
	words []string
	pairs map[string]string
}

func (c *command) do() error {
	verb, what := c.words[0], c.words[1]
	switch verb {
	case "fail":
		n, _ := strconv.Atoi(c.word(2, "1"))
		return c.fail(what, n)
	case "lack":
		c.state.lacks = append(c.state.lacks, what)
		return nil
	case "clock":
		d, err := time.ParseDuration(what)
		c.state.now = c.state.now.Add(d)
		return err
	case "rename":
		for _, t := range c.state.things {
			if t.repo == what {
				t.repo, t.updated = c.word(2, what), c.state.step()
			}
		}
		return nil
	case "edit":
		return c.edit(what)
	}
	repo, number, err := ref(what)
	if err != nil {
		return err
	}
	t := c.state.find(repo, number)
	if verb == "issue" || verb == "pr" {
		return c.create(t, repo, number, verb == "pr")
	}
	if t == nil {
		return fmt.Errorf("there is no %s", what)
	}
	return c.change(t, verb)
}

func ref(text string) (string, int, error) {
	repo, number, _ := strings.Cut(text, "#")
	n, err := strconv.Atoi(number)
	return repo, n, err
}

func (c *command) word(i int, otherwise string) string {
	if i < len(c.words) {
		return c.words[i]
	}
	return otherwise
}

func (c *command) get(name, otherwise string) string {
	if v, ok := c.pairs[name]; ok {
		return strings.ReplaceAll(v, "_", " ")
	}
	return otherwise
}

// text is a comment's, given as a word or as a file.
func (c *command) text() string {
	b, err := os.ReadFile(c.pairs["file"])
	if err != nil {
		return c.get("text", "")
	}
	return string(b)
}

func (c *command) create(t *thing, repo string, number int, pull bool) error {
	if t != nil {
		return fmt.Errorf("%s#%d is there already", repo, number)
	}
	at := c.state.step()
	prefix := map[bool]string{false: "I_", true: "PR_"}[pull]
	t = &thing{
		repo: repo, number: number, pull: pull, id: prefix + strconv.FormatInt(c.state.id(), 10), title: c.get("title", "t"), body: c.get("body", ""), state: "OPEN",
		by: c.get("by", "octocat"), assoc: c.get("assoc", "MEMBER"), created: at, updated: at,
		branch: c.get("head", "topic"), sha: c.get("sha", fmt.Sprintf("%040x", number)), base: c.get("base", "main"), fork: c.get("fork", ""), mayPush: c.get("maypush", "yes") == "yes",
	}
	c.state.things = append(c.state.things, t)
	return c.close(t, c.get("closes", ""))
}

// close sets the issues that a pull request closes.
func (c *command) close(t *thing, list string) error {
	t.closes = nil
	for _, r := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		repo, number, err := ref(r)
		if err != nil {
			return err
		}
		if i := c.state.find(repo, number); i != nil {
			t.closes = append(t.closes, i)
		}
	}
	return nil
}

func (c *command) edit(what string) error {
	id, _ := strconv.ParseInt(what, 10, 64)
	for _, t := range c.state.things {
		all := slices.Concat(t.comments, t.reviews)
		for _, r := range t.reviews {
			all = append(all, r.comments...)
		}
		for _, w := range all {
			if w.id == id {
				at := c.state.step()
				w.text, w.editor, w.edited, w.updated, t.updated = c.get("text", ""), c.get("by", w.by), at, at, at
				return nil
			}
		}
	}
	return fmt.Errorf("there are no words %s", what)
}

func (c *command) change(t *thing, verb string) error {
	at := c.state.step()
	by := c.get("by", "octocat")
	say := func(state string) *words {
		id, _ := strconv.ParseInt(c.get("id", "0"), 10, 64)
		return &words{id: cmp.Or(id, c.state.id()), by: by, assoc: c.get("assoc", "MEMBER"), text: c.text(), state: state, created: at, updated: at}
	}
	switch verb {
	case "comment":
		t.comments = append(t.comments, say(""))
	case "review":
		t.reviews = append(t.reviews, say(strings.ToUpper(c.get("state", "commented"))))
	case "inline":
		w, r := say(""), say("COMMENTED")
		w.path, r.text, r.id = c.get("path", "a.go"), "", c.state.id()
		w.line, _ = strconv.Atoi(c.get("line", "1"))
		r.comments = []*words{w}
		t.reviews = append(t.reviews, r)
	case "label", "unlabel":
		name := strings.ReplaceAll(c.word(2, ""), "_", " ")
		t.labels = slices.DeleteFunc(t.labels, func(l string) bool { return l == name })
		kind := "UnlabeledEvent"
		if verb == "label" {
			t.labels, kind = append(t.labels, name), "LabeledEvent"
		}
		t.timeline = append(t.timeline, change{kind: kind, by: by, label: name, at: at})
	case "close", "merge":
		t.state, t.closed = map[string]string{"close": "CLOSED", "merge": "MERGED"}[verb], at
		t.timeline = append(t.timeline, change{kind: "ClosedEvent", by: by, at: at})
	case "reopen":
		t.state, t.closed = "OPEN", time.Time{}
		t.timeline = append(t.timeline, change{kind: "ReopenedEvent", by: by, at: at})
	case "push":
		t.sha = c.word(2, "")
		if c.pairs["by"] != "" {
			t.timeline = append(t.timeline, change{kind: "HeadRefForcePushedEvent", by: by, sha: t.sha, at: at})
		}
	case "check":
		c.check(t, c.word(2, "build"), strings.ToUpper(c.word(3, "success")), at)
		return nil // does not change updatedAt
	case "body":
		t.body = strings.ReplaceAll(c.word(2, ""), "_", " ")
	case "closes":
		return c.close(t, c.word(2, ""))
	case "hide", "show":
		t.hidden = verb == "hide"
		return nil
	case "move":
		repo, number, err := ref(c.word(2, ""))
		t.repo, t.number = repo, number
		if err != nil {
			return err
		}
	case "break":
		t.broken = c.word(2, "")
		return nil
	case "endless":
		t.endless = true
	default:
		return fmt.Errorf("%q is no command", verb)
	}
	t.updated = at
	return nil
}

func (c *command) check(t *thing, name, result string, at time.Time) {
	i := slices.IndexFunc(t.runs, func(r *check) bool { return r.name == name && r.sha == t.sha })
	if i < 0 || t.runs[i].status == "COMPLETED" {
		t.runs = slices.DeleteFunc(t.runs, func(r *check) bool { return r.name == name && r.sha == t.sha })
		t.runs = append(t.runs, &check{id: 1<<34 + c.state.id(), suite: 1<<34 + c.state.id(), sha: t.sha, name: name})
		i = len(t.runs) - 1
	}
	r := t.runs[i]
	r.status, r.conclusion = "COMPLETED", result
	if r.at = at; result == "PENDING" {
		r.status, r.conclusion, r.at = "IN_PROGRESS", "", time.Time{}
	}
}
