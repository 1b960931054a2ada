package work

import (
	"strings"
	"testing"
)

const theLoop = `{
  "workItem": {
    "ref": "github:octo/repo#15",
    "provider": "github",
    "owner": "octo",
    "repo": "repo",
    "number": 15
  },
  "harness": "claude",
  "harnessSessionId": "",
  "cwd": "/home/me/src/repo",
  "status": "running",
  "createdAt": "2026-08-07T09:12:04.123456+00:00",
  "lastEventAt": null,
  "tmuxTarget": "loop-github-octo-repo-15",
  "recentDeliveries": [],
  "later": {
    "nested": [1, 2.50, "\u00e9"]
  }
}
`

func mustParse(t *testing.T, text string) *Record {
	t.Helper()
	r, err := ParseRecord([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Rule 8: unchanged means byte-identical, and unknown members survive a change.
func TestRecordKeepsBytes(t *testing.T) {
	if got := string(mustParse(t, theLoop).Encode()); got != theLoop {
		t.Errorf("unchanged record is written as\n%s", got)
	}
	r := mustParse(t, theLoop)
	r.Status = Paused
	got := string(r.Encode())
	want := strings.Replace(theLoop, `"running"`, `"paused"`, 1)
	if got != want {
		t.Errorf("changed record is written as\n%s\nwant\n%s", got, want)
	}
}

// Rule 11: a damaged entry is skipped and its bytes survive the next write.
func TestDamagedEntrySurvives(t *testing.T) {
	damaged := `{"workItem":{"ref":"github:octo/repo/sub#1"},"x":[1]}`
	text := strings.Replace(theLoop, `"later"`, `"pullRequests": [7, `+damaged+`, {"workItem":{"ref":"github:octo/repo#16"},"extra":1,"pullRequests":[{"a":1}]}], "later"`, 1)
	r := mustParse(t, text)
	if n := len(r.Damaged()); n != 2 {
		t.Fatalf("%d damaged entries, want 2", n)
	}
	pr := r.PullRequest(Ref{Owner: "Octo", Repo: "REPO", Number: 16})
	if pr == nil {
		t.Fatal("the readable entry is not found")
	}
	pr.HarnessSessionID = "x"
	again := mustParse(t, string(r.Encode()))
	if len(again.Damaged()) != 2 || again.PullRequest(pr.Ref).HarnessSessionID != "x" {
		t.Errorf("lost something:\n%s", r.Encode())
	}
	for _, keep := range []string{damaged, `"extra": 1`, `[{"a":1}]`} {
		if !strings.Contains(string(r.Encode()), keep) {
			t.Errorf("%s is gone:\n%s", keep, r.Encode())
		}
	}
}

// Of several members of one name the last one counts, whatever the others are.
func TestRecordRepeats(t *testing.T) {
	text := `{"workItem":5,"title":["x"],"movedTo":"closed","version":"?","sessionPerPr":[],"harness":"a","cwd":"/","pullRequests":[
		{"status":7,"workItem":{"ref":5,"ref":"github:a/b#2"},"status":"paused"}],
		"workItem":{"ref":"github:a/b#1"},"title":"y","movedTo":null,"version":1,"sessionPerPr":"never","harness":"b","harness":"c"}`
	r := mustParse(t, text)
	if r.Title != "y" || !r.MovedTo.IsZero() || r.SessionPerPr != Never || r.Harness != "c" || len(r.Damaged()) != 0 {
		t.Errorf("%+v", r)
	}
	if pr := r.PullRequest(Ref{Owner: "a", Repo: "b", Number: 2}); pr == nil || pr.Status != Paused {
		t.Errorf("%+v", pr)
	}
	if got := string(r.Encode()); got != text {
		t.Errorf("unchanged record is written as\n%s", got)
	}
}

func TestRecordRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "not a JSON object",
		`{}`: "workItem is missing",
		`{"workItem":{"ref":"github:a/b#0"},"harness":"x","cwd":"/"}`:   "numbers begin at 1",
		`{"workItem":{"ref":"github:a/b#1"},"cwd":"/"}`:                 "harness is missing",
		`{"workItem":{"ref":"github:a/b#1"},"harness":"x"}`:             "cwd is missing",
		`{"workItem":{"ref":"github:a/b#1"},"harness":5,"cwd":"/"}`:     "a number stands where string belongs",
		strings.Replace(theLoop, `"later"`, `"version": 2, "later"`, 1): "of version 2",
	} {
		_, err := ParseRecord([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestNewRecordShape(t *testing.T) {
	r := &Record{Session: Session{Ref: Ref{Owner: "octo", Repo: "repo", Number: 15}, Harness: "echo", Cwd: "/w", Status: Active}}
	want := `{
  "workItem": {
    "ref": "github:octo/repo#15",
    "provider": "github",
    "owner": "octo",
    "repo": "repo",
    "number": 15
  },
  "harness": "echo",
  "cwd": "/w",
  "status": "active"
}
`
	if got := string(r.Encode()); got != want {
		t.Errorf("got\n%s", got)
	}
	if ok, err := r.Link(&Session{Ref: Ref{Owner: "octo", Repo: "repo", Number: 16}, Status: Active}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, _ := r.Link(&Session{Ref: Ref{Owner: "OCTO", Repo: "repo", Number: 16}}); ok {
		t.Error("linked twice")
	}
	if !strings.Contains(string(r.Encode()), `"ref": "github:octo/repo#16"`) {
		t.Errorf("got\n%s", r.Encode())
	}
}
