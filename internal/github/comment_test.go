package github_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/work"
)

// fakeGitHub answers behind gh's http_unix_socket, and notes what it is asked.
func fakeGitHub(t *testing.T, status int) (asked func() []string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 16)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		said <- fmt.Sprintf("%s %s %s %q", r.Method, r.URL.Path, r.Header.Get("Authorization"), in.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"message":"said \u001b[31mno"}`)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	t.Setenv("GH_CONFIG_DIR", dir)
	t.Setenv("GH_TOKEN", "secret")
	if err := os.WriteFile(filepath.Join(dir, "config.yml"), []byte("http_unix_socket: "+socket+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		var all []string
		for {
			select {
			case s := <-said:
				all = append(all, s)
			default:
				return all
			}
		}
	}
}

// TestInside is not a test: go-gh reads its files once in a process, so each
// call of the tests below has a process of its own.
func TestInside(t *testing.T) {
	switch os.Getenv("GH_LOOP_TEST_ASK") {
	case "comment":
		err := github.Comment(context.Background(), work.Ref{Owner: "octo", Repo: "repo", Number: 16}, os.Getenv("GH_LOOP_TEST_TEXT"))
		var signIn *github.SignInError
		fmt.Printf("<%v %v>", errors.As(err, &signIn), err)
	case "logins":
		fmt.Printf("<%v>", github.Logins())
	}
}

// inside gives what a call prints in a process of its own.
func inside(t *testing.T, env ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestInside$")
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	return text[strings.Index(text, "<")+1 : strings.LastIndex(text, ">")]
}

func say(t *testing.T, text string, env ...string) string {
	t.Helper()
	return inside(t, append(env, "GH_LOOP_TEST_ASK=comment", "GH_LOOP_TEST_TEXT="+text)...)
}

// A comment of ours carries the mark by which it does not come back (rule 22),
// where no text can hide it.
func TestCommentCarriesTheMark(t *testing.T) {
	asked := fakeGitHub(t, http.StatusCreated)
	if got := say(t, "```\nnever closed <!-- "); got != "false <nil>" {
		t.Fatal(got)
	}
	want := `POST /repos/octo/repo/issues/16/comments token secret "` + event.Marker + "\\n```\\nnever closed <!-- \""
	if got := asked(); len(got) != 1 || got[0] != want {
		t.Errorf("asked %v\nwant  %s", got, want)
	}
}

func TestCommentRefusals(t *testing.T) {
	asked := fakeGitHub(t, http.StatusUnauthorized)
	if got := say(t, "x"); got != "true github.com does not take the token that gh has: run gh auth login --hostname github.com (gh is at https://cli.github.com), or set GH_TOKEN" {
		t.Errorf("401 gives %s", got)
	}
	if got := say(t, strings.Repeat("x", 65536)); !strings.Contains(got, "GitHub takes 65536") {
		t.Errorf("a long one gives %s", got)
	}
	if n := len(asked()); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if got := say(t, "x", "GH_TOKEN=", "GH_PATH=/nowhere"); !strings.HasPrefix(got, "true not signed in to github.com") {
		t.Errorf("no token gives %s", got)
	}
	fakeGitHub(t, http.StatusForbidden)
	if got := say(t, "x"); !strings.HasPrefix(got, "false comment on octo/repo#16: HTTP 403") || strings.Contains(got, "\x1b") {
		t.Errorf("403 gives %q", got)
	}
}

// Whom gh is signed in as is read from its files, by host (rule 23).
func TestLogins(t *testing.T) {
	dir := t.TempDir()
	text := "github.com:\n    user: octocat\n    users:\n        octocat:\n        hubot:\nGHE.corp:\n    user: boss\nbare.corp:\n    git_protocol: ssh\n"
	if err := os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := inside(t, "GH_LOOP_TEST_ASK=logins", "GH_CONFIG_DIR="+dir); got != "map[:octocat ghe.corp:boss]" {
		t.Errorf("logins are %s", got)
	}
	if got := inside(t, "GH_LOOP_TEST_ASK=logins", "GH_CONFIG_DIR=/nowhere"); got != "map[]" {
		t.Errorf("without files they are %s", got)
	}
}
