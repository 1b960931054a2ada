package dispatch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// newLoop is a loop on a state directory of its own, with a tmux that notes
// each call of it and answers nothing.
func newLoop(t *testing.T) (d *Loop, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	noted := filepath.Join(dir, "calls")
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\necho called >>"+noted+"\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	conf := config.Default()
	conf.Routing.DefaultHarness = "echo"
	d = &Loop{
		Store: &store.Store{Dir: filepath.Join(dir, "state")}, Log: journal.Log{Path: filepath.Join(dir, "state", "log", "events.jsonl"), MaxBytes: 1 << 20},
		Config: conf, Harnesses: conf.Adapters("gh-loop"), Socket: filepath.Join(dir, "socket"), Now: time.Now, NewID: func() string { return "id" },
		Settings: loop.Settings{
			Users: []string{"octocat"}, Mode: work.Always, Starts: "always", RequireStart: true,
			Keywords: []loop.Keyword{{Verb: loop.Start, Phrase: "loop start"}, {Verb: loop.Stop, Phrase: "loop stop"}},
		},
	}
	return d, func() string {
		b, err := os.ReadFile(noted)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(b)
	}
}

func commentBody(issue, id int, by, text string) []byte {
	return fmt.Appendf(nil, `{"action":"created","repository":{"full_name":"octo/repo"},"sender":{"login":%q},"issue":{"number":%d,"title":"t"},`+
		`"comment":{"id":%d,"body":%q,"user":{"login":%q},"author_association":"NONE","updated_at":"2026-08-07T10:00:00Z"}}`, by, issue, id, text, by)
}

// filesBut lists what is in the state directory, with the times of last
// change, without the event log.
func filesBut(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == "log" {
			return err
		}
		fi, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), "events.jsonl") {
			return err
		}
		fmt.Fprintln(&out, path, fi.Size(), fi.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A refused event costs no tmux process and no write beyond its line, also
// while others wait; a flood of them leaves memory flat and the log bounded.
func TestFloodOfRefusedEvents(t *testing.T) {
	d, calls := newLoop(t)
	ctx := context.Background()
	if _, err := d.Store.Change(ctx, work.Ref{Owner: "octo", Repo: "repo", Number: 15}, func(*work.Record) (*work.Record, error) {
		return &work.Record{Session: work.Session{Ref: work.Ref{Owner: "octo", Repo: "repo", Number: 15}, Harness: "echo", Cwd: t.TempDir(), Status: work.Active}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	tk, err := d.Store.Accept(ctx, "issue_comment", "waits", commentBody(99, 1, "octocat", "x"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tk.Release()
	long := strings.Repeat("loop start, please. ", 500)
	kinds := []struct {
		body   []byte
		reason loop.Reason
	}{
		{commentBody(15, 2, "mallory", long), loop.Unauthorized},
		{commentBody(17, 3, "mallory", long), loop.Unauthorized},
		{commentBody(15, 4, "octocat", "loop start\nloop stop"), loop.ControlAmbiguous},
		{commentBody(15, 5, "octocat", "mine <!-- gh-loop -->"), loop.OwnText},
	}
	d.note(journal.Line{What: "begin"}) // makes the log's directory
	before := filesBut(t, d.Store.Dir)
	flood := func(n int) (heap uint64) {
		for i := range n {
			k := kinds[i%len(kinds)]
			r, err := d.Event(ctx, "issue_comment", fmt.Sprint("d-", i), k.body)
			if err != nil || len(r.Outcomes) != 1 || r.Outcomes[0].Fate != loop.Settled || r.Outcomes[0].Reason != k.reason {
				t.Fatalf("event %d: %+v %v", i, r, err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := flood(1000)
	many := flood(9000)
	if many > few+(1<<20) {
		t.Errorf("memory grew from %d to %d bytes", few, many)
	}
	if after := filesBut(t, d.Store.Dir); after != before {
		t.Errorf("something was written:\n%s\nbefore\n%s", after, before)
	}
	if c := calls(); c != "" {
		t.Errorf("tmux was called: %s", c)
	}
	for _, name := range []string{"events.jsonl", "events.jsonl.1"} {
		fi, err := os.Stat(filepath.Join(d.Store.Dir, "log", name))
		if err != nil || fi.Size() > 1<<20+4096 {
			t.Errorf("%s: %v %v", name, fi, err)
		}
	}
	t.Logf("10,000 refused: heap %d kB after 1,000, %d kB after 10,000", few>>10, many>>10)
}
