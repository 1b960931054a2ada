package event

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// expected is what a body turns into: its kind, refs with sources, actor, key.
type expected struct {
	kind             Kind
	refs, actor, key string
}

// check reads the file with its name and without, and compares.
func (want expected) check(t *testing.T, file, name string) Event {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Read(body, name, "d-1")
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if got := (expected{e.Kind, written(e.Refs), e.Actor, e.Key}); got != want {
		t.Errorf("%s:\n got %+v\nwant %+v", file, got, want)
	}
	if inferred, err := Infer(body); err != nil || inferred != name && !(inferred == "" && e.Kind == Ignored) {
		t.Errorf("%s: inferred %q, %v", file, inferred, err)
	}
	return e
}

const (
	helloIssue = "Codertocat/Hello-World#1=entity"
	helloPull  = "Codertocat/Hello-World#2=entity"
	coder      = "Codertocat"
	onIssue    = "issues:codertocat/hello-world#1:"
	onPull     = "pull_request:codertocat/hello-world#2:"
)

// payloads says for every sample of GitHub's what becomes of it.
var payloads = map[string]expected{
	"check_run/completed.1.json":                                    {Check, helloPull, "", "check_run:128620228:completed"},
	"check_run/completed.with-organization.json":                    {Check, helloPull, "", "check_run:128620228:completed"},
	"check_run/created.with-organization.json":                      {Ignored, "", "", ""},
	"check_run/rerequested.json":                                    {Ignored, "", "", ""},
	"check_suite/completed.1.json":                                  {Check, "", "", "check_suite:118578147:completed:2019-05-15T15:21:14Z"},
	"check_suite/completed.with-organization.json":                  {Check, helloPull, "", "check_suite:118578147:completed:2019-05-15T15:21:14Z"},
	"check_suite/requested.with-email-with-special-characters.json": {Ignored, "", "", ""},
	"check_suite/rerequested.json":                                  {Ignored, "", "", ""},
	"deployment_status/gh-pages.json":                               {Ignored, "", "", ""},
	"deployment_status/with-installation.json":                      {Ignored, "", "", ""},
	"issue_comment/created.1.json":                                  {Words, helloIssue, coder, "issue_comment:492700400:created"},
	"issue_comment/created.with-installation.json":                  {Words, helloIssue, coder, "issue_comment:492700400:created"},
	"issue_comment/deleted.json":                                    {Ignored, "", "", ""},
	"issue_comment/edited.json":                                     {Words, helloIssue, coder, "issue_comment:492700400:edited:2019-05-15T15:20:22Z"},
	"issues/assigned.json":                                          {State, helloIssue, coder, onIssue + "assigned:2019-05-15T15:20:18Z"},
	"issues/assigned.with-organization.json":                        {State, helloIssue, coder, onIssue + "assigned:2019-05-15T15:20:18Z"},
	"issues/demilestoned.json":                                      {State, helloPull, coder, "issues:codertocat/hello-world#2:demilestoned:2019-05-15T15:20:35Z"},
	"issues/edited.json":                                            {State, helloIssue, coder, onIssue + "edited:2019-05-15T15:20:18Z"},
	"issues/labeled.json":                                           {State, helloIssue, coder, onIssue + "labeled:bug:2019-05-15T15:20:18Z"},
	"issues/locked.json":                                            {State, helloIssue, coder, onIssue + "locked:2019-05-15T15:20:27Z"},
	"issues/milestoned.json":                                        {State, helloPull, coder, "issues:codertocat/hello-world#2:milestoned:2019-05-15T15:20:35Z"},
	"issues/opened.json":                                            {State, helloIssue, coder, onIssue + "opened:2019-05-15T15:20:18Z"},
	"issues/opened.with-organization.json":                          {State, helloIssue, coder, onIssue + "opened:2019-05-15T15:20:18Z"},
	"issues/pinned.json":                                            {State, helloIssue, coder, onIssue + "pinned:2019-05-15T15:20:18Z"},
	"issues/transferred.json":                                       {State, "octo-org/octo-repo#1=entity", coder, "issues:octo-org/octo-repo#1:transferred:2019-10-25T22:46:30Z"},
	"issues/unassigned.with-organization.json":                      {State, helloIssue, coder, onIssue + "unassigned:2019-05-15T15:20:25Z"},
	"issues/unlabeled.with-organization.json":                       {State, helloIssue, coder, onIssue + "unlabeled:bug:2019-05-15T15:20:26Z"},
	"issues/unlocked.with-organization.json":                        {State, helloIssue, coder, onIssue + "unlocked:2019-05-15T15:20:28Z"},
	"ping/payload.json":                                             {Ignored, "", "", ""},
	"ping/with-organization.json":                                   {Ignored, "", "", ""},
	"pull_request/assigned.json":                                    {State, helloPull, coder, onPull + "assigned:2019-05-15T15:20:33Z"},
	"pull_request/closed.json":                                      {State, helloPull, coder, onPull + "closed:2019-05-15T15:21:18Z"},
	"pull_request/converted_to_draft.json":                          {State, helloPull, coder, onPull + "converted_to_draft:2019-05-15T15:21:18Z"},
	"pull_request/converted_to_draft.with-organization.json":        {State, helloPull, coder, onPull + "converted_to_draft:2019-05-15T15:21:18Z"},
	"pull_request/labeled.with-organization.json":                   {State, helloPull, coder, onPull + "labeled:bug:2019-05-15T15:20:35Z"},
	"pull_request/locked.with-organization.json":                    {State, helloPull, coder, onPull + "locked:2019-05-15T15:20:36Z"},
	"pull_request/opened.with-null-body.json":                       {State, helloPull, coder, onPull + "opened:2019-05-15T15:20:33Z"},
	"pull_request/ready_for_review.json":                            {State, helloPull, coder, onPull + "ready_for_review:2019-05-15T15:21:18Z"},
	"pull_request/ready_for_review.with-organization.json":          {State, helloPull, coder, onPull + "ready_for_review:2019-05-15T15:21:18Z"},
	"pull_request/reopened.with-organization.json":                  {State, helloPull, coder, onPull + "reopened:2019-05-15T15:20:33Z"},
	"pull_request/review_requested.json":                            {State, helloPull, coder, onPull + "review_requested:2019-05-15T15:20:33Z"},
	"pull_request/unassigned.json":                                  {State, helloPull, coder, onPull + "unassigned:2019-05-15T15:20:35Z"},
	"pull_request/unlabeled.json":                                   {State, helloPull, coder, onPull + "unlabeled:bug:2019-05-15T15:20:36Z"},
	"pull_request/unlocked.json":                                    {State, helloPull, coder, onPull + "unlocked:2019-05-15T15:20:37Z"},
	"pull_request_review/dismissed.json":                            {Ignored, "", "", ""},
	"pull_request_review/submitted.with-organization.json":          {Ignored, "", "", ""},
	"pull_request_review_comment/created.json":                      {Words, helloPull, coder, "pull_request_review_comment:284312630:created"},
	"pull_request_review_comment/deleted.json":                      {Ignored, "", "", ""},
	"pull_request_review_thread/resolved.json":                      {State, helloPull, coder, "pull_request_review_thread:PRRT_kwDOFd42Pc4rQOUv:resolved:2019-05-15T15:20:38Z"},
	"push/1.json":                          {Ignored, "", "", ""},
	"push/with-installation.json":          {Ignored, "", "", ""},
	"push/with-no-username-committer.json": {Ignored, "", "", ""},
	"status/payload.json":                  {Ignored, "", "", ""},
	"status/with-installation.json":        {Ignored, "", "", ""},
	"workflow_run/completed.json":          {Check, "", "", "workflow_run:289782451:1:completed"},
	"workflow_run/requested.json":          {Ignored, "", "", ""},
}

