package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Rule 9: two processes that record 500 pull requests each on one record lose none.
func TestTwoProcesses(t *testing.T) {
	s := newStore(t, item)
	a, b := child(t, "link", s.Dir, "1000"), child(t, "link", s.Dir, "2000")
	if err := errors.Join(a.Start(), b.Start()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Wait(), b.Wait()); err != nil {
		t.Fatal(err)
	}
	r := must[*work.Record](t)(s.Find(item))
	for _, first := range []int{1000, 2000} {
		for n := first; n < first+links; n++ {
			if r.PullRequest(octo(n)) == nil {
				t.Errorf("%s is lost", octo(n))
			}
		}
	}
	if len(r.Entries) != 2*links {
		t.Errorf("%d entries", len(r.Entries))
	}
}

// kills is how many processes the killing tests kill: 50, or GH_LOOP_KILLS.
func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("GH_LOOP_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 10
	}
	return 50
}

// killed starts a child, kills it with -9 after a number of its lines and a
// random moment more, and gives what it said before.
func killed(t *testing.T, role, dir, name string) []string {
	t.Helper()
	c := child(t, role, dir, name)
	out := lines(t, c)
	var said []string
	for n := 1 + rand.IntN(5); n > 0; n-- {
		said = append(said, <-out)
	}
	for end := time.Now().Add(time.Duration(rand.IntN(3000)) * time.Microsecond); time.Now().Before(end); {
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for line := range out {
		said = append(said, line)
	}
	_ = c.Wait()
	return said
}

// Rule 53: whatever moment an accepter is killed at, what it had accepted is there,
// in its order, whole, and handled once; takers that are killed lose nothing.
func TestKilledAccepters(t *testing.T) {
	s := newStore(t, item, ledger)
	var accepted []string
	for n := range kills(t) {
		name := fmt.Sprintf("k%d", n)
		for _, line := range killed(t, "accept", s.Dir, name) {
			id, ok := strings.CutPrefix(line, "accepted ")
			if !ok {
				t.Fatalf("%s said %q", name, line)
			}
			accepted = append(accepted, id)
		}
		if n%5 == 0 {
			killed(t, "handle", s.Dir, "")
		}
	}
	left := len(waiting(t, s))
	if err := handleAll(s); err != nil {
		t.Fatal(err)
	}
	r := must[*work.Record](t)(s.Find(ledger))
	handled := map[string]int{}
	doubled := 0
	for _, id := range strings.Fields(r.Title) {
		if handled[id]++; handled[id] > 1 {
			doubled++
		}
	}
	lost := 0
	for _, id := range accepted {
		if handled[id] == 0 {
			lost++
		}
	}
	t.Logf("kills %d, events %d, left to the end %d, lost %d, doubled %d", kills(t), len(accepted), left, lost, doubled)
	if lost > 0 || doubled > kills(t) {
		t.Error("events were lost, or handled too often")
	}
	checkClean(t, s)
}

// Rule 9: whatever moment a writer is killed at, the record is whole and not older
// than what the writer said.
func TestKilledWriters(t *testing.T) {
	s := newStore(t, item)
	for n := range kills(t) {
		said := killed(t, "turn", s.Dir, fmt.Sprintf("w%d", n))
		last := said[len(said)-1]
		r, err := s.Find(item)
		if errors.Is(err, ErrNotFound) {
			r, err = s.FindClosed(item)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Title != r.LastEventAt || r.Tree != r.Title {
			t.Fatalf("torn: %q %q %q", r.Title, r.LastEventAt, r.Tree)
		}
		var name string
		var have, told int
		_, _ = fmt.Sscanf(strings.Replace(r.Title, "-", " ", 1), "%s %d", &name, &have)
		_, _ = fmt.Sscanf(strings.Replace(last, "-", " ", 1), "turned %s %d", &name, &told)
		if have != told && have != told+1 {
			t.Fatalf("%q is on disk after %q", r.Title, last)
		}
	}
	checkClean(t, s)
}

// checkClean takes locks, sweeps and looks for what should not be there.
func checkClean(t *testing.T, s *Store) {
	t.Helper()
	s.LockTimeout = time.Second
	must[*work.Record](t)(s.Change(context.Background(), item, setting(work.Active)))
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	empty(t, s)
	_, bad, err := s.Live()
	_, worse, cerr := s.Closed()
	if len(bad)+len(worse) > 0 || err != nil || cerr != nil {
		t.Errorf("damaged: %v %v %v %v", bad, worse, err, cerr)
	}
	_ = filepath.WalkDir(s.Dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), "tmp") {
			t.Errorf("%s is left", path)
		}
		return err
	})
}

