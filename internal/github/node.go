package github

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// node is an issue or pull request as GraphQL gives it. A part that is nil was
// not answered, and says nothing.
type node struct {
	Type        string        `json:"__typename"`
	ID          string        `json:"id"`
	Number      int64         `json:"number"`
	URL         string        `json:"url"`
	Title       string        `json:"title"`
	Body        string        `json:"body"`
	State       string        `json:"state"`
	CreatedAt   string        `json:"createdAt"`
	UpdatedAt   string        `json:"updatedAt"`
	ClosedAt    string        `json:"closedAt"`
	Author      *actor        `json:"author"`
	Association string        `json:"authorAssociation"`
	Draft       bool          `json:"isDraft"`
	Base        string        `json:"baseRefName"`
	Branch      string        `json:"headRefName"`
	SHA         string        `json:"headRefOid"`
	Fork        bool          `json:"isCrossRepository"`
	MayPush     *bool         `json:"maintainerCanModify"`
	HeadRepo    *repo         `json:"headRepository"`
	Repo        *repo         `json:"repository"`
	Labels      *page[label]  `json:"labels"`
	Comments    *page[words]  `json:"comments"`
	Reviews     *page[words]  `json:"reviews"`
	Timeline    *page[change] `json:"timelineItems"`
	Commits     *page[commit] `json:"commits"`
	Checks      *page[commit] `json:"checks"`
	Closing     *page[node]   `json:"closingIssuesReferences"`
	ClosedBy    *page[node]   `json:"closedByPullRequestsReferences"`

	Partial bool // something of it was not answered
}

