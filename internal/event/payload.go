package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// payload is what we read of a webhook body. A member of the wrong type is as
// if it were absent: encoding/json leaves it empty and reads on.
type payload struct {
	Action      string      `json:"action"`
	Number      int64       `json:"number"`
	Issue       *thread     `json:"issue"`
	PullRequest *thread     `json:"pull_request"`
	Comment     *words      `json:"comment"`
	Review      *words      `json:"review"`
	Talk        *talk       `json:"thread"`
	CheckRun    *check      `json:"check_run"`
	CheckSuite  *check      `json:"check_suite"`
	WorkflowRun *check      `json:"workflow_run"`
	Repository  *repository `json:"repository"`
	Sender      *user       `json:"sender"`
	References  []string    `json:"gh_loop_references"` // see ReferencesMember

	Label     named   `json:"label"`
	Assignee  user    `json:"assignee"`
	Milestone named   `json:"milestone"`
	Reviewer  user    `json:"requested_reviewer"`
	Team      named   `json:"requested_team"`
	Changes   changes `json:"changes"`
	Before    string  `json:"before"`
	After     string  `json:"after"`

	// What tells events apart, and is not read otherwise.
	Deployment  present `json:"deployment"`
	Reviewers   present `json:"reviewers"`
	Approver    present `json:"approver"`
	WorkflowJob present `json:"workflow_job"`
	Zen         present `json:"zen"`
	Pusher      present `json:"pusher"`
	Context     present `json:"context"`
	SHA         present `json:"sha"`
}

// thread is an issue or a pull request.
type thread struct {
	Number      int64   `json:"number"`
	Title       string  `json:"title"`
	Body        string  `json:"body"`
	State       string  `json:"state"`
	HTMLURL     string  `json:"html_url"`
	UpdatedAt   string  `json:"updated_at"`
	ClosedAt    string  `json:"closed_at"`
	User        *user   `json:"user"`
	Association string  `json:"author_association"`
	Labels      []named `json:"labels"`
	PullRequest present `json:"pull_request"`
	Merged      bool    `json:"merged"`
	Draft       bool    `json:"draft"`
	MayPush     *bool   `json:"maintainer_can_modify"` // only a pull request that is told whole says so
	Head        *side   `json:"head"`
	Base        *side   `json:"base"`
}

// side is a pull request's head or base. Repo stays raw: null says that the
// fork is gone, and absent says nothing.
type side struct {
	Ref  string          `json:"ref"`
	SHA  string          `json:"sha"`
	Repo json.RawMessage `json:"repo"`
}

// words is a comment or a review.
type words struct {
	ID           int64  `json:"id"`
	Body         string `json:"body"`
	State        string `json:"state"`
	HTMLURL      string `json:"html_url"`
	UpdatedAt    string `json:"updated_at"`
	SubmittedAt  string `json:"submitted_at"`
	User         *user  `json:"user"`
	Association  string `json:"author_association"`
	Path         string `json:"path"`
	Line         int64  `json:"line"`
	StartLine    int64  `json:"start_line"`
	OriginalLine int64  `json:"original_line"`
	DiffHunk     string `json:"diff_hunk"`
}

type talk struct {
	NodeID   string  `json:"node_id"`
	Comments []words `json:"comments"`
}

// check is a check run, a check suite or a workflow run.
type check struct {
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	DisplayTitle string      `json:"display_title"`
	Conclusion   string      `json:"conclusion"`
	HTMLURL      string      `json:"html_url"`
	DetailsURL   string      `json:"details_url"`
	HeadSHA      string      `json:"head_sha"`
	HeadBranch   string      `json:"head_branch"`
	HeadRepo     *repository `json:"head_repository"`
	UpdatedAt    string      `json:"updated_at"`
	Attempt      int64       `json:"run_attempt"`
	PullRequests []thread    `json:"pull_requests"`
	App          named       `json:"app"`
	Suite        struct {
		HeadBranch string `json:"head_branch"`
	} `json:"check_suite"`
	Output struct {
		Title   string `json:"title"`
		Summary string `json:"summary"`
	} `json:"output"`
}

type repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	HTMLURL       string `json:"html_url"`
	URL           string `json:"url"`
	DefaultBranch string `json:"default_branch"`
}

type user struct {
	Login string `json:"login"`
}

// named is a label or a team, which have a name, or a milestone, which has a title.
type named struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type changes struct {
	Title         *from      `json:"title"`
	Body          *from      `json:"body"`
	Base          *from      `json:"base"`
	NewIssue      thread     `json:"new_issue"`
	NewRepository repository `json:"new_repository"`
}

type from struct {
	From string `json:"from"`
}

// present says that a member is there and not null.
type present bool

// UnmarshalJSON looks at the first byte only: JSON's other values do not begin with n.
func (p *present) UnmarshalJSON(b []byte) error {
	*p = b[0] != 'n'
	return nil
}

const cure = "hand over one webhook body as GitHub sends it, with content type application/json"

func parse(body []byte) (*payload, error) {
	text := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("the webhook body is empty: %s", cure)
	case text[0] != '{':
		start := Line(string(text[:min(len(text), 64)]), 12)
		return nil, fmt.Errorf("the webhook body is no JSON object: byte %d begins %q: %s", len(body)-len(text), start, cure)
	}
	p := &payload{}
	err := json.Unmarshal(body, p)
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("the webhook body is not JSON at byte %d of %d: %w: %s", syntax.Offset, len(body), err, cure)
	case err != nil && !errors.As(err, &wrongType):
		return nil, fmt.Errorf("the webhook body cannot be read: %w: %s", err, cure)
	}
	return p, nil
}

// Infer tells the event's name from the body's keys; "" if it is none that we
// know. gh webhook forward prints bodies without it.
func Infer(body []byte) (string, error) {
	p, err := parse(body)
	if err != nil {
		return "", err
	}
	return p.infer(), nil
}

// infer leaves out first what carries the keys of other events as well.
func (p *payload) infer() string {
	switch {
	case bool(p.Deployment || p.Reviewers || p.Approver || p.WorkflowJob):
		return ""
	case bool(p.Zen):
		return "ping"
	case bool(p.Pusher):
		return "push"
	case bool(p.Context && p.SHA):
		return "status"
	case p.Comment != nil && p.Issue != nil:
		return "issue_comment"
	case p.Comment != nil && p.PullRequest != nil:
		return "pull_request_review_comment"
	case p.Review != nil && p.PullRequest != nil:
		return "pull_request_review"
	case p.Talk != nil && p.PullRequest != nil:
		return "pull_request_review_thread"
	case p.CheckRun != nil:
		return "check_run"
	case p.CheckSuite != nil:
		return "check_suite"
	case p.WorkflowRun != nil:
		return "workflow_run"
	case p.PullRequest != nil:
		return "pull_request"
	case p.Issue != nil:
		return "issues"
	}
	return ""
}