// A lock held too long is an error that names it; a dead holder's lock is free.
func TestLockHeldTooLong(t *testing.T) {
	s := newStore(t, item)
	c := child(t, "wait", s.Dir, "")
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if line := <-lines(t, c); line != "holding" {
		t.Fatal(line)
	}
	s.LockTimeout = 20 * time.Millisecond
	_, err = s.Change(context.Background(), item, linking(octo(16)))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "github-octo-repo-15.lock") {
		t.Errorf("change: %v", err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := s.Change(stopped, item, linking(octo(16))); !errors.Is(err, context.Canceled) {
		t.Errorf("change: %v", err)
	}
	must[*work.Record](t)(s.Find(item)) // readers take no lock
	must[*work.Record](t)(s.Change(context.Background(), ledger, creating(ledger)))
	if _, err := s.Claim(context.Background(), waiting(t, s)[0].Seq, false); !errors.Is(err, ErrClaimed) {
		t.Errorf("claim: %v", err)
	}
	_ = c.Process.Kill()
	_ = stdin.Close()
	_ = c.Wait()
	must[*work.Record](t)(s.Change(context.Background(), item, linking(octo(16))))
	must[*Ticket](t)(s.Claim(context.Background(), waiting(t, s)[0].Seq, false))
}

// Rule 37: an endpoint's lock excludes, is not the record's, and waits.
func TestEndpointLock(t *testing.T) {
	s := newStore(t, item)
	unlock, err := s.LockEndpoint(context.Background(), item)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryLockEndpoint(item); !errors.Is(err, ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	must[*work.Record](t)(s.Change(context.Background(), item, linking(octo(16))))
	other, err := s.TryLockEndpoint(octo(16))
	if err != nil {
		t.Fatal(err)
	}
	other()
	next := make(chan error)
	go func() {
		u, err := s.LockEndpoint(context.Background(), item)
		if err == nil {
			u()
		}
		next <- err
	}()
	unlock()
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// Only one waits for a harness to start, for as long as it takes: that is no lock
// that somebody forgot.
func TestStartLock(t *testing.T) {
	s := newStore(t, item)
	unlock, err := s.TryLockStart(item)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryLockStart(item); !errors.Is(err, ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	for _, lock := range []func() (func(), error){
		func() (func(), error) { return s.TryLockStart(octo(16)) },
		func() (func(), error) { return s.TryLockEndpoint(item) },
	} {
		free, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		free()
	}
	if held, err := s.Locked(); err != nil || len(held) > 0 {
		t.Errorf("held are %q, %v", held, err)
	}
	unlock()
	if unlock, err = s.TryLockStart(item); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Somebody who deletes lock files while they are held does not let two in.
func TestDeletedLockFile(t *testing.T) {
	s := newStore(t, item)
	unlock, err := s.lockRecord(context.Background(), item.Slug())
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan error)
	go func() {
		_, err := s.Change(context.Background(), item, linking(octo(16)))
		entered <- err
	}()
	if err := os.Remove(filepath.Join(s.locks(), item.Slug()+".lock")); err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := <-entered; err != nil {
		t.Error(err)
	}
}

// Rules 53 and 54: with a full disk, or where we may not write, the error says so,
// the event stays the caller's, and nothing is damaged or left.
func TestFaults(t *testing.T) {
	for role, want := range map[string]string{"small": "file too large", "nobody": "permission denied"} {
		t.Run(role, func(t *testing.T) {
			s := newStore(t, item)
			accept(t, s, "before").Release()
			before := must[[]byte](t)(os.ReadFile(s.Path(item)))
			if role == "nobody" {
				open(t, s.Dir)
			}
			var said []string
			c := child(t, role, s.Dir, "")
			for line := range lines(t, c) {
				said = append(said, line)
			}
			if err := c.Wait(); err != nil || len(said) != 2 || !strings.Contains(said[0], want) || !strings.Contains(said[1], want) {
				t.Errorf("%v: %q", err, said)
			}
			if after := must[[]byte](t)(os.ReadFile(s.Path(item))); string(after) != string(before) {
				t.Errorf("the record became\n%.200s", after)
			}
			if n := len(waiting(t, s)); n != 1 {
				t.Errorf("%d events wait", n)
			}
			_ = filepath.WalkDir(s.Dir, func(path string, _ os.DirEntry, err error) error {
				if strings.Contains(filepath.Base(path), "tmp") {
					t.Errorf("%s is left", path)
				}
				return err
			})
		})
	}
}

// open lets everybody read the state, and nobody write but its owner, who is
// root here or else has no right to write either.
func open(t *testing.T, dir string) {
	t.Helper()
	mode := os.FileMode(0o555)
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d.IsDir() {
			t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
			return errors.Join(err, os.Chmod(path, mode))
		}
		return errors.Join(err, os.Chmod(path, 0o444))
	})
}
