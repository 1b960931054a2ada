package dispatch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/work"
)

// An announcement is made once, where it is wanted, about a session that was
// started for the first time; it says nothing of this machine's paths, and what
// fails is a line.
func TestAnnounce(t *testing.T) {
	d, _ := newLoop(t)
	ref, cwd := work.Ref{Owner: "octo", Repo: "repo", Number: 15}, t.TempDir()
	if _, err := d.Store.Change(context.Background(), ref, func(*work.Record) (*work.Record, error) {
		return &work.Record{Session: work.Session{Ref: ref, Harness: "echo", Cwd: cwd, Status: work.Active}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	var said []string
	var fails error
	d.Comment = func(_ context.Context, on work.Ref, text string) error {
		said = append(said, on.Short()+": "+text)
		return fails
	}
	first := loop.Outcome{Item: ref, Endpoint: ref, Fate: loop.Delivered, How: loop.Spawned, TmuxTarget: "loop-github-octo-repo-15"}
	d.announce(context.Background(), first)
	if len(said) != 0 {
		t.Fatalf("it is off by default, and said %q", said)
	}
	d.Config.Routing.Announce = true
	again := first
	again.How = loop.Respawned
	d.announce(context.Background(), again)
	again.How = loop.Pasted
	d.announce(context.Background(), again)
	if len(said) != 0 {
		t.Fatalf("only the first start is announced, and this was said: %q", said)
	}
	d.announce(context.Background(), first)
	if len(said) != 1 {
		t.Fatalf("said %q", said)
	}
	for _, want := range []string{"octo/repo#15: ", "echo", "`loop-github-octo-repo-15`", "gh loop attach octo/repo#15"} {
		if !strings.Contains(said[0], want) {
			t.Errorf("%q is not in %q", want, said[0])
		}
	}
	for _, never := range []string{cwd, d.Store.Dir, d.Socket} {
		if strings.Contains(said[0], never) {
			t.Errorf("%q tells of %q", said[0], never)
		}
	}
	fails = errors.New("GitHub is away")
	d.announce(context.Background(), first)
	noted := false
	if err := d.Log.Read(func(l journal.Line) bool {
		noted = noted || l.What == "error" && strings.Contains(l.Message, "GitHub is away")
		return true
	}); err != nil || !noted {
		t.Errorf("noted %v, %v", noted, err)
	}
	d.Comment = nil // as in a hook
	d.announce(context.Background(), first)
}
