package github

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-08-07T"+text+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func day(text string) string { return utc(at(text)) }

func parsed(t *testing.T, text string) *node {
	t.Helper()
	text = strings.NewReplacer("'", `"`, "~", "2026-08-07T").Replace(text)
	n := readNode(json.RawMessage(text))
	if n == nil {
		t.Fatalf("%s is no node", text)
	}
	return n
}

const issue15 = `{'__typename':'Issue','id':'I_1','number':15,'title':'t','url':'https://github.com/octo/repo/issues/15','state':'OPEN','createdAt':'~08:00:00Z','updatedAt':'~10:00:00Z',
 'repository':{'nameWithOwner':'octo/repo','url':'https://github.com/octo/repo','defaultBranchRef':{'name':'main'}},'author':{'login':'octocat'},`

const pull16 = `{'__typename':'PullRequest','id':'PR_1','number':16,'title':'t','url':'https://github.com/octo/repo/pull/16','state':'OPEN','createdAt':'~08:00:00Z','updatedAt':'~10:00:00Z',
 'headRefName':'topic','headRefOid':'aaa','baseRefName':'main','headRepository':{'nameWithOwner':'octo/repo'},
 'repository':{'nameWithOwner':'octo/repo','url':'https://github.com/octo/repo','defaultBranchRef':{'name':'main'}},'author':{'login':'octocat'},`

var (
	item  = work.Ref{Owner: "octo", Repo: "repo", Number: 15}
	pull  = work.Ref{Owner: "octo", Repo: "repo", Number: 16}
	known = event.Position{Since: day("07:00:00"), Floor: day("09:00:00"), State: "OPEN", Head: "aaa", Checks: "PENDING"}
)

func comment(id, at, more string) string {
	return `{'fullDatabaseId':'` + id + `','createdAt':'~` + at + `Z','updatedAt':'~` + at + `Z','body':'b','author':{'login':'octocat'}` + more + `}`
}

// keys are those of the events that were found, in their order.
func keys(t *testing.T, found []event.Found) string {
	t.Helper()
	var out []string
	for _, f := range found {
		e, err := event.Read(f.Body, f.Name, f.Delivery)
		if err != nil {
			t.Fatal(err)
		}
		key := strings.ReplaceAll(e.Key, "2026-08-07T", "")
		if f.Past {
			key += " (past)"
		}
		out = append(out, key)
	}
	return strings.Join(out, "\n")
}