// Rules 15 to 21 on every sample of GitHub's.
func TestPayloads(t *testing.T) {
	dir := os.Getenv("GH_LOOP_PAYLOADS")
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if dir == "" || len(files) == 0 {
		t.Skip("GH_LOOP_PAYLOADS names no folder of webhook bodies")
	}
	read := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		row := name + "/" + filepath.Base(file)
		want, ok := payloads[row]
		if !ok {
			t.Errorf("%s is not in the table", row)
			continue
		}
		read[row] = true
		want.check(t, file, name)
	}
	for row := range payloads {
		if !read[row] {
			t.Errorf("%s is in the table, but not in %s", row, dir)
		}
	}
}

const (
	itsOwn  = "octo/repo#16=entity"
	theItem = "octo/repo#15=entity"
)

// Rules 16 to 21 on what the samples do not show.
func TestFixtures(t *testing.T) {
	table := map[string]expected{
		"issue_comment.on_pull_request.json":    {Words, "octo/repo#15=keyword " + itsOwn, "octocat", "issue_comment:2451:created"},
		"issue_comment.author_deleted.json":     {Words, theItem, "", "issue_comment:2452:created"},
		"issue_comment.id_over_2_31.json":       {Words, theItem, "octocat", "issue_comment:4294967301:edited:2026-08-07T10:00:00Z"},
		"issue_comment.by_bot.json":             {Words, theItem, "renovate", "issue_comment:2453:created"},
		"issue_comment.odd_shapes.json":         {Words, theItem, "octocat", "issue_comment:2454:created"},
		"issue_comment.no_repository.json":      {Words, "", "octocat", "issue_comment:2455:created"},
		"issue_comment.other_host.json":         {Words, "ghe.example.com/Octo/Lib#4=keyword ghe.example.com/octo/repo#16=entity", "octocat", "issue_comment:2456:created"},
		"pull_request.merged.json":              {State, "octo/repo#15=keyword " + itsOwn, "octocat", "pull_request:octo/repo#16:closed:2026-08-07T11:00:00Z"},
		"pull_request.fork_gone.json":           {State, "octo/repo#18=keyword octo/repo#17=entity", "stranger", "pull_request:octo/repo#17:opened:2026-08-07T10:00:00Z"},
		"pull_request.from_fork.json":           {State, "octo/repo#17=entity", "stranger", "pull_request:octo/repo#17:opened:2026-08-07T10:00:00Z"},
		"pull_request.branch_and_keyword.json":  {State, "octo/repo#15=branch+keyword octo/repo#20=keyword other/lib#3=keyword " + itsOwn, "octocat", "pull_request:octo/repo#16:synchronize:c0ffee0000000000000000000000000000000000"},
		"pull_request_review.approved.json":     {Words, itsOwn, "octocat", "pull_request_review:88:submitted"},
		"pull_request_review.reply_only.json":   {Ignored, "", "", ""},
		"check_run.fork.json":                   {Check, "", "", "check_run:5000000001:completed"},
		"workflow_run.fork_default_branch.json": {Check, "", "", "workflow_run:31:2:completed"},
	}
	dir := filepath.Join("..", "..", "testdata", "github")
	got := map[string]Event{}
	for file, want := range table {
		name, _, _ := strings.Cut(file, ".")
		got[file] = want.check(t, filepath.Join(dir, file), name)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, f := range files {
		if _, ok := table[filepath.Base(f)]; !ok {
			t.Errorf("%s is not in the table", f)
		}
	}
	heads := map[string]work.Head{
		"check_run.fork.json":                   {SHA: strings.Repeat("f", 40)},
		"workflow_run.fork_default_branch.json": {SHA: strings.Repeat("f", 40), Branch: "main", Repo: "stranger/repo"},
		"pull_request.from_fork.json":           {SHA: "c0ffee" + strings.Repeat("0", 34), Branch: "issue-15", Repo: "stranger/repo"},
		"pull_request.fork_gone.json":           {SHA: "c0ffee" + strings.Repeat("0", 34), Branch: "issue-15", Repo: ForkGone},
		"pull_request.merged.json":              {SHA: "c0ffee" + strings.Repeat("0", 34), Branch: "topic"},
	}
	for file, want := range heads {
		if h := got[file].Head; h == nil || *h != want {
			t.Errorf("rule 16: %s: head %+v, want %+v", file, h, want)
		}
	}
	if e := got["pull_request.merged.json"]; !e.Closes || !e.Merged || e.Reopens || e.PullRequest.Short() != "octo/repo#16" {
		t.Errorf("rule 41: a merged pull request is %+v", e)
	}
	if e := got["issue_comment.on_pull_request.json"]; e.PullRequest != e.Subject || e.Association != "MEMBER" || e.Body != "please rerun CI" || e.Delivery != "d-1" {
		t.Errorf("rule 16: a comment on a pull request is %+v", e)
	}
	if e := got["issue_comment.other_host.json"]; e.Repo.Host != "ghe.example.com" {
		t.Errorf("rule 3: host %q", e.Repo.Host)
	}
}

// edit reads a fixture, changes it by replacing text, and reads the result.
func edit(t *testing.T, file, name string, oldnew ...string) Event {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "testdata", "github", file))
	if err != nil {
		t.Fatal(err)
	}
	var small strings.Builder
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&small).Encode(v); err != nil {
		t.Fatal(err)
	}
	text := small.String()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			t.Fatalf("%s has no %q", file, oldnew[i])
		}
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	e, err := Read([]byte(text), name, "")
	if err != nil {
		t.Fatalf("%s with %q: %v", file, oldnew, err)
	}
	return e
}