type page[T any] struct {
	Total int `json:"totalCount"`
	Info  struct {
		Before bool   `json:"hasPreviousPage"`
		Start  string `json:"startCursor"`
		After  bool   `json:"hasNextPage"`
		End    string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes  []*T `json:"nodes"`
	Counts []struct {
		State string `json:"state"`
		Count int    `json:"count"`
	} `json:"checkRunCountsByState"`
}

type (
	actor struct {
		Login string `json:"login"`
	}
	label struct {
		Name string `json:"name"`
	}
	repo struct {
		Name    string `json:"nameWithOwner"`
		URL     string `json:"url"`
		Default *label `json:"defaultBranchRef"`
	}
	commit struct {
		Commit struct {
			OID    string  `json:"oid"`
			Rollup *rollup `json:"statusCheckRollup"`
		} `json:"commit"`
	}
	rollup struct {
		State    string     `json:"state"`
		Contexts *page[run] `json:"contexts"`
	}
)

// words is a comment or a review.
type words struct {
	Full        string       `json:"fullDatabaseId"`
	Short       int64        `json:"databaseId"`
	State       string       `json:"state"`
	Body        string       `json:"body"`
	URL         string       `json:"url"`
	CreatedAt   string       `json:"createdAt"`
	SubmittedAt string       `json:"submittedAt"`
	EditedAt    string       `json:"lastEditedAt"`
	UpdatedAt   string       `json:"updatedAt"`
	Author      *actor       `json:"author"`
	Editor      *actor       `json:"editor"`
	Association string       `json:"authorAssociation"`
	Path        string       `json:"path"`
	Line        int64        `json:"line"`
	StartLine   int64        `json:"startLine"`
	Original    int64        `json:"originalLine"`
	Diff        string       `json:"diffHunk"`
	Comments    *page[words] `json:"comments"`
}

// change is something of the timeline.
type change struct {
	Type      string `json:"__typename"`
	CreatedAt string `json:"createdAt"`
	Actor     *actor `json:"actor"`
	Label     label  `json:"label"`
	After     *struct {
		OID string `json:"oid"`
	} `json:"afterCommit"`
}

// run is a check run; other contexts have no type that we read.
type run struct {
	Type        string `json:"__typename"`
	ID          int64  `json:"databaseId"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	CompletedAt string `json:"completedAt"`
	URL         string `json:"url"`
	Details     string `json:"detailsUrl"`
	Title       string `json:"title"`
	Summary     string `json:"summary"`
	Suite       *struct {
		ID         int64  `json:"databaseId"`
		UpdatedAt  string `json:"updatedAt"`
		Conclusion string `json:"conclusion"`
		App        *label `json:"app"`
	} `json:"checkSuite"`
}

// readNode reads one node; nil where there is none, or none that we know.
func readNode(raw json.RawMessage) *node {
	var n *node
	err := json.Unmarshal(raw, &n) // a member of the wrong type is as if it were absent
	if n == nil || n.ID == "" || n.Number < 1 || n.Repo == nil || n.Type != "Issue" && n.Type != "PullRequest" {
		return nil
	}
	n.Partial = err != nil
	return n
}

func (n *node) pull() bool { return n.Type == "PullRequest" }

// print changes when something happened that we tell of. A thing that changed
// in this very moment has none, so that it is read once more: times have whole
// seconds.
func (n *node) print(at time.Time) string {
	updated, ok := when(n.UpdatedAt)
	if !ok || n.Partial || !at.IsZero() && !updated.Before(at.Add(-2*time.Second)) {
		return ""
	}
	parts := []string{n.UpdatedAt, n.State, n.ClosedAt, n.SHA}
	for _, p := range []*page[node]{n.Closing, n.ClosedBy} {
		if p != nil {
			parts = append(parts, strconv.Itoa(p.Total))
		}
	}
	for _, c := range n.Commits.all() {
		if r := c.Commit.Rollup; r != nil && r.Contexts != nil {
			parts = append(parts, r.State, strconv.Itoa(r.Contexts.Total))
			for _, s := range r.Contexts.Counts {
				parts = append(parts, s.State+strconv.Itoa(s.Count))
			}
		}
	}
	return strings.Join(parts, " ")
}

// all gives what is there; a nil page has nothing.
func (p *page[T]) all() []*T {
	if p == nil {
		return nil
	}
	var out []*T
	for _, n := range p.Nodes {
		if n != nil {
			out = append(out, n)
		}
	}
	return out
}

// ref is the thing's present name on a host.
func (n *node) ref(host string) work.Ref {
	r, err := work.ParseRepo(n.Repo.Name)
	if err != nil {
		return work.Ref{}
	}
	r.Host = host
	return r.Ref(n.Number)
}

// head is a pull request's head; the repository is named when it is a fork's.
func (n *node) head(host string) *work.Head {
	if !n.pull() || n.Branch == "" && n.SHA == "" {
		return nil
	}
	h := &work.Head{Branch: n.Branch, SHA: n.SHA}
	if n.Fork {
		h.Repo = event.ForkGone
		if n.HeadRepo != nil {
			if r, err := work.ParseRepo(n.HeadRepo.Name); err == nil {
				r.Host = host
				h.Repo, h.NoPush = r.String(), n.MayPush != nil && !*n.MayPush
			}
		}
	}
	return h
}

func (n *node) defaultBranch() string {
	if n.Repo.Default == nil {
		return ""
	}
	return n.Repo.Default.Name
}

// references are the issues that GitHub says the pull request closes.
func (n *node) references(host string) []work.Ref {
	var out []work.Ref
	for _, c := range n.Closing.all() {
		if c.Repo == nil || c.Number < 1 {
			continue
		}
		if ref := c.ref(host); !ref.IsZero() {
			out = append(out, ref)
		}
	}
	return out
}

// id is the number that webhooks have; 0 if there is none.
func (w *words) id() int64 {
	if n, err := strconv.ParseInt(w.Full, 10, 64); err == nil && n > 0 {
		return n
	}
	return max(w.Short, 0)
}

// number is the run's id. Those of today pass 2^31, which GraphQL's numbers
// may not; its address has it as well.
func (r *run) number() int64 {
	if r.ID > 0 {
		return r.ID
	}
	for _, mark := range []string{"/job/", "/runs/"} {
		for _, u := range []string{r.Details, r.URL} {
			if _, rest, ok := strings.Cut(u, mark); ok {
				digits, _, _ := strings.Cut(strings.SplitN(rest, "?", 2)[0], "/")
				if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

func (a *actor) login() string {
	if a == nil {
		return ""
	}
	return a.Login
}