// TestNews proves what is told of a thing: with the keys of webhooks (rule
// 36), what is there at first sight not, and what is missing never.
func TestNews(t *testing.T) {
	tests := []struct {
		name, node string
		read       event.Position
		watched    event.Watched
		want       string
	}{
		{"comments since, oldest first", issue15 + `'comments':{'nodes':[` + comment("8", "08:30:00", "") + `,` + comment("11", "09:50:00", "") + `,` + comment("10", "09:40:00", "") + `]}}`,
			known, event.Watched{Ref: item, Item: item}, "issue_comment:10:created\nissue_comment:11:created"},
		{"ids over 2^31", issue15 + `'comments':{'nodes':[` + comment("4294967297", "09:50:00", "") + `]}}`,
			known, event.Watched{Ref: item, Item: item}, "issue_comment:4294967297:created"},
		{"an edit of old words, and one of new words", issue15 + `'comments':{'nodes':[` + comment("8", "08:30:00", `,'lastEditedAt':'~09:30:00Z'`) + `,` + comment("10", "09:40:00", `,'lastEditedAt':'~09:45:00Z'`) + `]}}`,
			known, event.Watched{Ref: item, Item: item}, "issue_comment:8:edited:08:30:00Z\nissue_comment:10:created"},
		{"an inline comment comes out with its review", pull16 + `'reviews':{'nodes':[{'fullDatabaseId':'5','state':'COMMENTED','submittedAt':'~09:50:00Z','body':'','comments':{'nodes':[` + comment("3", "08:00:00", `,'path':'a','line':1`) + `]}}]}}`,
			known, event.Watched{Ref: pull, Item: item}, "pull_request_review_comment:3:created"},
		{"a review with text or a verdict; pending ones are not out", pull16 + `'reviews':{'nodes':[{'fullDatabaseId':'5','state':'COMMENTED','submittedAt':'~09:50:00Z','body':'x'},{'fullDatabaseId':'6','state':'APPROVED','submittedAt':'~09:51:00Z','body':''},{'fullDatabaseId':'7','state':'PENDING','body':'x'}]}}`,
			known, event.Watched{Ref: pull, Item: item}, "pull_request_review:5:submitted\npull_request_review:6:submitted"},
		{"labels", issue15 + `'timelineItems':{'nodes':[{'__typename':'LabeledEvent','createdAt':'~09:10:00Z','actor':{'login':'octocat'},'label':{'name':'bug'}},{'__typename':'UnlabeledEvent','createdAt':'~09:20:00Z','actor':null,'label':{'name':'bug'}}]}}`,
			known, event.Watched{Ref: item, Item: item}, "issues:octo/repo#15:labeled:bug:09:10:00Z\nissues:octo/repo#15:unlabeled:bug:09:20:00Z"},
		{"a close", strings.Replace(issue15, "OPEN", "CLOSED", 1) + `'closedAt':'~09:30:00Z'}`,
			known, event.Watched{Ref: item, Item: item}, "issues:octo/repo#15:closed:09:30:00Z"},
		{"a merge", strings.Replace(pull16, "OPEN", "MERGED", 1) + `'closedAt':'~09:30:00Z'}`,
			known, event.Watched{Ref: pull, Item: item}, "pull_request:octo/repo#16:closed:09:30:00Z"},
		{"a state that is no state closes nothing", strings.Replace(issue15, "'OPEN'", "null", 1) + `'closedAt':'~09:30:00Z'}`,
			known, event.Watched{Ref: item, Item: item}, ""},
		{"closed without a time closes nothing", strings.Replace(issue15, "OPEN", "CLOSED", 1) + `'closedAt':null}`,
			known, event.Watched{Ref: item, Item: item}, ""},
		{"reopened", pull16 + `'timelineItems':{'nodes':[{'__typename':'ReopenedEvent','createdAt':'~09:40:00Z'}]}}`,
			event.Position{Since: day("07:00:00"), State: "CLOSED", Head: "aaa"}, event.Watched{Ref: pull, Item: item}, "pull_request:octo/repo#16:reopened:09:40:00Z"},
		{"a new head", strings.Replace(pull16, "aaa", "bbb", 1) + `'body':''}`,
			known, event.Watched{Ref: pull, Item: item}, "pull_request:octo/repo#16:synchronize:bbb"},
		{"a failed check, another that runs", pull16 + `'checks':{'nodes':[{'commit':{'oid':'aaa','statusCheckRollup':{'state':'FAILURE','contexts':{'nodes':[
			{'__typename':'CheckRun','databaseId':77,'name':'build','status':'COMPLETED','conclusion':'FAILURE','completedAt':'~09:30:00Z'},{'__typename':'CheckRun','databaseId':78,'status':'IN_PROGRESS'},{'__typename':'StatusContext'}]}}}}]}}`,
			known, event.Watched{Ref: pull, Item: item}, "check_run:77:completed"},
		{"all green", pull16 + `'checks':{'nodes':[{'commit':{'oid':'aaa','statusCheckRollup':{'state':'SUCCESS','contexts':{'nodes':[
			{'__typename':'CheckRun','databaseId':77,'status':'COMPLETED','conclusion':'SUCCESS','completedAt':'~09:30:00Z','checkSuite':{'databaseId':9,'updatedAt':'~09:31:00Z'}}]}}}}]}}`,
			known, event.Watched{Ref: pull, Item: item}, "check_suite:9:completed:09:31:00Z"},
		{"checks of another commit say nothing", pull16 + `'checks':{'nodes':[{'commit':{'oid':'old','statusCheckRollup':{'state':'SUCCESS','contexts':{'nodes':[
			{'__typename':'CheckRun','databaseId':77,'status':'COMPLETED','conclusion':'FAILURE','completedAt':'~09:30:00Z'}]}}}}]}}`,
			known, event.Watched{Ref: pull, Item: item}, ""},
		{"first sight: words only, and marked", issue15 + `'comments':{'nodes':[` + comment("10", "09:40:00", "") + `]},'timelineItems':{'nodes':[{'__typename':'LabeledEvent','createdAt':'~09:10:00Z','label':{'name':'bug'}}]}}`,
			event.Position{}, event.Watched{Ref: item, Item: item, Birth: day("09:00:00")}, "issue_comment:10:created (past)"},
		{"first sight: what is older than the record is nothing", strings.Replace(issue15, "OPEN", "CLOSED", 1) + `'closedAt':'~08:30:00Z','comments':{'nodes':[` + comment("10", "08:40:00", "") + `]}}`,
			event.Position{}, event.Watched{Ref: item, Item: item, Birth: day("09:00:00")}, ""},
		{"first sight: a close since counts", strings.Replace(issue15, "OPEN", "CLOSED", 1) + `'closedAt':'~09:30:00Z'}`,
			event.Position{}, event.Watched{Ref: item, Item: item, Birth: day("09:00:00")}, "issues:octo/repo#15:closed:09:30:00Z"},
		{"a pull request that is new on an item that we know", pull16 + `'comments':{'nodes':[` + comment("10", "08:40:00", "") + `]}}`,
			event.Position{}, event.Watched{Ref: pull, Item: item, Since: day("07:00:00"), Birth: day("09:00:00")}, "pull_request:octo/repo#16:opened:08:00:00Z\nissue_comment:10:created"},
		{"an older one counts from when it came on the record", pull16 + `'comments':{'nodes':[` + comment("10", "08:40:00", "") + `,` + comment("11", "09:40:00", "") + `]}}`,
			event.Position{}, event.Watched{Ref: pull, Item: item, Since: day("08:30:00"), Birth: day("09:00:00")}, "issue_comment:11:created"},
		{"so does one that somebody linked", pull16 + `'comments':{'nodes':[` + comment("10", "08:40:00", "") + `]}}`,
			event.Position{}, event.Watched{Ref: pull, Item: item, Since: day("07:00:00"), Birth: day("09:00:00"), ByHand: true}, ""},
		{"times and ids that are none", issue15 + `'comments':{'nodes':[null,{'fullDatabaseId':'x','createdAt':'~09:50:00Z'},{'fullDatabaseId':'9','createdAt':'soon'},7]}}`,
			known, event.Watched{Ref: item, Item: item}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := parsed(t, tt.node)
			tt.watched.Read = tt.read
			found, next := n.news(tt.watched, "", at("10:30:00"), 0)
			if got := keys(t, found); got != tt.want {
				t.Errorf("found\n%s\nwant\n%s", got, tt.want)
			}
			tt.watched.Read = next
			if again, _ := n.news(tt.watched, "", at("10:31:00"), 0); len(again) > 0 {
				t.Errorf("found again: %s", keys(t, again))
			}
		})
	}
}

