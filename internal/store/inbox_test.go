package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

func accept(t testing.TB, s *Store, id string) *Ticket {
	t.Helper()
	return must[*Ticket](t)(s.Accept(context.Background(), "issue_comment", id, body(id), time.UnixMilli(1)))
}

func waiting(t testing.TB, s *Store) []Entry {
	t.Helper()
	return must[[]Entry](t)(s.Waiting())
}

// empty fails if anything but directories is left in the inbox.
func empty(t testing.TB, s *Store) {
	t.Helper()
	for _, name := range must[[]string](t)(listDir(s.inbox())) {
		if name != "poison" && name != "." && name != ".." {
			t.Errorf("%s is left in the inbox", name)
		}
	}
}

// Rule 53: an event is on disk until it is done, is one process's at a time, and
// keeps its place whatever happens to it.
func TestInbox(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	first, second := accept(t, s, "a"), accept(t, s, "b")
	if w := waiting(t, s); len(w) != 2 || w[0].Seq != first.Seq || w[1].Seq != second.Seq {
		t.Fatalf("waiting: %+v", w)
	}
	if _, err := s.Claim(ctx, first.Seq, false); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed twice: %v", err)
	}
	impatient := &Store{Dir: s.Dir, LockTimeout: time.Millisecond}
	if _, err := impatient.Claim(ctx, first.Seq, true); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed twice: %v", err)
	}
	held := Held{Reason: "harness-waiting", Items: []work.Ref{item}, Endpoints: []work.Ref{octo(16)}, At: "2026-08-07T10:41:55Z"}
	if err := first.Hold(held); err != nil {
		t.Fatal(err)
	}
	if w := waiting(t, s); !reflect.DeepEqual(w[0].Held, held) {
		t.Errorf("held: %+v", w[0].Held)
	}
	again := must[*Ticket](t)(s.Claim(ctx, first.Seq, true))
	if string(again.Body) != string(body("a")) || again.Name != "issue_comment" || again.Delivery != "a" || !again.At.Equal(first.At) || !reflect.DeepEqual(again.Held, held) {
		t.Errorf("came back as %+v", again)
	}
	for _, tk := range []*Ticket{again, second} {
		if err := tk.Done(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Claim(ctx, first.Seq, true); !errors.Is(err, ErrNotFound) {
		t.Errorf("done and there: %v", err)
	}
	empty(t, s)
}

// An event that its process did not survive five times is set aside, and kept.
func TestPoison(t *testing.T) {
	s := newStore(t)
	for range 2 {
		tk := accept(t, s, "p")
		for range MaxTries {
			must[int](t)(tk.Try())
			tk.Release()
			tk = must[*Ticket](t)(s.Claim(context.Background(), tk.Seq, false))
		}
		if n := must[int](t)(tk.Try()); n <= MaxTries {
			t.Fatalf("try %d", n)
		}
		if err := tk.SetAside(); err != nil {
			t.Fatal(err)
		}
	}
	empty(t, s)
	p := must[[]Entry](t)(s.Poisoned())
	if len(p) != 2 || p[0].Held.Tries != MaxTries+1 || p[0].Path == p[1].Path {
		t.Errorf("poisoned: %+v", p)
	}
}

// A file that cannot be read is set aside whole; what is not ours is left alone.
func TestInboxDamage(t *testing.T) {
	s := newStore(t)
	tk := accept(t, s, "x")
	tk.Release()
	cut := must[[]byte](t)(os.ReadFile(s.event(tk.Seq)))[:40]
	other := filepath.Join(s.inbox(), "notes.txt")
	if err := errors.Join(os.WriteFile(s.event(tk.Seq), cut, 0o600), os.WriteFile(other, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Claim(context.Background(), tk.Seq, false)
	var d *DamagedError
	if !errors.As(err, &d) || filepath.Dir(d.Path) != s.poison() {
		t.Fatal(err)
	}
	if got := must[[]byte](t)(os.ReadFile(d.Path)); string(got) != string(cut) {
		t.Errorf("set aside as %q", got)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// What killed writers leave is swept; what living ones work on is not.
func TestSweep(t *testing.T) {
	s := newStore(t, item)
	tk := accept(t, s, "mine")
	tmp, claim, err := s.claimedTemp(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	dead := []string{
		filepath.Join(s.inbox(), ".accept-1.tmp"), filepath.Join(s.inbox(), "0000000000000009.held.json"),
		filepath.Join(s.inbox(), ".0000000000000009.held.json.tmp"), s.temp("github-octo-repo-15.json"), s.temp(names(item)[1]),
		filepath.Join(s.portable(), ".github-octo-repo-15.json.tmp"),
	}
	foreign := filepath.Join(s.local(), ".notes.tmp")
	if err := os.Mkdir(s.portable(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(dead, foreign) {
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := s.lockRecord(context.Background(), item.Slug())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if absent(dead[3]) || absent(tmp) {
		t.Error("a living writer's file was swept")
	}
	unlock()
	if err := errors.Join(s.Sweep(), tk.Done(), claim.Unlock(), s.Sweep()); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(dead, tmp) {
		if !absent(path) {
			t.Errorf("%s is left", path)
		}
	}
	if absent(foreign) {
		t.Error("somebody else's file is gone")
	}
	empty(t, s)
}

// A number is not used again while anything is known about its former event.
func TestNoInheritedNotes(t *testing.T) {
	s := newStore(t)
	tk := accept(t, s, "a")
	if err := errors.Join(tk.Hold(Held{Tries: 4}), os.Remove(s.event(tk.Seq))); err != nil {
		t.Fatal(err)
	}
	if b := accept(t, s, "b"); b.Seq == tk.Seq || b.Held.Tries != 0 {
		t.Errorf("event %d begins with %+v", b.Seq, b.Held)
	}
}

// 25 MB, no JSON, nothing at all, JSON as deep as it gets: what comes back is what came.
func TestBodies(t *testing.T) {
	s := newStore(t)
	for name, b := range map[string]string{
		"empty": "", "text": "no JSON \x00\xff", "number": "1", "spaced": ` {"a" :  1.50e1}`, "null": "null",
		"deep": strings.Repeat("[", 10000) + strings.Repeat("]", 10000), "large": `"` + strings.Repeat("x", large) + `"`,
	} {
		tk := must[*Ticket](t)(s.Accept(context.Background(), "push", name, []byte(b), time.Now()))
		tk.Release()
		back := must[*Ticket](t)(s.Claim(context.Background(), tk.Seq, false))
		if string(back.Body) != strings.TrimSpace(b) && string(back.Body) != b {
			t.Errorf("%s came back as %.80q", name, back.Body)
		}
		if err := back.Done(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzInbox(f *testing.F) {
	f.Add("push", "d-1", []byte(`{"a": 1}`))
	f.Add("\x00\xff", "\u2028\n", []byte("\xff"))
	f.Add("", "", []byte(" [1]\r\n"))
	s := newStore(f)
	f.Fuzz(func(t *testing.T, name, delivery string, b []byte) {
		path := filepath.Join(s.Dir, "e.json")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), writeEvent(path, name, delivery, b, time.UnixMilli(7))); err != nil {
			t.Fatal(err)
		}
		tk, err := readEvent(must[[]byte](t)(os.ReadFile(path)))
		if err != nil {
			t.Fatal(err)
		}
		if tk.Name != strings.ToValidUTF8(name, "\ufffd") && len(tk.Name) < len(name) || !tk.At.Equal(time.UnixMilli(7)) {
			t.Errorf("%q came back as %q, %v", name, tk.Name, tk.At)
		}
		if got := string(tk.Body); got != string(b) && got != strings.Trim(string(b), " \t\r\n") {
			t.Errorf("%q came back as %q", b, got)
		}
		_, _ = readEvent(b) // never panics
	})
}