// What is missing or of another type costs only itself.
func TestLenient(t *testing.T) {
	const comment, pull = "issue_comment.on_pull_request.json", "pull_request.branch_and_keyword.json"
	both := "octo/repo#15=keyword octo/repo#16=entity"
	all := "octo/repo#15=branch+keyword octo/repo#20=keyword other/lib#3=keyword octo/repo#16=entity"
	for _, c := range []struct {
		file, old, new string
		refs           string
	}{
		{comment, `"number":16`, `"number":"16"`, both},
		{comment, `"number":16`, `"number":1.5`, both},
		{comment, `"number":16`, `"number":4294967301`, "octo/repo#15=keyword octo/repo#4294967301=entity"},
		{comment, `"number":16`, `"number":99999999999999999999`, both},
		{comment, `"user":{`, `"user":[],"x":{`, both},
		{comment, `"labels":[`, `"labels":null,"x":[`, both},
		{comment, `"repository":{`, `"repository":7,"x":{`, ""},
		{comment, `"html_url":"https://github.com/octo/repo",`, ``, both},
		{comment, `"html_url":"https://github.com/octo/repo",`, `"html_url":"javascript:x",`, both},
		{comment, `"html_url":"https://github.com/octo/repo",`, `"html_url":"https://GITHUB.com/Octo/Repo",`, "Octo/Repo#15=keyword Octo/Repo#16=entity"},
		{comment, `"pull_request":{`, `"pull_request":null,"x":{`, "octo/repo#16=entity"},
		{pull, `"head":{`, `"head":null,"x":{`, "octo/repo#20=keyword octo/REPO#15=keyword other/lib#3=keyword octo/repo#16=entity"},
		{pull, `"base":{`, `"base":"main","x":{`, all},
		{pull, `"default_branch":"main"`, `"default_branch":"fix/issue-15-flaky"`, "octo/repo#20=keyword octo/REPO#15=keyword other/lib#3=keyword octo/repo#16=entity"},
		{pull, `"number":16`, `"number":null`, all},
		{pull, `"merged":false`, `"merged":"false"`, all},
	} {
		name, _, _ := strings.Cut(c.file, ".")
		if got := written(edit(t, c.file, name, c.old, c.new).Refs); got != c.refs {
			t.Errorf("%s with %s: %s, want %s", c.file, c.new, got, c.refs)
		}
	}
	// Bodies cut down by hand have no head.repo: that says nothing of a fork.
	if e := read(t, `{"action":"closed","number":16,"pull_request":{"number":16,"merged":true,"head":{"ref":"issue-15","sha":"0"},"base":{"ref":"main"}},"repository":{"full_name":"octo/repo"}}`, "pull_request"); written(e.Refs) != "octo/repo#15=branch octo/repo#16=entity" || e.Key != "" || !e.Merged {
		t.Errorf("a short body gives %+v", e)
	}
}