// TestLateWords proves that what GitHub shows later than it happened is found.
func TestLateWords(t *testing.T) {
	w := event.Watched{Ref: item, Item: item, Read: known}
	_, w.Read = parsed(t, issue15+`'comments':{'nodes':[`+comment("11", "09:50:00", "")+`]}}`).news(w, "", at("10:30:00"), 0)
	found, _ := parsed(t, issue15+`'comments':{'nodes':[`+comment("10", "09:49:00", "")+`,`+comment("11", "09:50:00", "")+`]}}`).news(w, "", at("10:30:00"), 0)
	if got := keys(t, found); got != "issue_comment:10:created" {
		t.Errorf("found %q", got)
	}
}

// TestPartial proves that a part that was not answered moves nothing on.
func TestPartial(t *testing.T) {
	n := parsed(t, issue15+`'comments':{'nodes':[`+comment("11", "09:50:00", "")+`]}}`)
	n.Partial = true
	w := event.Watched{Ref: item, Item: item, Read: known}
	found, next := n.news(w, "", at("10:30:00"), 0)
	if keys(t, found) != "issue_comment:11:created" || next.Print != "" || next.Floor != known.Floor {
		t.Errorf("found %q, next %+v", keys(t, found), next)
	}
	w.Read = next
	if again, _ := n.news(w, "", at("10:31:00"), 0); len(again) > 0 {
		t.Errorf("found again: %s", keys(t, again))
	}
}

// TestSkew proves that a clock of ours that is hours off loses nothing: a
// record's age is compared by GitHub's clock.
func TestSkew(t *testing.T) {
	n := parsed(t, issue15+`'comments':{'nodes':[`+comment("11", "09:50:00", "")+`]}}`)
	w := event.Watched{Ref: item, Item: item, Birth: day("14:00:00")} // five hours ahead
	if found, _ := n.news(w, "", at("10:30:00"), 5*time.Hour); keys(t, found) != "issue_comment:11:created (past)" {
		t.Errorf("found %q", keys(t, found))
	}
	if found, _ := n.news(w, "", at("10:30:00"), 0); len(found) > 0 {
		t.Errorf("found %q", keys(t, found))
	}
}
