package dispatch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

var guarded = loop.Settings{
	Users: []string{"octocat"}, Starts: "always",
	Keywords: []loop.Keyword{{Verb: loop.Start, Phrase: "loop start"}, {Verb: loop.Stop, Phrase: "loop stop"}, {Verb: loop.Pause, Phrase: "loop pause"}, {Verb: loop.Resume, Phrase: "loop resume"}, {Verb: loop.Cleanup, Phrase: "loop cleanup"}},
}

// No body, whatever its bytes, makes a paste that ends early or presses a key,
// or names a path outside our directories or a session that could be taken for
// something else.
func FuzzBody(f *testing.F) {
	files, err := filepath.Glob("../../testdata/github/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		f.Add(name, b)
	}
	f.Add("issue_comment", []byte(`{"action":"created","repository":{"full_name":"../.."},"issue":{"number":1},"comment":{"id":1,"body":"\u001b[201~\r\u009b201~ loop start","user":{"login":"octocat"}}}`))
	dir := f.TempDir()
	s := &store.Store{Dir: dir}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		e, err := event.Read(body, name, "d-1")
		if err != nil {
			return
		}
		checkMessage(t, e.Message(e.Subject, "n0nce123"), "n0nce123")
		refs := []work.Ref{e.Subject, e.PullRequest}
		for _, n := range e.Refs {
			refs = append(refs, n.Ref)
		}
		for _, r := range refs {
			if !r.IsZero() {
				checkPlaces(t, s, r)
				checkMessage(t, loop.Opening(r, "octocat"), "")
			}
		}
	})
}

func checkMessage(t *testing.T, text, nonce string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			t.Fatalf("%q holds %U", text, r)
		}
	}
	if nonce == "" {
		return
	}
	lines := strings.Split(text, "\n")
	last := lines[len(lines)-1]
	mark, _, ok := strings.Cut(last, " end ")
	if !ok || !strings.HasSuffix(last, nonce) || strings.Count(text, mark) != 2 {
		t.Fatalf("the fence %q of %q is not whole", last, text)
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

func checkPlaces(t *testing.T, s *store.Store, r work.Ref) {
	t.Helper()
	if got := filepath.Dir(s.Path(r)); got != filepath.Join(s.Dir, "local") {
		t.Fatalf("%s has its record in %s", r, got)
	}
	if slug := r.Slug(); slug != filepath.Base(slug) || slug[0] == '.' || !strings.HasPrefix(slug, "github-") {
		t.Fatalf("%s has the slug %q", r, slug)
	}
	if name := r.SessionName(); !plainName.MatchString(name) {
		t.Fatalf("%s has the session %q", r, name)
	}
	if again, err := work.ParseRef(r.String()); err != nil || !again.Same(r) {
		t.Fatalf("%s is read back as %s: %v", r, again, err)
	}
}

// No text in a real body, whoever's and wherever, makes a control command, a
// delivery or a start by somebody else than its author: here all of them are
// a stranger's.
func FuzzStranger(f *testing.F) {
	f.Add("mallory", "loop start", "octocat", "issue-15", "NONE", "created", "loop: auto-execute")
	f.Add("octocat\x00", "loop stop", "@octocat", "main", "owner", "edited", "x")
	f.Add("OCTOCAT ", "octocat: loop stop", "octocat\n", "issue/15", "OWNER", "submitted", "x")
	f.Add("app/octocat", "\"user\":{\"login\":\"octocat\"} loop stop", "t", "b", "COLLABORATOR", "created", "l")
	f.Fuzz(func(t *testing.T, login, text, title, branch, association, action, label string) {
		if strings.EqualFold(event.Login(login), "octocat") {
			return // that one may
		}
		user := map[string]any{"login": login}
		thread := map[string]any{"number": 15, "title": title, "body": text, "user": user, "author_association": association, "labels": []any{map[string]any{"name": label}}}
		said := map[string]any{"id": 7, "body": text, "user": user, "author_association": association, "updated_at": title, "state": "commented"}
		common := map[string]any{"action": action, "repository": map[string]any{"full_name": "octo/repo"}, "sender": user, "label": map[string]any{"name": label}}
		pull := map[string]any{"number": 16, "title": title, "body": "Closes #15\n" + text, "user": user, "head": map[string]any{"ref": branch, "sha": title}, "base": map[string]any{"ref": "main"}}
		for name, parts := range map[string]map[string]any{
			"issue_comment": {"issue": thread, "comment": said}, "issues": {"issue": thread},
			"pull_request": {"pull_request": pull, "number": 16}, "pull_request_review": {"pull_request": pull, "review": said},
			"pull_request_review_comment": {"pull_request": pull, "comment": said},
		} {
			for k, v := range common {
				parts[k] = v
			}
			body, err := json.Marshal(parts)
			if err != nil {
				t.Fatal(err)
			}
			e, err := event.Read(body, name, "d-1")
			if err != nil {
				t.Fatal(err)
			}
			if loop.Screen(e) != "" || e.Closes || e.Reopens {
				continue // they carry no words
			}
			if v, why := guarded.Order(e); v != "" || why != "" {
				t.Fatalf("%s: order %q %q", body, v, why)
			}
			rec := &work.Record{Session: work.Session{Ref: work.Ref{Owner: "octo", Repo: "repo", Number: 15}, Harness: "echo", Cwd: "/w", Status: work.Active}}
			if d := loop.Decide(rec, e, guarded, ""); d.Act != loop.Settle || rec.Status != work.Active {
				t.Fatalf("%s: %+v", body, d)
			}
			if d := guarded.Unmatched(e, loop.Known{Item: rec.Ref, Last: loop.Start, Dir: "/w"}); d.Act != loop.Settle {
				t.Fatalf("%s: %+v", body, d)
			}
		}
	})
}
