package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Rule 7: modes, layout, and the place that the status decides.
func TestLayout(t *testing.T) {
	s := newStore(t, item)
	s.Dir = filepath.Join(s.Dir, "deep", "er")
	must[*work.Record](t)(s.Change(context.Background(), item, creating(item)))
	for path, mode := range map[string]os.FileMode{
		"": 0o700, "local": 0o700, "local/lock": 0o700, "local/github-octo-repo-15.json": 0o600,
	} {
		fi := must[os.FileInfo](t)(os.Stat(filepath.Join(s.Dir, path)))
		if fi.Mode().Perm() != mode {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
	}
	must[*work.Record](t)(s.Change(context.Background(), item, setting(work.Closed)))
	if _, err := s.Find(item); !errors.Is(err, ErrNotFound) {
		t.Errorf("a closed record is found live: %v", err)
	}
	if got, want := s.Path(item), filepath.Join(s.Dir, "local/closed/github-octo-repo-15.json"); got != want {
		t.Errorf("it is at %s, want %s", got, want)
	}
	must[*work.Record](t)(s.FindClosed(item))
	must[*work.Record](t)(s.Change(context.Background(), item, setting(work.Active)))
	must[*work.Record](t)(s.Find(item))
	if _, err := s.FindClosed(item); !errors.Is(err, ErrNotFound) {
		t.Errorf("a live record is found closed: %v", err)
	}
}

// Rule 4: two refs with one slug each have their file, live and closed.
func TestOneSlugTwoRefs(t *testing.T) {
	a, b := work.Ref{Owner: "a-b", Repo: "c", Number: 1}, work.Ref{Owner: "a", Repo: "b-c", Number: 1}
	s := newStore(t, a, b)
	for range 2 {
		for _, ref := range []work.Ref{b, a} {
			if r := must[*work.Record](t)(s.Find(ref)); !r.Ref.Same(ref) {
				t.Errorf("%s finds %s", ref, r.Ref)
			}
			must[*work.Record](t)(s.Change(context.Background(), ref, setting(work.Closed)))
			must[*work.Record](t)(s.Change(context.Background(), ref, setting(work.Paused)))
		}
	}
	if live, bad, err := s.Live(); len(live) != 2 || len(bad) != 0 || err != nil {
		t.Errorf("live: %d, %v, %v", len(live), bad, err)
	}
}

// Rules 8 and 9: what nobody changed is not written.
func TestUnchangedIsNotWritten(t *testing.T) {
	s := newStore(t, item)
	before := must[os.FileInfo](t)(os.Stat(s.Path(item)))
	for _, fn := range []func(*work.Record) (*work.Record, error){
		func(r *work.Record) (*work.Record, error) { return r, nil },
		func(r *work.Record) (*work.Record, error) { r.Title = "x"; return nil, nil },
	} {
		r := must[*work.Record](t)(s.Change(context.Background(), item, fn))
		after := must[os.FileInfo](t)(os.Stat(s.Path(item)))
		if !os.SameFile(before, after) || r.Title != "" {
			t.Errorf("written: %q", r.Title)
		}
	}
}

// Rules 7, 8 and 10: what is not a whole record of ours is an error that names it,
// is never overwritten and never an absence.
func TestWhatCannotBeRead(t *testing.T) {
	whole := string(blank(item).Encode())
	for name, put := range map[string]func(path string) error{
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"cut":       func(p string) error { return os.WriteFile(p, []byte(whole[:len(whole)-20]), 0o600) },
		"cut last":  func(p string) error { return os.WriteFile(p, []byte(whole[:len(whole)-2]), 0o600) },
		"zeros":     func(p string) error { return os.WriteFile(p, make([]byte, len(whole)), 0o600) },
		"zeros in":  func(p string) error { return os.WriteFile(p, []byte(whole[:50]+"\x00\x00"+whole[52:]), 0o600) },
		"list":      func(p string) error { return os.WriteFile(p, []byte("[]"), 0o600) },
		"bare":      func(p string) error { return os.WriteFile(p, []byte("{\n}\n"), 0o600) },
		"latin1":    func(p string) error { return os.WriteFile(p, []byte("{\n\"\xe9\": 1,\n}\n"), 0o600) },
		"newer":     func(p string) error { return os.WriteFile(p, []byte(`{"version": 2,`+whole[1:]), 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"dangling":  func(p string) error { return os.Symlink("nowhere", p) },
		"loop":      func(p string) error { return os.Symlink(p, p) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, octo(1))
			path := filepath.Join(s.local(), "github-octo-repo-15.json")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			before, _ := readFile(path) // not os.ReadFile: it waits for a fifo
			called := false
			_, err := s.Change(context.Background(), item, func(*work.Record) (*work.Record, error) { called = true; return blank(item), nil })
			var d *DamagedError
			if called || !errors.As(err, &d) || d.Path != path || !strings.Contains(err.Error(), path) {
				t.Errorf("change: %v", err)
			}
			if _, err := s.Find(item); !errors.As(err, &d) {
				t.Errorf("find: %v", err)
			}
			if err := s.Remove(context.Background(), item); !errors.As(err, &d) {
				t.Errorf("remove: %v", err)
			}
			recs, bad, err := s.Listing(octo(7))
			if len(recs) != 0 || len(bad) != 1 || bad[0].Path != path || err != nil {
				t.Errorf("listing does not notice: %v %v %v", recs, bad, err)
			}
			live, bad, err := s.Live()
			if len(live) != 1 || len(bad) != 1 || err != nil {
				t.Errorf("live: %d, %v, %v", len(live), bad, err)
			}
			if after, _ := readFile(path); !bytes.Equal(before, after) {
				t.Errorf("it became %q", after)
			}
		})
	}
}

// A symbolic link is read through, and never turned into a copy.
func TestSymbolicLink(t *testing.T) {
	s := newStore(t, item)
	path, away := s.Path(item), filepath.Join(t.TempDir(), "r.json")
	if err := errors.Join(os.Rename(path, away), os.Symlink(away, path)); err != nil {
		t.Fatal(err)
	}
	must[*work.Record](t)(s.Find(item))
	for _, fn := range []func(*work.Record) (*work.Record, error){linking(octo(16)), setting(work.Closed)} {
		if _, err := s.Change(context.Background(), item, fn); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("change: %v", err)
		}
	}
	if fi, err := os.Lstat(path); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", fi, err)
	}
	if r := must[*work.Record](t)(work.ParseRecord(must[[]byte](t)(os.ReadFile(away)))); !r.Live() || len(r.Entries) != 0 {
		t.Error("the target changed")
	}
}

