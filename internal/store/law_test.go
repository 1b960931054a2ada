package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gh-loop/gh-loop/internal/work"
)

// twin and its sibling share a slug (rule 4).
var lawRefs = []work.Ref{octo(15), octo(16), {Owner: "a-b", Repo: "c", Number: 1}, {Owner: "a", Repo: "b-c", Number: 1}}

// model is a record as memory keeps it.
type model struct {
	status work.Status
	prs    []int
	ids    []string // conversations, the present one last
}

// describe is a record in the model's words.
func describe(r *work.Record) string {
	m := model{status: r.Status, ids: append(slices.Clone(r.FormerSessionIDs), r.HarnessSessionID)}
	for _, p := range r.PullRequests() {
		m.prs = append(m.prs, int(p.Ref.Number))
	}
	return fmt.Sprint(m)
}

// Rules 4, 7 to 9, 12 and 13: any sequence of operations, by either of two stores on
// one directory and with leftovers of crashes in between, does to the files what
// it does to a model in memory.
func TestStoreAgreesWithModel(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		stores := []*Store{{Dir: dir}, {Dir: dir}}
		state := map[string]*model{}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s := rapid.SampledFrom(stores).Draw(rt, "store")
			ref := rapid.SampledFrom(lawRefs).Draw(rt, "ref")
			step(rt, s, state, ref)
			agree(rt, s, state)
		}
	})
}

