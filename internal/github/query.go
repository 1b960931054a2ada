package github

import (
	"fmt"
	"strings"
)

// How much is asked for at once. GitHub takes 100 ids in one nodes(ids:), and
// counts a connection with first or last as a request for each node that it
// stands in; a hundred of these cost about a point.
const (
	idsAtOnce     = 100 // in one nodes(ids:)
	printsAtOnce  = 300 // things whose prints are asked for in one request
	detailsAtOnce = 20
	pagesAtMost   = 100 // of one thing's comments, reviews or checks in one round
)

const (
	pullsCounted = "closedByPullRequestsReferences{totalCount}"
	pullsListed  = "closedByPullRequestsReferences(first:20){nodes{...Pull}}"
)

// printed are the fields of a print: whatever happens to a thing changes one
// of them. Results of checks do not change updatedAt, so they are asked for.
const printed = `
fragment Print on Node{__typename id
...on Issue{number url title state updatedAt closedAt repository{...Repo} ` + pullsCounted + `}
...on PullRequest{...Pull closedAt closingIssuesReferences{totalCount}
 commits(last:1){nodes{commit{statusCheckRollup{state contexts{totalCount checkRunCountsByState{count state}}}}}}}}
fragment Pull on PullRequest{__typename id number url title state updatedAt createdAt baseRefName headRefName headRefOid isCrossRepository maintainerCanModify headRepository{nameWithOwner} repository{...Repo}}
fragment Repo on Repository{nameWithOwner url defaultBranchRef{name}}`

const tail = ` viewer{login} rateLimit{cost limit remaining resetAt}}`

// detailed are the fields from which events are made. Comments and reviews are
// asked for from their end, and further back where that is not enough.
const detailed = printed + `
fragment Detail on Node{...Print
...on Issue{body createdAt author{login} authorAssociation labels(first:50){nodes{name}} ` + pullsListed + `
 comments(last:40,before:$comments){pageInfo{hasPreviousPage startCursor} nodes{...Words}}
 timelineItems(last:100,itemTypes:[LABELED_EVENT,UNLABELED_EVENT,CLOSED_EVENT,REOPENED_EVENT]){nodes{...Change}}}
...on PullRequest{body isDraft author{login} authorAssociation labels(first:50){nodes{name}}
 closingIssuesReferences(first:20){nodes{number repository{nameWithOwner}}}
 comments(last:40,before:$comments){pageInfo{hasPreviousPage startCursor} nodes{...Words}}
 reviews(last:20,before:$reviews){pageInfo{hasPreviousPage startCursor} nodes{fullDatabaseId state submittedAt body url author{login} authorAssociation lastEditedAt editor{login} updatedAt
  comments(first:100){nodes{fullDatabaseId state path line startLine originalLine diffHunk body url createdAt lastEditedAt editor{login} updatedAt author{login} authorAssociation}}}}
 timelineItems(last:100,itemTypes:[LABELED_EVENT,UNLABELED_EVENT,CLOSED_EVENT,REOPENED_EVENT,HEAD_REF_FORCE_PUSHED_EVENT]){nodes{...Change}}
 checks:commits(last:1){nodes{commit{oid statusCheckRollup{state contexts(first:100,after:$checks){pageInfo{hasNextPage endCursor} nodes{...Run}}}}}}}}
fragment Words on IssueComment{fullDatabaseId body url createdAt lastEditedAt editor{login} updatedAt author{login} authorAssociation}
fragment Change on Node{__typename
...on LabeledEvent{createdAt actor{login} label{name}}
...on UnlabeledEvent{createdAt actor{login} label{name}}
...on ClosedEvent{createdAt actor{login}}
...on ReopenedEvent{createdAt actor{login}}
...on HeadRefForcePushedEvent{createdAt actor{login} afterCommit{oid}}}
fragment Run on Node{__typename ...on CheckRun{databaseId name status conclusion completedAt url detailsUrl title summary checkSuite{databaseId updatedAt conclusion app{name}}}}`

const detailQuery = `query Read($ids:[ID!]!,$comments:String,$reviews:String,$checks:String){nodes(ids:$ids){...Detail}` + tail + detailed

// lookQuery reads one thing by its name.
const lookQuery = `query Look($owner:String!,$name:String!,$number:Int!,$comments:String,$reviews:String,$checks:String){
repository(owner:$owner,name:$name){issueOrPullRequest(number:$number){...Detail}}` + tail + detailed

// printQuery asks for the prints of things by their ids, of others by their
// names, and for open pull requests with a certain head, all in one request.
// Whatever is asked for stands in variables. Its aliases are n0…, r0… and b0….
func printQuery(ids [][]string, named []target, branches []target) (string, map[string]any) {
	vars := map[string]any{}
	var head, body strings.Builder
	value := func(name, kind string, v any) string {
		if head.Len() > 0 {
			head.WriteByte(',')
		}
		fmt.Fprintf(&head, "$%s:%s", name, kind)
		vars[name] = v
		return "$" + name
	}
	for i, list := range ids {
		fmt.Fprintf(&body, "n%d:nodes(ids:%s){...Print}\n", i, value(fmt.Sprintf("n%d", i), "[ID!]!", list))
	}
	within := func(prefix string, i int, t target) {
		fmt.Fprintf(&body, "%s%d:repository(owner:%s,name:%s)", prefix, i, value(fmt.Sprintf("%so%d", prefix, i), "String!", t.ref.Owner), value(fmt.Sprintf("%sn%d", prefix, i), "String!", t.ref.Repo))
	}
	for i, t := range named {
		within("r", i, t)
		fmt.Fprintf(&body, "{issueOrPullRequest(number:%s){...Print}}\n", value(fmt.Sprintf("ri%d", i), "Int!", t.ref.Number))
	}
	for i, t := range branches {
		within("b", i, t)
		fmt.Fprintf(&body, "{pullRequests(headRefName:%s,states:OPEN,first:5){nodes{...Pull}}}\n", value(fmt.Sprintf("bh%d", i), "String!", t.branch))
	}
	return "query Prints(" + head.String() + "){\n" + body.String() + tail + printed, vars
}