func read(t *testing.T, body, name string) Event {
	t.Helper()
	e, err := Read([]byte(body), name, "")
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return e
}

// Rule 16: where an event's pull request stands.
func TestPullRequestOf(t *testing.T) {
	const repo = `,"repository":{"id":1,"full_name":"octo/repo","html_url":"https://github.com/octo/repo","default_branch":"main"}}`
	entry := func(n, base string) string {
		return `{"number":` + n + `,"head":{"ref":"issue-15","sha":"abc","repo":{"id":` + base + `}},"base":{"repo":{"id":` + base + `,"url":"https://api.github.com/repos/up/stream"}}}`
	}
	for _, c := range []struct{ name, body, refs, head string }{
		{"issue_comment", `{"action":"created","comment":{"id":1},"pull_request":{"number":16,"body":"fixes #15"}` + repo, "octo/repo#15=keyword octo/repo#16=entity", ""},
		{"issue_comment", `{"action":"created","comment":{"id":1},"issue":{"number":16},"pull_request":{"number":16,"body":"fixes #15"}` + repo, "octo/repo#15=keyword octo/repo#16=entity", ""},
		{"issues", `{"action":"labeled","issue":{"number":16,"body":"fixes #15","pull_request":{}}` + repo, "octo/repo#15=keyword octo/repo#16=entity", ""},
		{"issues", `{"action":"opened","issue":{"number":15,"body":"fixes #14"}` + repo, "octo/repo#15=entity", ""},
		{"issues", `{"action":"opened","pull_request":{"number":15}` + repo, "", ""},
		{"check_run", `{"action":"completed","check_run":{"pull_requests":[` + entry("16", "1") + `]}` + repo, "octo/repo#15=branch octo/repo#16=entity", "issue-15 abc"},
		{"check_run", `{"action":"completed","check_run":{"pull_requests":[` + entry("16", "2") + `]}` + repo, "up/stream#15=branch up/stream#16=entity", "issue-15 abc"},
		{"check_suite", `{"action":"completed","check_suite":{"head_sha":"def","head_branch":"topic","pull_requests":[` + entry("16", "1") + "," + entry("17", "1") + `]}` + repo, "", "topic def"},
		{"check_suite", `{"action":"completed","check_suite":{"head_sha":"def","head_branch":"main","pull_requests":[null]}` + repo, "", " def"},
		{"workflow_run", `{"action":"completed","workflow_run":{"pull_requests":{}}` + repo, "", ""},
		{"check_run", `{"action":"completed","check_run":null` + repo, "", ""},
		{"pull_request_review_comment", `{"action":"created","comment":{},"pull_request":null` + repo, "", ""},
	} {
		e := read(t, c.body, c.name)
		head := ""
		if e.Head != nil {
			head = e.Head.Branch + " " + e.Head.SHA
		}
		if got := written(e.Refs); got != c.refs || head != c.head || (e.Kind == Check) != (e.Name[0] == 'c' || e.Name[0] == 'w') {
			t.Errorf("rule 16: %s %s gives %s with head %q, want %s with %q", c.name, c.body, got, head, c.refs, c.head)
		}
	}
}

