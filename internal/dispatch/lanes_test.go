package dispatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// paused makes a Loop with paused items, whose events are settled without tmux.
func paused(t *testing.T, items int) *Loop {
	dir := t.TempDir()
	d := &Loop{
		Store: &store.Store{Dir: dir}, Log: journal.Log{Path: filepath.Join(dir, "log", "events.jsonl")}, Config: config.Default(),
		Settings: loop.Settings{Users: []string{"octocat"}, Mode: work.Always}, Now: time.Now,
	}
	for n := 1; n <= items; n++ {
		ref := work.Ref{Owner: "octo", Repo: "repo", Number: int64(n)}
		_, err := d.Store.Change(context.Background(), ref, func(*work.Record) (*work.Record, error) {
			return &work.Record{Session: work.Session{Ref: ref, Harness: "echo", Cwd: dir, Status: work.Paused}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func commentOn(item, id int) []byte {
	return fmt.Appendf(nil, `{"action":"created","issue":{"number":%d},"comment":{"id":%d,"body":"b","user":{"login":"octocat"}},"repository":{"full_name":"octo/repo"}}`, item, id)
}

// TestLanesOrder proves that events of one conversation are handled in the
// order in which they were taken, whatever goes on beside (rule 37), and that
// none is left (rule 53).
func TestLanesOrder(t *testing.T) {
	d := paused(t, 4)
	told := map[string][]string{} // by conversation
	lanes := d.NewLanes(context.Background(), func(r Result) {
		for _, o := range r.Outcomes {
			if o.Reason != loop.PausedItem {
				t.Errorf("%s is %s: %s", r.Delivery, o.Reason, o.Message)
			}
			told[o.Item.Short()] = append(told[o.Item.Short()], r.Delivery)
		}
	})
	var all sync.WaitGroup
	for item := 1; item <= 4; item++ {
		all.Go(func() {
			for i := range 25 {
				if err := lanes.Take(context.Background(), "issue_comment", fmt.Sprintf("%d-%02d", item, i), commentOn(item, item*1000+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lanes.Wait(context.Background())
	lanes.End()
	for item, order := range told {
		if len(order) != 25 || !slices.IsSorted(order) {
			t.Errorf("%s was told %s", item, strings.Join(order, " "))
		}
	}
	if waiting, err := d.Store.Waiting(); err != nil || len(waiting) > 0 {
		t.Errorf("%d events are left: %v", len(waiting), err)
	}
}

// TestLanesEnd proves that what is not handled when they end is in the inbox,
// and that the next call takes it up (rule 53).
func TestLanesEnd(t *testing.T) {
	d := paused(t, 1)
	done := 0
	lanes := d.NewLanes(context.Background(), func(Result) { done++ })
	unlock, err := d.Store.LockEndpoint(context.Background(), work.Ref{Owner: "octo", Repo: "repo", Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := lanes.Take(context.Background(), "issue_comment", fmt.Sprint("d-", i), commentOn(1, 1+i)); err != nil {
			t.Fatal(err)
		}
	}
	unlock()
	lanes.End()
	if err := lanes.Take(context.Background(), "issue_comment", "late", commentOn(1, 99)); err != nil {
		t.Fatal(err)
	}
	waiting, err := d.Store.Waiting()
	if err != nil || len(waiting)+done != 11 {
		t.Fatalf("%d were handled and %d wait: %v", done, len(waiting), err)
	}
	d.Drain(context.Background())
	if waiting, err = d.Store.Waiting(); err != nil || len(waiting) > 0 {
		t.Errorf("%d events are left: %v", len(waiting), err)
	}
	r, err := d.Store.Find(work.Ref{Owner: "octo", Repo: "repo", Number: 1})
	if err != nil || len(r.RecentKeys) != 11 {
		t.Errorf("%d of 11 are noted: %v", len(r.RecentKeys), err)
	}
}