// Rule 4: a copy under another name is not believed, and damages nothing.
func TestCopies(t *testing.T) {
	s := newStore(t, item)
	must[*work.Record](t)(s.Change(context.Background(), item, linking(octo(16))))
	b := must[[]byte](t)(os.ReadFile(s.Path(item)))
	for _, name := range []string{"github-octo-repo-77.json", names(item)[1], "github-octo-repo-15 (copy).json", "notes.json", "github-octo-repo-15.json.bak"} {
		if err := os.WriteFile(filepath.Join(s.local(), name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recs, bad, err := s.Listing(octo(16))
	if len(recs) != 1 || len(bad) != 0 || err != nil {
		t.Errorf("listing: %d %v %v", len(recs), bad, err)
	}
	live, bad, err := s.Live()
	if len(live) != 1 || len(bad) != 2 || !errors.Is(bad[0], ErrStray) || !errors.Is(bad[1], ErrStray) || err != nil {
		t.Errorf("live: %d %v %v", len(live), bad, err)
	}
	if _, err := s.Find(octo(77)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a copy is believed: %v", err)
	}
	must[*work.Record](t)(s.Change(context.Background(), octo(77), creating(octo(77))))
	if got := must[[]byte](t)(os.ReadFile(filepath.Join(s.local(), "github-octo-repo-77.json"))); !bytes.Equal(got, b) {
		t.Error("the copy was overwritten")
	}
	must[*work.Record](t)(s.Find(octo(77)))
}

// Rules 9 and 13: a file among the live ones whose status is closed is closed, and
// the next change moves it. A closed file that it replaces gives it what it has.
func TestHalfClosed(t *testing.T) {
	s := newStore(t, item)
	old := blank(item)
	old.Status, old.HarnessSessionID, old.FormerSessionIDs = work.Closed, "old", []string{"older"}
	old.Entries = []work.Entry{{Session: &work.Session{Ref: octo(16)}}, {Raw: []byte("7")}}
	now := blank(item)
	now.Status, now.HarnessSessionID, now.FormerSessionIDs = work.Closed, "new", []string{"former"}
	now.Entries = []work.Entry{{Session: &work.Session{Ref: octo(17)}}}
	if err := errors.Join(os.Mkdir(s.closed(), 0o700),
		os.WriteFile(filepath.Join(s.closed(), names(item)[0]), old.Encode(), 0o600),
		os.WriteFile(filepath.Join(s.local(), names(item)[0]), now.Encode(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(item); !errors.Is(err, ErrNotFound) {
		t.Errorf("find: %v", err)
	}
	if r := must[*work.Record](t)(s.FindClosed(item)); r.HarnessSessionID != "new" {
		t.Errorf("found %q", r.HarnessSessionID)
	}
	if recs, _, _ := s.Listing(octo(17)); len(recs) != 0 {
		t.Error("it is listed")
	}
	must[*work.Record](t)(s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) { return nil, nil }))
	r := must[*work.Record](t)(s.FindClosed(item))
	if filepath.Dir(s.Path(item)) != s.closed() || r.PullRequest(octo(16)) == nil || r.PullRequest(octo(17)) == nil || len(r.Damaged()) != 1 ||
		strings.Join(r.FormerSessionIDs, " ") != "older old former" || r.HarnessSessionID != "new" {
		t.Errorf("%s holds\n%s", s.Path(item), r.Encode())
	}
}

// Rule 8: a record of the-loop, with what it does not say, is used without loss.
func TestRecordOfTheLoop(t *testing.T) {
	s := newStore(t, octo(1))
	text := `{
  "workItem": {"ref": "github:Octo/Repo#15"},
  "harness": "claude", "harnessSessionId": "", "cwd": "/w", "status": "running",
  "extra": [1.0, {"a": "\u00e9"}],
  "pullRequests": [{"workItem": {"ref": "github:octo/repo#16"}, "status": "running", "more": 1e3}]
}`
	if err := os.WriteFile(filepath.Join(s.local(), names(item)[0]), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	must[*work.Record](t)(s.Change(context.Background(), item, linking(octo(17))))
	b := string(must[[]byte](t)(os.ReadFile(s.Path(item))))
	for _, keep := range []string{`"extra": [1.0, {"a": "\u00e9"}]`, `"more": 1e3`, `"github:Octo/Repo#15"`, `"running"`, `repo#17"`} {
		if !strings.Contains(b, keep) {
			t.Errorf("%s is gone from\n%s", keep, b)
		}
	}
}

// A record that could not be read back is never written.
func TestRefusesToWrite(t *testing.T) {
	s := newStore(t, item)
	for name, spoil := range map[string]func(*work.Record){
		"ref": func(r *work.Record) { r.Ref.Number = 3 }, "cwd": func(r *work.Record) { r.Cwd = "" }, "harness": func(r *work.Record) { r.Harness = "" },
	} {
		if _, err := s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) { spoil(r); return r, nil }); err == nil {
			t.Errorf("written without its %s", name)
		}
	}
	long := work.Ref{Owner: strings.Repeat("a", 300), Repo: "r", Number: 1}
	if _, err := s.Find(long); !errors.Is(err, ErrNotFound) {
		t.Errorf("a name that no file can have: %v", err)
	}
	if _, err := s.Change(context.Background(), long, creating(long)); err == nil {
		t.Error("written under a name that no file can have")
	}
}

func TestRemove(t *testing.T) {
	s := newStore(t, item)
	must[*work.Record](t)(s.Change(context.Background(), item, setting(work.Closed)))
	if err := s.Remove(context.Background(), item); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(context.Background(), item); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}
