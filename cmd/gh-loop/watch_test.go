package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/github/githubtest"
)

// TestWatchRecorded plays changes on GitHub for as long as GH_LOOP_WATCH says (a
// few seconds otherwise) to `sync --watch`, with a network that fails now and
// then. What it prints is kept in the file GH_LOOP_WATCH_LOG: docs/github.md
// shows such a recording. Each comment is told once, and none is missing.
func TestWatchRecorded(t *testing.T) {
	span, err := time.ParseDuration(cmp.Or(os.Getenv("GH_LOOP_WATCH"), "6s"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	hub, err := githubtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	if err := hub.Configure(r.dir); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "GH_TOKEN=none")
	do := func(line string) {
		if err := hub.Do(strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	do("issue octo/repo#15")
	do("pr octo/repo#16 head=loop/15 closes=octo/repo#15")
	r.run("sync")
	every := max(time.Second, span/60)
	file, err := os.Create(cmp.Or(os.Getenv("GH_LOOP_WATCH_LOG"), filepath.Join(r.dir, "watch.log")))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	watch := exec.CommandContext(ctx, filepath.Join(r.dir, "gh-loop"), "sync", "--watch="+every.String())
	watch.Env, watch.Dir, watch.Stderr = r.env, r.dir, file
	watch.Cancel = func() error { return watch.Process.Signal(os.Interrupt) }
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	said := func() string { b, _ := os.ReadFile(file.Name()); return string(b) }
	comments := 0
	random := rand.New(rand.NewSource(15))
	for end := time.Now().Add(span); time.Now().Before(end); <-time.After(every * 3 / 2) {
		on := []string{"octo/repo#15", "octo/repo#16"}[random.Intn(2)]
		switch n := random.Intn(10); {
		case n < 5:
			comments++
			do(fmt.Sprintf("comment %s text=please_look_at_this_%d", on, comments))
		case n == 5:
			do(fmt.Sprintf("push octo/repo#16 %040x", random.Int63()))
		case n == 6:
			do("check octo/repo#16 build failure")
		case n == 7:
			do("label " + on + " urgent")
		case n == 8:
			do("review octo/repo#16 text=not_yet state=changes_requested")
		default:
			do("fail drop 2")
		}
	}
	do("fail none")
	do("merge octo/repo#16")
	do("close octo/repo#15")
	for end := time.Now().Add(time.Minute); !strings.Contains(said(), "issues.closed: ") && time.Now().Before(end); {
		<-time.After(50 * time.Millisecond)
	}
	stop()
	_ = watch.Wait() // told by a signal
	if got := strings.Count(said(), "issue_comment.created: delivered"); got != comments {
		t.Errorf("%d comments are told as delivered, want %d:\n%s", got, comments, said())
	}
}