func step(t *rapid.T, s *Store, state map[string]*model, ref work.Ref) {
	m := state[ref.Key()]
	op := rapid.SampledFrom([]string{"start", "link", "close", "half-close", "pause", "remove", "leftover", "nothing"}).Draw(t, "op")
	n := rapid.IntRange(100, 104).Draw(t, "n")
	_, err := s.Change(context.Background(), ref, func(r *work.Record) (*work.Record, error) {
		if (r == nil) != (m == nil) {
			t.Fatalf("%s: record %v, model %v", ref, r, m)
		}
		id := fmt.Sprintf("c%d", n)
		switch {
		case op == "start" && r == nil:
			r = blank(ref)
			r.HarnessSessionID = id
			state[ref.Key()] = &model{status: work.Active, ids: []string{id}}
			return r, nil
		case op == "start":
			r.Status, m.status = work.Active, work.Active
			if !slices.Contains(m.ids, id) {
				m.ids = append(m.ids, id)
				r.SetConversation(id)
			}
			return r, nil
		case op == "link" && r != nil:
			if !slices.Contains(m.prs, n) {
				m.prs = append(m.prs, n)
			}
			return linking(octo(n))(r)
		case op == "close" && r != nil:
			m.status = work.Closed
			return setting(work.Closed)(r)
		case op == "pause" && r != nil:
			m.status = work.Paused
			return setting(work.Paused)(r)
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(op, err)
	}
	switch path := s.Path(ref); {
	case op == "remove":
		if err := s.Remove(context.Background(), ref); m == nil != errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		delete(state, ref.Key())
	case op == "half-close" && m != nil && m.status != work.Closed: // killed between write and move
		r, err := s.Find(ref)
		if err != nil {
			t.Fatal(err)
		}
		r.Status, m.status = work.Closed, work.Closed
		if err := replace(path, s.temp(path), r.Encode()); err != nil {
			t.Fatal(err)
		}
	case op == "leftover" && m != nil:
		if err := os.WriteFile(s.temp(path), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// agree compares every way of looking at the store with the model.
func agree(t *rapid.T, s *Store, state map[string]*model) {
	live, bad, err := s.Live()
	closed, worse, cerr := s.Closed()
	if err := errors.Join(err, cerr); err != nil || len(bad)+len(worse) > 0 {
		t.Fatal(err, bad, worse)
	}
	if len(live)+len(closed) != len(state) {
		t.Fatalf("%d live and %d closed, want %d", len(live), len(closed), len(state))
	}
	for _, ref := range lawRefs {
		r, err := s.Find(ref)
		c, cerr := s.FindClosed(ref)
		m := state[ref.Key()]
		switch {
		case m == nil:
			if !errors.Is(err, ErrNotFound) || !errors.Is(cerr, ErrNotFound) {
				t.Fatalf("%s is there: %v %v", ref, err, cerr)
			}
		case m.status == work.Closed:
			if !errors.Is(err, ErrNotFound) || cerr != nil || describe(c) != fmt.Sprint(*m) {
				t.Fatalf("%s: %v, %v, want %v", ref, err, cerr, m)
			}
		case err != nil || !errors.Is(cerr, ErrNotFound) || describe(r) != fmt.Sprint(*m):
			t.Fatalf("%s: %v, %v, want %v", ref, err, cerr, m)
		}
	}
	for n := 100; n < 105; n++ {
		recs, _, err := s.Listing(work.Ref{Owner: "OCTO", Repo: "repo", Number: int64(n)})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, m := range state {
			if m.status != work.Closed && slices.Contains(m.prs, n) {
				want++
			}
		}
		if len(recs) != want {
			t.Fatalf("%d records list #%d, want %d", len(recs), n, want)
		}
	}
}

// Rule 9: changes of one record by many at once, closing and reopening among
// them, all happen, and a reader always finds the record whole in one of its places.
func TestInterleaved(t *testing.T) {
	s := newStore(t, item)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := &Store{Dir: s.Dir}
			for n := range 15 {
				_, err := mine.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) {
					r.Status = []work.Status{work.Active, work.Closed}[(w+n)%2]
					return linking(octo(100*(w+1) + n))(r)
				})
				if err != nil {
					t.Error(err)
				}
				if _, err := mine.Find(item); err != nil && !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
				if _, bad, err := mine.Live(); err != nil || len(bad) > 0 {
					t.Error(bad, err)
				}
			}
		}()
	}
	wg.Wait()
	r := must[*work.Record](t)(s.Change(context.Background(), item, setting(work.Active)))
	if len(r.Entries) != 60 {
		t.Errorf("%d entries", len(r.Entries))
	}
	if _, err := s.FindClosed(item); !errors.Is(err, ErrNotFound) {
		t.Error("it is in both places")
	}
}

// A needle says yes for every way of writing the ref that a record can be read
// from, and no for other refs in plain text.
func TestNeedle(t *testing.T) {
	n := newNeedle(octo(16))
	for text, want := range map[string]bool{
		`{"ref": "github:octo/repo#16"}`: true, `{"ref": "github:OCTO/Repo#16"}`: true, `{"ref": " github:octo/repo#16 "}`: true,
		`{"ref": "github:octo/repo#0016"}`: true, `{"ref": "github:github.com/octo/repo#16"}`: true, `{"ref": "github:octo\/repo#16"}`: true,
		`{"ref": "github:octo/repo\u002316"}`: true, `{"ref": "github:\u006Fcto/repo#16"}`: true, `{"t": "\\\u0023"}`: true,
		`{"ref": "github:octo/repo#160"}`: false, `{"ref": "github:octo/repo#1"}`: false, `{"ref": "github:other/repo#16"}`: false,
		`{"t": "\u00e9 \\u0023 \n \" "}`: false, `#16`: false, ``: false, `\`: false, `{"ref": "github:octo/repo#160", "b": "github:octo/repo#16"}`: true,
	} {
		if got := n.in([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	enterprise := newNeedle(work.Ref{Host: "ghe.example.com", Owner: "octo", Repo: "repo", Number: 16})
	if !enterprise.in([]byte(`"github:GHE.example.com/octo/repo#16"`)) || enterprise.in([]byte(`"github:octo/repo#16"`)) {
		t.Error("hosts are confused")
	}
}

// Rule 10: a file that lost its end anywhere is noticed, though it is not parsed.
func TestSoundNoticesEveryCut(t *testing.T) {
	r := blank(item)
	for n := range 3 {
		_, _ = r.Link(&work.Session{Ref: octo(20 + n), Head: &work.Head{Branch: "x"}, Tmux: &work.Handle{Pane: "%1"}})
	}
	whole := r.Encode()
	if err := sound(whole); err != nil {
		t.Error(err)
	}
	for n := range len(whole) - 1 {
		if sound(whole[:n]) == nil {
			t.Errorf("a cut after %d of %d bytes is not noticed", n, len(whole))
		}
	}
	if err := sound([]byte(strings.Join(strings.Fields(string(whole)), ""))); err != nil {
		t.Errorf("compact JSON: %v", err)
	}
}

// Portable facts keep what they do not know, and what nobody changed is not written.
func TestPortable(t *testing.T) {
	s := newStore(t)
	if f, err := s.Portable(item); err != nil || !f.Ref.Same(item) || f.Control != nil {
		t.Errorf("%+v, %v", f, err)
	}
	path := filepath.Join(s.portable(), "github-octo-repo-15.json")
	set := func(word string) func(*Facts) error {
		return func(f *Facts) error { f.Control = &Control{Word: word, By: "octocat"}; return nil }
	}
	must[Facts](t)(s.ChangePortable(context.Background(), item, func(*Facts) error { return nil }))
	if !absent(path) {
		t.Error("nothing was written down")
	}
	must[Facts](t)(s.ChangePortable(context.Background(), item, set("start")))
	text := `{"ref": "github:octo/repo#15", "future": {"a": [1.0]}, "read": {"comments": 7}, "control": {"word": "stop"}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	must[Facts](t)(s.ChangePortable(context.Background(), item, set("pause")))
	f := must[Facts](t)(s.Portable(item))
	b := string(must[[]byte](t)(os.ReadFile(path)))
	if f.Control.Word != "pause" || string(f.Read["comments"]) != "7" || !strings.Contains(strings.Join(strings.Fields(b), ""), `"future":{"a":[1.0]}`) {
		t.Errorf("facts became %s", b)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var d *DamagedError
	if _, err := s.ChangePortable(context.Background(), item, set("x")); !errors.As(err, &d) || d.Path != path {
		t.Error(err)
	}
}
