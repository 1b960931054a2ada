package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

func octo(n int64) work.Ref { return work.Ref{Owner: "octo", Repo: "repo", Number: n} }

// round makes one round in which GitHub answers as seen says of each thing.
func round(t *testing.T, d *Loop, seen func(w event.Watched) event.Seen) (asked []event.Watched, told []Result, err error) {
	t.Helper()
	lanes := d.NewLanes(context.Background(), func(r Result) { told = append(told, r) })
	_, err = d.Sync(context.Background(), nil, func(_ context.Context, _ string, ws []event.Watched) ([]event.Seen, error) {
		asked = append(asked, ws...)
		var out []event.Seen
		for _, w := range ws {
			out = append(out, seen(w))
		}
		return out, nil
	}, lanes)
	lanes.Wait(context.Background())
	lanes.End()
	return asked, told, err
}

func at(w event.Watched, fingerprint string) event.Seen {
	return event.Seen{
		Watched: w, Thing: event.Thing{Ref: w.Ref, NodeID: "N" + w.Ref.Short(), Title: "t", State: "OPEN"},
		Next: event.Position{Print: fingerprint, Since: "2026-08-07T10:00:00Z"},
	}
}

// TestPositionFollowsTheInbox proves that how far GitHub was read is noted only
// when everything before it is on disk (rule 53).
func TestPositionFollowsTheInbox(t *testing.T) {
	d := paused(t, 1)
	seen := func(w event.Watched) event.Seen {
		s := at(w, "p1")
		s.Found = []event.Found{{Name: "issue_comment", Delivery: "sync:1", Body: commentOn(1, 1)}}
		return s
	}
	if err := os.WriteFile(filepath.Join(d.Store.Dir, "local", "inbox"), nil, 0o600); err != nil { // no place for events
		t.Fatal(err)
	}
	if _, _, err := round(t, d, seen); err == nil {
		t.Error("an event was taken that there is no place for")
	}
	if f, err := d.Store.Portable(octo(1)); err != nil || len(f.Read) > 0 {
		t.Errorf("read to %v: %v", f.Read, err)
	}
	if err := os.Remove(filepath.Join(d.Store.Dir, "local", "inbox")); err != nil {
		t.Fatal(err)
	}
	if _, told, err := round(t, d, seen); err != nil || len(told) != 1 {
		t.Errorf("told %v: %v", told, err)
	}
	if f, err := d.Store.Portable(octo(1)); err != nil || len(f.Read) != 1 {
		t.Errorf("read to %v: %v", f.Read, err)
	}
}

// TestDamagedPosition proves that a position that cannot be read is no first
// sight: nothing is asked about that item, and the error says where to look.
func TestDamagedPosition(t *testing.T) {
	d := paused(t, 2)
	if err := os.MkdirAll(filepath.Join(d.Store.Dir, "portable"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.Store.Dir, "portable", octo(1).Slug()+".json")
	if err := os.WriteFile(path, []byte(`{"ref":"github:octo/repo#1","read":{"github:octo/repo#1":7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, _, err := round(t, d, func(w event.Watched) event.Seen { return at(w, "p") })
	if err == nil || !strings.Contains(err.Error(), "portable/") || len(asked) != 1 || !asked[0].Ref.Same(octo(2)) {
		t.Errorf("asked about %v: %v", asked, err)
	}
}

// TestLinks proves that pull requests are recorded in both directions and asked
// about in the same call, that a thing on two records is told once and reaches
// both (decision D6), and that an open one with a head of our own tree is found.
func TestLinks(t *testing.T) {
	d := paused(t, 2)
	tree := t.TempDir()
	if err := os.MkdirAll(filepath.Join(tree, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, ".git", "HEAD"), []byte("ref: refs/heads/next-step\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := d.Store.Change(context.Background(), octo(1), func(r *work.Record) (*work.Record, error) {
		_, err := r.Link(&work.Session{Ref: octo(15), Harness: "echo", Tree: tree})
		return r, err
	})
	if err != nil {
		t.Fatal(err)
	}
	pr := event.Thing{Ref: octo(16), NodeID: "PR", State: "OPEN", Refs: []event.Named{
		{Ref: octo(1), Sources: []work.Source{work.FromReference}}, {Ref: octo(2), Sources: []work.Source{work.FromBranch, work.FromKeyword}}, {Ref: octo(16), Sources: []work.Source{work.FromEntity}}}}
	asked, told, err := round(t, d, func(w event.Watched) event.Seen {
		s := at(w, "p")
		switch {
		case w.Ref.Same(octo(1)):
			s.Thing.Pulls = []event.Linked{{Thing: pr, Source: work.FromReference}, {Thing: event.Thing{Ref: octo(18), State: "CLOSED"}, Source: work.FromReference}}
		case w.Ref.Same(octo(15)) && w.Branch == "next-step":
			s.Thing.Pulls = []event.Linked{{Thing: event.Thing{Ref: octo(17), NodeID: "PR17", State: "OPEN"}, Source: work.FromBranch}}
		case w.Ref.Same(octo(16)):
			s.Thing = pr
			s.Found = []event.Found{{Name: "pull_request_review", Delivery: "sync:r", Body: fmt.Appendf(nil, `{"action":"submitted","review":{"id":5,"state":"approved","user":{"login":"octocat"}},"pull_request":{"number":16,"body":""},"repository":{"full_name":"octo/repo"}}`)}}
		}
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{1: "15  16 reference 17 branch", 2: "16 keyword"}
	for n, links := range want {
		r, err := d.Store.Find(octo(n))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range r.PullRequests() {
			source := ""
			if s.Linkage != nil {
				source = string(s.Linkage.Source)
			}
			got = append(got, fmt.Sprint(s.Ref.Number, " ", source))
		}
		if strings.Join(got, " ") != links {
			t.Errorf("item %d has %q, want %q", n, strings.Join(got, " "), links)
		}
	}
	if len(told) != 1 || len(told[0].Outcomes) != 2 {
		t.Errorf("told %+v", told)
	}
	if len(asked) != 6 { // 1, 15, 2; then 16 and 17 for 1; then 16 for 2
		t.Errorf("asked about %d things: %+v", len(asked), asked)
	}
}

// TestOfflineKeepsWhatCame proves that an error of the asking does not lose
// what was answered before it.
func TestOfflineKeepsWhatCame(t *testing.T) {
	d := paused(t, 1)
	broken := errors.New("the line broke")
	lanes := d.NewLanes(context.Background(), func(Result) {})
	defer lanes.End()
	_, err := d.Sync(context.Background(), nil, func(_ context.Context, _ string, ws []event.Watched) ([]event.Seen, error) {
		return []event.Seen{at(ws[0], "p")}, broken
	}, lanes)
	if f, perr := d.Store.Portable(octo(1)); !errors.Is(err, broken) || perr != nil || len(f.Read) != 1 {
		t.Errorf("read to %v: %v, %v", f.Read, err, perr)
	}
}

// TestCameBack proves that what was said while an item was closed is no news
// when it comes back, and that old control words do not count again.
func TestCameBack(t *testing.T) {
	d := paused(t, 1)
	if _, _, err := round(t, d, func(w event.Watched) event.Seen { return at(w, "p1") }); err != nil {
		t.Fatal(err)
	}
	d.readAnew(context.Background(), octo(1))
	asked, _, err := round(t, d, func(w event.Watched) event.Seen { return at(w, "p2") })
	if err != nil || len(asked) != 1 || asked[0].Read.Known() || asked[0].Birth == "" {
		t.Errorf("asked about %+v: %v", asked, err)
	}
}
