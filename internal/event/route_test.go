package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
	"pgregory.net/rapid"
)

var pr16 = work.Ref{Owner: "octo", Repo: "repo", Number: 16}

func written(list []Named) string {
	var out []string
	for _, n := range list {
		var sources []string
		for _, s := range n.Sources {
			sources = append(sources, string(s))
		}
		out = append(out, n.Ref.Short()+"="+strings.Join(sources, "+"))
	}
	return strings.Join(out, " ")
}

// Rule 18: closing keywords as GitHub documents them.
func TestClosingKeywords(t *testing.T) {
	const fence = "```"
	for _, c := range []struct{ body, want string }{
		{"close #15", "15"}, {"closes #15", "15"}, {"closed #15", "15"},
		{"fix #15", "15"}, {"fixes #15", "15"}, {"fixed #15", "15"},
		{"resolve #15", "15"}, {"resolves #15", "15"}, {"resolved #15", "15"},
		{"CLOSES #15", "15"}, {"FiXeS #15", "15"}, {"Resolves: #15", "15"}, {"fixes:   #15", "15"}, {"fixes\t#15", "15"},
		{"fixes#15", ""}, {"fixes:#15", ""}, {"fixes : #15", ""}, {"fixes:: #15", ""},
		{"fixing #15", ""}, {"closing #15", ""}, {"resolving #15", ""}, {"fixe #15", ""}, {"closeds #15", ""},
		{"disclose #42", ""}, {"prefixes #15", ""}, {"un_fixed #15", ""}, {"fix2 #15", ""}, {"éfix #15", ""}, {"ſixes #15", ""},
		{"Fixes issue #1", ""}, {"does not fix #1", "1"}, {"#15", ""}, {"see #15", ""}, {"", ""}, {"fixes", ""}, {"fixes ", ""}, {"fixes #", ""},
		{"Fixes #1, #2", "1"}, {"fixes #1 and #2", "1"}, {"fixes #1, fixes #2", "1 2"}, {"Fixes #2\nfixes #1", "2 1"}, {"fixes #1 closes #1", "1"},
		{"fixes fixes #1", "1"}, {"fixes\n#15", ""}, {"fixes:\n#15", ""}, {"fixes\r\n#15", ""}, {"fixes \r#15", ""}, {"fixes\u2028#15", ""},
		{"fixes #15.", "15"}, {"(fixes #15)", "15"}, {"“Fixes #15”", "15"}, {"- Fixes #15", "15"}, {"> fixes #15", "15"}, {"x:fixes #15;", "15"}, {"🐛fixes #15", "15"}, {"fixes #15。", "15"},
		{"fixes #15a", ""}, {"fixes #15_", ""}, {"fixes #15é", ""}, {"fixes #x15", ""}, {"fixes #-15", ""}, {"fixes #0", ""}, {"fixes #00", ""}, {"fixes #015", "15"},
		{"fixes #9223372036854775807", "9223372036854775807"}, {"fixes #9223372036854775808", ""}, {"fixes #99999999999999999999999 fixes #1", "1"},
		{"fixes GH-15", "15"}, {"fixes gh-15", "15"}, {"fixes GH15", ""}, {"fixes GH-15x", ""}, {"fixes GH-", ""}, {"fixes xGH-15", ""},
		{"fixes octo/lib#15", "octo/lib#15"}, {"Fixes: other-org/a.b_c#7", "other-org/a.b_c#7"}, {"fixes a/b/c#1", ""}, {"fixes octo#1", ""}, {"fixes /lib#1", ""}, {"fixes octo/#1", ""}, {"fixes octo/..#1", ""}, {"fixes octo/lib #1", ""}, {"fixes ghe.example.com/o/r#1", ""},
		{"fixes https://github.com/octo/repo/issues/15", "15"}, {"fixes HTTPS://GitHub.com/octo/lib/issues/15#issuecomment-1", "octo/lib#15"}, {"fixes http://github.com/octo/repo/issues/15?x=1", "15"}, {"fixes https://github.com/octo/repo/issues/15.", "15"},
		{"fixes https://github.com/octo/repo/pull/15", ""}, {"fixes https://example.com/octo/repo/issues/15", ""}, {"fixes https://github.com.example.com/octo/repo/issues/15", ""}, {"fixes https://github.com/octo/repo/issues/15/events", ""}, {"fixes https://github.com/octo/issues/15", ""}, {"fixes https://github.com/octo/repo/issues/", ""}, {"fixes https://x@github.com/octo/repo/issues/1", ""},
		{"fixes #16", ""}, {"fixes octo/repo#16", ""}, {"fixes Octo/REPO#16", ""}, {"fixes https://github.com/octo/repo/issues/16", ""}, {"fixes other/repo#16", "other/repo#16"},
		{"`fixes #1`", ""}, {"``a ` fixes #1`` fixes #2", "2"}, {"`fixes #1", "1"}, {"`` fixes #1 `", "1"}, {"`a` fixes #1 `b`", "1"}, {"fixes `x` #1", ""}, {"`fixes` #1", ""}, {"fixes `#1`", ""}, {"\\`fixes #1\\`", "1"}, {"`a\nfixes #1`", ""}, {"`a\n\nfixes #1`", "1"}, {"`a\\` fixes #1 `", "1"},
		{fence + "\nfixes #1\n" + fence + "\nfixes #2", "2"}, {fence + "go\nfixes #1\n" + fence, ""}, {fence + "\nfixes #1", ""}, {"fixes #2\n" + fence + "\nfixes #1", "2"}, {fence + "\nfixes #1\n~~~\nfixes #3\n" + fence + "\nfixes #2", "2"},
		{"~~~\nfixes #1\n~~~\nfixes #2", "2"}, {"~~~ `x`\nfixes #1\n~~~~  \nfixes #2", "2"}, {"~~~~\nfixes #1\n~~~\nfixes #3\n~~~~\nfixes #2", "2"}, {"~~\nfixes #1", "1"}, {fence + "a`b\nfixes #1", "1"}, {fence + "\n" + fence + " no close\nfixes #1\n" + fence + "\nfixes #2", "2"},
		{"   " + fence + "\nfixes #1\n  " + fence + "\nfixes #2", "2"}, {"- a\n  " + fence + "\n  fixes #1\n  " + fence + "\n- fixes #2", "2"}, {"1. " + fence + "\n   fixes #1\n   " + fence + "\n\nfixes #2", "2"}, {"> " + fence + "\n> fixes #1\n> " + fence + "\nfixes #2", "2"}, {"> " + fence + "\n> fixes #1\nfixes #2", "2"}, {fence + "\n        " + fence + "\nfixes #1\n" + fence + "\nfixes #2", "2"},
		{fence + "\r\nfixes #1\r\n" + fence + "\r\nfixes #2", "2"}, {"`a\n" + fence + "\nfixes #1`\n" + fence + "\nfixes #2", "2"},
		{"<!-- fixes #1 --> fixes #2", "2"}, {"<!--\nfixes #1\n\nfixes #3\n-->\nfixes #2", "2"}, {"<!-- fixes #1", ""}, {"a <!-- fixes #1", "1"}, {"fixes <!-- x --> #1", ""}, {"`<!--` fixes #1 `-->`", "1"}, {"<!-- ` --> fixes #1 `", "1"}, {"<!-->fixes #1", "1"}, {"\\<!-- fixes #1 -->", "1"}, {"<!-- " + fence + " -->\nfixes #2", "2"}, {fence + "\n<!--\n" + fence + "\nfixes #2", "2"}, {"fixes\x00#1", ""},
	} {
		var got []string
		for _, n := range Route(pr16, nil, "", c.body) {
			if !n.Ref.Same(pr16) {
				got = append(got, strings.TrimPrefix(n.Ref.Short(), "octo/repo#"))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("rule 18: %q names %q, want %q", c.body, s, c.want)
		}
	}
}

// Rule 17: an issue number in the head branch, as a whole word.
func TestBranch(t *testing.T) {
	for branch, want := range map[string]int64{
		"issue-15": 15, "issue/15": 15, "fix/issue-15-retry": 15, "Issue-15": 15, "a.issue/15.b": 15, "issue-x/issue-15": 15, "issue-15-issue-16": 15, "issue-015": 15,
		"tissue-15": 0, "issue-15a": 0, "issue_15": 0, "issue15": 0, "issues-15": 0, "my_issue-15": 0, "issue-": 0, "issue": 0, "": 0, "issue-0": 0, "issue-9223372036854775808": 0, "éissue-15": 0, "issue-15_b": 0, "main": 0, "15": 0,
	} {
		if got := branchIssue(branch); got != want {
			t.Errorf("rule 17: branch %q names %d, want %d", branch, got, want)
		}
	}
}

// Rule 17: order, sources merged, the pull request last, never its own link.
func TestRoute(t *testing.T) {
	at := func(owner string, n int64) work.Ref { return work.Ref{Owner: owner, Repo: "repo", Number: n} }
	for _, c := range []struct {
		references   []work.Ref
		branch, body string
		want         string
	}{
		{nil, "", "", "octo/repo#16=entity"},
		{nil, "issue-15", "closes #20, closes #15", "octo/repo#15=branch+keyword octo/repo#20=keyword octo/repo#16=entity"},
		{[]work.Ref{at("OCTO", 20), at("octo", 16), at("octo", 20), {}}, "issue-15", "closes #15 closes octo/repo#20", "OCTO/repo#20=reference+keyword octo/repo#15=branch+keyword octo/repo#16=entity"},
		{nil, "issue-16", "closes #16", "octo/repo#16=entity"},
		{[]work.Ref{at("elsewhere", 16)}, "", "", "elsewhere/repo#16=reference octo/repo#16=entity"},
	} {
		if got := written(Route(pr16, c.references, c.branch, c.body)); got != c.want {
			t.Errorf("rule 17: %v %q %q gives %s, want %s", c.references, c.branch, c.body, got, c.want)
		}
	}
	if got := Route(work.Ref{}, nil, "issue-15", "closes #15"); got != nil {
		t.Errorf("no pull request gives %v", got)
	}
	enterprise := work.Ref{Host: "ghe.example.com", Owner: "octo", Repo: "repo", Number: 16}
	if got, want := written(Route(enterprise, nil, "", "closes a/b#1, fixes https://GHE.example.com/a/b/issues/2, fixes https://github.com/a/b/issues/3")), "ghe.example.com/a/b#1=keyword ghe.example.com/a/b#2=keyword ghe.example.com/octo/repo#16=entity"; got != want {
		t.Errorf("rule 18: on another host: %s, want %s", got, want)
	}
}

// Rule 17, as laws: each ref once, the pull request last, every ref valid, and
// text in a fence or comment adds nothing.
func TestRouteLaws(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"closes #15", "fixes a/b#3", "resolves GH-9", " ", "\n", "\n\n", "`", "``", "```", "\n```\n", "~~~\n", "<!--", "-->", "\\", "> ", "- ", "x", "#16", "fixes #16", "\r", "é", "https://github.com/o/r/issues/5"})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "body"), "")
		branch := rapid.SampledFrom([]string{"", "issue-15", "issue-16", "issue/99"}).Draw(t, "branch")
		refs := Route(pr16, nil, branch, body)
		seen := map[string]bool{}
		for i, n := range refs {
			if again, err := work.ParseRef(n.Ref.String()); err != nil || again != n.Ref || seen[n.Ref.Key()] {
				t.Fatalf("%v: %v, repeated: %v", n.Ref, err, seen[n.Ref.Key()])
			}
			seen[n.Ref.Key()] = true
			if last := i == len(refs)-1; last != n.Ref.Same(pr16) {
				t.Fatalf("the pull request is not last, once: %s", written(refs))
			}
		}
		for _, hide := range []string{"~~~~~\n%s\n~~~~~\n", "<!-- %s"} {
			inner := strings.NewReplacer("~", "", "-->", "", "\r", "").Replace(body)
			if got := Route(pr16, nil, "", fmt.Sprintf(hide, inner)); len(got) != 1 {
				t.Fatalf("%q hides nothing: %s", hide, written(got))
			}
		}
	})
}

// No description takes more than linear time to read: with quadratic time this
// would not end before the test's own deadline.
func TestRouteHostileLength(t *testing.T) {
	var runs strings.Builder
	for n := 1; runs.Len() < maxText; n++ {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	bodies := []string{runs.String()}
	for _, unit := range []string{"`", "\\``", "` ``\n", "<!--", "<!-->", "fixes ", "> ", "- ", "issue-", "```\n", "fixes a/", "\n`", "~~~~\n> "} {
		bodies = append(bodies, strings.Repeat(unit, maxText/len(unit)))
	}
	for _, body := range bodies {
		if got := Route(pr16, nil, body, body); len(got) != 1 {
			t.Errorf("%q… names %s", body[:20], written(got))
		}
	}
}