// Rule 20: only what says something concerns a conversation.
func TestKinds(t *testing.T) {
	const rest = `"issue":{"number":15},"comment":{"id":1},"review":{"id":2,"state":"commented","body":" \n"},"pull_request":{"number":16},"repository":{"full_name":"octo/repo"}}`
	for _, c := range []struct {
		name, action string
		want         Kind
	}{
		{"issue_comment", "created", Words}, {"issue_comment", "edited", Words}, {"issue_comment", "deleted", Ignored}, {"issue_comment", "", Ignored}, {"issue_comment", "Created", Ignored},
		{"pull_request_review_comment", "created", Words}, {"pull_request_review_comment", "deleted", Ignored},
		{"pull_request_review", "submitted", Ignored}, {"pull_request_review", "dismissed", Ignored},
		{"issues", "deleted", State}, {"issues", "transferred", State}, {"issues", "unheard_of", State}, {"pull_request", "synchronize", State}, {"pull_request_review_thread", "resolved", State},
		{"check_run", "requested_action", Ignored}, {"check_run", "completed", Check}, {"check_suite", "requested", Ignored}, {"workflow_run", "in_progress", Ignored},
		{"push", "", Ignored}, {"status", "", Ignored}, {"deployment_status", "created", Ignored}, {"no such event", "created", Ignored}, {"pull_request_target", "opened", Ignored}, {"commit_comment", "created", Ignored},
	} {
		e := read(t, `{"action":"`+c.action+`",`+rest, c.name)
		if e.Kind != c.want || e.Closes || (e.Kind == Ignored && (len(e.Refs) > 0 || e.Key != "")) {
			t.Errorf("rule 20: %s %q is %+v, want %s", c.name, c.action, e, c.want)
		}
	}
	for _, name := range []string{"issues", "pull_request"} {
		if e := read(t, `{"action":"closed",`+rest, name); !e.Closes || e.Reopens {
			t.Errorf("rule 41: %s closed is %+v", name, e)
		}
		if e := read(t, `{"action":"reopened",`+rest, name); e.Closes || !e.Reopens {
			t.Errorf("rule 42: %s reopened is %+v", name, e)
		}
	}
}

