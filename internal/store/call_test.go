package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Rule 53, with strace: a process is killed at, or the disk fails, each system call
// that matters, in turn. Whatever it is, an event that was accepted is kept until
// the work is done, one that was refused is not, and the record is whole.
func TestEachSystemCall(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil || os.Getenv("GH_LOOP_KILLS") == "" {
		t.Skip("needs strace and GH_LOOP_KILLS")
	}
	runs, hits := 0, 0
	for _, call := range []string{"openat", "flock", "write", "fsync", "linkat", "unlinkat", "renameat", "close", "mkdirat"} {
		for _, fault := range []string{"signal=KILL", "error=ENOSPC", "error=EIO"} {
			if strings.HasPrefix(fault, "error") && (call == "close" || call == "unlinkat" || call == "flock") {
				continue // these do not fail so, and leave what a kill leaves
			}
			for when := 1; when <= 12; when++ {
				runs++
				if faultAt(t, call, fault, when) {
					hits++
				}
			}
		}
	}
	t.Logf("%d runs, of which %d were hit", runs, hits)
}

// faultAt runs one event and two changes with a fault, and says whether it hit.
func faultAt(t *testing.T, call, fault string, when int) bool {
	t.Helper()
	s := newStore(t, item)
	role := child(t, "once", s.Dir, "x")
	c := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-P", s.Dir, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, when), role.Path)
	if call != "openat" && call != "mkdirat" { // else a path filter keeps the fault out of the run-time
		c.Args = append(c.Args[:5], c.Args[7:]...)
	}
	c.Env = append(role.Env, "GOMAXPROCS=1")
	out, err := c.Output()
	accepted, turned := strings.HasPrefix(string(out), "accepted\n"), strings.Contains(string(out), "turned")
	n := len(waiting(t, s))
	what := fmt.Sprintf("%s %s %d: %q", call, fault, when, out)
	switch {
	case err == nil && n != 0, err != nil && accepted && !turned && n != 1, !accepted && fault != "signal=KILL" && n != 0:
		t.Errorf("%s: %d events wait", what, n)
	case n == 1:
		tk := must[*Ticket](t)(s.Claim(context.Background(), waiting(t, s)[0].Seq, false))
		if string(tk.Body) != string(body("x")) {
			t.Errorf("%s: the event became %q", what, tk.Body)
		}
		if err := tk.Done(); err != nil {
			t.Error(err)
		}
	}
	r, err2 := s.Find(item)
	if errors.Is(err2, ErrNotFound) {
		r, err2 = s.FindClosed(item)
	}
	if err2 != nil || r.Title != r.Tree || turned && r.Title != "x-1" || r.Title == "" && r.Status == work.Closed {
		t.Errorf("%s: %+v, %v", what, r, err2)
	}
	checkClean(t, s)
	return err != nil
}
