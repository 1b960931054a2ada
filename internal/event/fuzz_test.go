package event

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

var names = []string{"", "issue_comment", "issues", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "check_run", "check_suite", "workflow_run", "push", "\x1b[0m"}

// Rules 15, 47 and 48 on any bytes: no panic, refs that are refs, a message
// that is clean and whole.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "github", "*.json"))
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, byte(0))
		for i, n := range names {
			if n != "" && strings.HasPrefix(filepath.Base(file), n+".") {
				f.Add(body, byte(i))
			}
		}
	}
	f.Add([]byte(`{"action":"created","comment":{"id":1,"body":"===k3v9x2"},"issue":{"number":1},"repository":{"full_name":"o/r"}}`), byte(1))
	f.Add([]byte("null"), byte(0))
	f.Fuzz(func(t *testing.T, body []byte, which byte) {
		e, err := Read(body, names[int(which)%len(names)], "d")
		if err != nil {
			mustBeClean(t, strings.ReplaceAll(err.Error(), "\t", ""))
			return
		}
		seen := map[string]bool{}
		for _, n := range append([]Named{{Ref: e.Subject}, {Ref: e.PullRequest}}, e.Refs...) {
			if n.Sources == nil && n.Ref.IsZero() {
				continue
			}
			if again, err := work.ParseRef(n.Ref.String()); err != nil || again != n.Ref {
				t.Fatalf("%q is read back as %v, %v", n.Ref, again, err)
			}
			if n.Sources != nil && seen[n.Ref.Key()] {
				t.Fatalf("%s is there twice", n.Ref)
			}
			seen[n.Ref.Key()] = n.Sources != nil
		}
		if e.Kind == Ignored && len(e.Refs) > 0 || e.Kind == Check && e.Actor != "" || !e.PullRequest.IsZero() && e.PullRequest != e.Subject {
			t.Fatalf("%+v contradicts itself", e)
		}
		mustBeClean(t, e.Key)
		checkMessage(t, e, nonce)
	})
}

// Rule 48 on any text, and cleaning what is clean changes nothing.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\r\nb\rc", "\x1b[201~\r", "\u009b\u202e\u2028", "\xff\xc2\x9b", "é\t\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		mustBeClean(t, c)
		if Clean(c) != c {
			t.Fatalf("%q is cleaned to %q, and that to %q", s, c, Clean(c))
		}
		if l := Line(s, 20); strings.ContainsAny(l, "\n\t") || len([]rune(l)) > 20 {
			t.Fatalf("line of %q is %q", s, l)
		}
	})
}

// Descriptions on their own reach deeper than within JSON.
func FuzzRoute(f *testing.F) {
	for _, s := range []string{"Closes #15", "```\nfixes #1\n```\nfixes a/b#2", "<!-- fixes #1 --> fixes GH-3", "> ~~~\n> fixes #1\nfixes https://github.com/o/r/issues/4", "`` a ` fixes #1 ``"} {
		f.Add(s, "issue-15")
	}
	f.Fuzz(func(t *testing.T, body, branch string) {
		for _, n := range Route(pr16, nil, branch, body) {
			if again, err := work.ParseRef(n.Ref.String()); err != nil || again != n.Ref {
				t.Fatalf("%q is read back as %v, %v", n.Ref, again, err)
			}
		}
		if strings.Count(visible(body), "\n") > strings.Count(body, "\n")+strings.Count(body, "\r")+1 {
			t.Fatalf("%q grows to %q", body, visible(body))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	body, err := os.ReadFile(filepath.Join("..", "..", "testdata", "github", "pull_request.branch_and_keyword.json"))
	if err != nil {
		b.Fatal(err)
	}
	// Real bodies are some 15 kB, most of it addresses that we do not look at.
	padding := strings.Repeat(`"some_url":"https://api.github.com/repos/octo/repo/issues/16/events{/privacy}",`, 150)
	body = []byte(strings.Replace(string(body), "{", "{"+padding, 1))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Read(body, "", ""); err != nil {
			b.Fatal(err)
		}
	}
}