// Rule 21: who speaks, and as what.
func TestActors(t *testing.T) {
	for in, want := range map[string]string{
		"octocat": "octocat", "Octo-Cat_corp": "Octo-Cat_corp", "renovate[bot]": "renovate", "app/renovate": "renovate", "": "", " ": "", "[bot]": "", "app/": "", "a b": "", "a\nb": "", "é": "", "a[bot]b": "", "@octocat": "",
	} {
		if got := Login(in); got != want {
			t.Errorf("rule 21: login %q is %q, want %q", in, got, want)
		}
	}
	const rest = `,"repository":{"full_name":"octo/repo"},"sender":{"login":"sender"}}`
	subject := `{"number":15,"user":{"login":"Author"},"author_association":"member"}`
	words := `{"id":1,"state":"approved","user":{"login":"speaker"},"author_association":"NONE"}`
	for _, c := range []struct{ name, body, actor, association string }{
		{"issue_comment", `{"action":"created","issue":` + subject + `,"comment":` + words + rest, "speaker", "NONE"},
		{"pull_request_review", `{"action":"submitted","pull_request":` + subject + `,"review":` + words + rest, "speaker", "NONE"},
		{"pull_request_review_comment", `{"action":"created","pull_request":` + subject + `,"comment":` + words + rest, "speaker", "NONE"},
		{"issue_comment", `{"action":"created","issue":` + subject + `,"comment":{"user":null}` + rest, "", ""},
		{"issues", `{"action":"opened","issue":` + subject + rest, "sender", ""},
		{"pull_request", `{"action":"opened","pull_request":` + subject + strings.Replace(rest, `"sender"}`, `"AUTHOR"}`, 1), "AUTHOR", "MEMBER"},
		{"issues", `{"action":"opened","issue":` + subject + `,"sender":null}`, "", ""},
		{"check_run", `{"action":"completed","check_run":{"id":1}` + rest, "", ""},
	} {
		if e := read(t, c.body, c.name); e.Actor != c.actor || e.Association != c.association {
			t.Errorf("rule 21: %s: %q as %q, want %q as %q", c.body, e.Actor, e.Association, c.actor, c.association)
		}
	}
}

