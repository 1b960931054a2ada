package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// growing is a state directory of so many items, all paused: what grows is what
// is read, and no agent is in the way.
type growing struct {
	items, requests, ended int // requests: pull requests of item 15
	text                   int // bytes of the comment
}

// grow writes the records. One is 1.2 kB, as records usually are; one without a
// pull request of its own has one that nobody asks for.
func (r *rig) grow(g growing) {
	local := filepath.Join(r.stateDir(), "local")
	for _, dir := range []string{local, filepath.Join(local, "closed")} {
		if err := os.RemoveAll(dir); err != nil {
			r.t.Fatal(err)
		}
	}
	write := func(dir string, n int, status string, requests ...int) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			r.t.Fatal(err)
		}
		var listed []string
		for _, pr := range requests {
			listed = append(listed, fmt.Sprintf(`{"workItem":{"ref":"github:octo/repo#%d"},"harness":"stub","cwd":"/tmp","status":"%s","createdAt":"2026-08-07T09:00:00Z","title":"%0200d"}`, pr, status, pr))
		}
		record := fmt.Sprintf(`{"workItem":{"ref":"github:octo/repo#%d"},"harness":"stub","cwd":"/tmp","status":"%s","createdAt":"2026-08-07T09:00:00Z","title":"%0800d","pullRequests":[%s]}`+"\n",
			n, status, n, strings.Join(listed, ","))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("github-octo-repo-%d.json", n)), []byte(record), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	of15 := []int{16}
	for n := 1; n < g.requests; n++ {
		of15 = append(of15, 1_000_000+n)
	}
	write(local, 15, "paused", of15...)
	for n := 1; n < g.items; n++ {
		write(local, 100_000+n, "paused", 2_000_000+n)
	}
	for n := range g.ended {
		write(filepath.Join(local, "closed"), 300_000+n, "closed", 4_000_000+n)
	}
}

// onPull writes a comment on pull request 16, which item 15 lists.
func (r *rig) onPull(n, length int) string {
	b, err := newBody([]string{"comment", "-pr", "16", "-text", strings.Repeat("x", length)}, int64(n))
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := b.encode()
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, fmt.Sprintf("pull-%d.json", length))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// TestGrowth: what a call costs grows with what it is about, and in no other
// way. Each line is run small and large, and the difference may be so much for
// each thing that there is more of; a few bytes are for longer numbers.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	r := newRig(t)
	if _, whole := r.count("config"); !whole {
		t.Skip("needs strace")
	}
	const body = 100
	event, hook, list := "event", []string{"hook", "session-closed", "$77", "1", "1"}, []string{"list"}
	of := func(set func(*growing, int)) func(int) growing {
		return func(n int) growing {
			g := growing{items: 10, requests: 1, text: body}
			set(&g, n)
			return g
		}
	}
	items, requests := of(func(g *growing, n int) { g.items = n }), of(func(g *growing, n int) { g.requests = n })
	ended, text := of(func(g *growing, n int) { g.ended = n }), of(func(g *growing, n int) { g.text = n })
	for _, c := range []struct {
		what                string
		world               func(int) growing
		small, large        int
		opened, read, calls float64 // for each
		args                []string
	}{
		{"an event, items", items, 10, 300, 2, 2700, 6.5, []string{event}}, // once to see whom it concerns, once when it is safe and its turn
		{"a hook, items", items, 10, 300, 1, 1350, 3.3, hook},
		{"list, items", items, 10, 300, 1, 1350, 6, list},
		{"an event, pull requests", requests, 1, 1000, 0, 1100, 0, []string{event}}, // three times: of the two readings one is under the lock
		{"a hook, pull requests", requests, 1, 1000, 0, 370, 0, hook},
		{"list, pull requests", requests, 1, 1000, 0, 370, 1.3, list},
		{"an event, ended items", ended, 0, 1000, 0, 0, 0, []string{event}},
		{"a hook, ended items", ended, 0, 1000, 0, 0, 0, hook},
		{"list, ended items", ended, 0, 1000, 0, 0, 0, list},
		{"an event, length of text", text, 100, 1 << 20, 0, 1.1, 0, []string{event}},
	} {
		var got [2]counts
		for i, n := range []int{c.small, c.large} {
			g := c.world(n)
			r.grow(g)
			args := c.args
			if args[0] == event {
				args = []string{event, "--delivery", fmt.Sprint("d-", n), r.onPull(n, g.text)}
			}
			got[i], _ = r.count(args...)
		}
		n := float64(c.large - c.small)
		opened, read, calls := got[1].opened-got[0].opened, got[1].read-got[0].read, got[1].calls-got[0].calls
		t.Logf("%-26s %4d to %-7d opened %+6d, read %+9d, calls %+6d, synced %+d", c.what, c.small, c.large, opened, read, calls, got[1].synced-got[0].synced)
		if float64(opened) > c.opened*n+1 || float64(read) > c.read*n+1500 || float64(calls) > c.calls*n+40 || got[1].synced != got[0].synced || got[1].processes != got[0].processes {
			t.Errorf("%s: from %d to %d it grows from %+v to %+v", c.what, c.small, c.large, got[0], got[1])
		}
	}
}