// Rule 36: one key for every way in, and none where it would tell nothing apart.
func TestKeys(t *testing.T) {
	ref := work.Ref{Host: "GHE.example.com", Owner: "Octo", Repo: "Repo", Number: 16}
	for _, c := range [][2]string{
		{WordsKey("issue_comment", 5000000000, "created", "t"), "issue_comment:5000000000:created"},
		{WordsKey("issue_comment", 5, "edited", "t"), "issue_comment:5:edited:t"},
		{WordsKey("issue_comment", 5, "edited", ""), ""},
		{WordsKey("pull_request_review", 0, "submitted", "t"), ""},
		{StateKey("pull_request", ref, "closed", "t"), "pull_request:ghe.example.com/octo/repo#16:closed:t"},
		{StateKey("pull_request", ref, "closed", ""), ""},
		{CheckKey("check_run", 7, "ignored"), "check_run:7:completed"},
		{CheckKey("check_suite", 7, "t"), "check_suite:7:completed:t"},
		{CheckKey("check_suite", 7, ""), ""},
		{CheckKey("workflow_run", 7, "2"), "workflow_run:7:2:completed"},
	} {
		if c[0] != c[1] {
			t.Errorf("rule 36: key %q, want %q", c[0], c[1])
		}
	}
}

// A body that is none says what is wrong, where, and what to hand over instead.
func TestNoBody(t *testing.T) {
	for body, want := range map[string]string{
		"":                             "is empty",
		" \r\n\t":                      "is empty",
		"payload=%7B%22action%22%7D":   `byte 0 begins "payload=%7B…"`,
		"  [1]":                        `byte 2 begins "[1]"`,
		"null":                         `byte 0 begins "null"`,
		"\x1b]0;\x07{}":                `byte 0 begins "]0;{}"`,
		`{"action":"created"`:          "not JSON at byte 19 of 19",
		`{"action":created}`:           "not JSON at byte 11 of 18",
		`{} {}`:                        "not JSON at byte 4 of 5",
		strings.Repeat(`{"a":`, 20000): "not JSON at byte",
	} {
		for _, read := range []func() error{
			func() error { _, err := Read([]byte(body), "issues", ""); return err },
			func() error { _, err := Infer([]byte(body)); return err },
		} {
			err := read()
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), cure) {
				t.Errorf("%.40q: %v, want %s", body, err, want)
			}
		}
	}
	var syntax *json.SyntaxError
	if _, err := Read([]byte("{"), "", ""); !errors.As(err, &syntax) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// gh webhook forward prints bodies without their event's name.
func TestInfer(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "", `{"issue":null}`: "", `{"action":"created","discussion":{},"comment":{}}`: "", `{"comment":{"commit_id":"x"}}`: "",
		`{"zen":"x","hook":{}}`: "ping", `{"ref":"x","pusher":{}}`: "push", `{"ref":"x","ref_type":"branch"}`: "", `{"sha":"x","context":"ci"}`: "status",
		`{"deployment":{},"workflow_run":{}}`: "", `{"workflow_run":{},"reviewers":[]}`: "", `{"workflow_run":{},"approver":{}}`: "", `{"workflow_job":{}}`: "", `{"workflow_run":{},"workflow":{}}`: "workflow_run",
		`{"issue":{},"comment":{}}`: "issue_comment", `{"issue":{},"comment":{},"pull_request":{}}`: "issue_comment", `{"deployment":null,"issue":{}}`: "issues",
	} {
		if got, err := Infer([]byte(body)); got != want || err != nil {
			t.Errorf("%s is inferred to be %q, %v, want %q", body, got, err, want)
		}
	}
}
