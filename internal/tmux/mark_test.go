package tmux

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// Rule 51: a harness that asks is not typed at, and who waits longest is known.
func TestMark(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-a")
		began := time.UnixMilli(1_800_000_000_123)
		m := Mark{Pane: p.Pane, Ref: p.Ref, State: "waiting", At: began, Clients: true}
		mark := func(m Mark) Marked {
			t.Helper()
			got, err := s.Mark(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := mark(m)
		if got.Was != "running" || !m.New(got) || got.Ref != p.Ref || got.Item != p.Item || got.Token != p.Token || got.TTY == "" || len(got.Clients) > 0 {
			t.Errorf("%+v", got)
		}
		m.At = began.Add(time.Minute)
		if got := mark(m); m.New(got) {
			t.Error("it waits since before")
		}
		if now := state(t, s, p.Target(), Live); now.State != "waiting" || !now.Since.Equal(began) {
			t.Errorf("%s since %v", now.State, now.Since)
		}
		deliver(t, s, paste(p, "no", "~n~"), Refused)
		notes(t, file, "")
		noBuffers(t, s)
		m.State = "idle"
		mark(m)
		d := paste(p, "yes", "~y~")
		d.Delivery = "d-1 #(touch x)\n\t;"
		deliver(t, s, d, Delivered)
		notes(t, file, wrapped("yes~y~"))
	})
}

// A delivery that the harness says was submitted is told apart, once, and by
// its nonce where the prompt is known.
func TestMarkSettled(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		submit := func(nonce string) string {
			t.Helper()
			got, err := s.Mark(t.Context(), Mark{Pane: p.Pane, Ref: p.Ref, State: "running", At: time.Now(), Settled: true, Nonce: nonce})
			if err != nil {
				t.Fatal(err)
			}
			return got.Said
		}
		d := paste(p, "one", "abc")
		d.Delivery = "d-1 #(touch x)\n\t;"
		deliver(t, s, d, Delivered)
		if got := submit("def"); got != "" {
			t.Errorf("another prompt confirmed %q", got)
		}
		if got := submit("#{@x}"); got != "" {
			t.Errorf("a hostile nonce confirmed %q", got)
		}
		if got := submit("abc"); got != "d-1 #(touch x) ;" {
			t.Errorf("confirmed %q", got)
		}
		if got := submit("abc"); got != "" {
			t.Errorf("confirmed twice: %q", got)
		}
		d.Delivery = "d-2"
		deliver(t, s, d, Delivered)
		if got := submit(""); got != "d-2" {
			t.Errorf("confirmed %q", got)
		}
	})
}

// Of several questions at once each is answered for itself: the pane waits until
// the last one is, or until the harness says that all is over.
func TestMarkQuestions(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		for i, c := range []struct{ state, asks, answers, now string }{
			{"waiting", "aaaaaaaa", "", "waiting"}, {"waiting", "bbbbbbbb", "", "waiting"}, {"waiting", "aaaaaaaa", "", "waiting"},
			{"waiting", "", "", "waiting"}, {"running", "", "cccccccc", "waiting"}, {"running", "", "bbbbbbbb", "waiting"},
			{"running", "", "aaaaaaaa", "running"}, {"running", "", "aaaaaaaa", "running"},
			{"waiting", "", "", "waiting"}, {"running", "", "dddddddd", "running"},
			{"waiting", "aaaaaaaa", "", "waiting"}, {"idle", "", "", "idle"}, {"waiting", "bbbbbbbb", "", "waiting"}, {"running", "", "bbbbbbbb", "running"},
		} {
			m := Mark{Pane: p.Pane, Ref: p.Ref, State: c.state, Asks: c.asks, Answers: c.answers, At: time.UnixMilli(1_800_000_000_000 + int64(i))}
			got, err := s.Mark(t.Context(), m)
			if err != nil || got.Now != c.now || m.New(got) != (got.Was != c.now) {
				t.Fatalf("%d, %+v: %+v, %v", i, c, got, err)
			}
		}
	})
}

func TestMarkNobodysPane(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-a")
		other := run(t, s, "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", p.Pane, "sleep 1000")
		for _, m := range []Mark{{Pane: other, Ref: p.Ref}, {Pane: other}, {Pane: p.Pane, Ref: "github:octo/repo#16"}, {Pane: "%999", Ref: p.Ref}, {Pane: ""}, {Pane: "x;y"}} {
			m.State, m.At = "waiting", time.Now()
			if _, err := s.Mark(t.Context(), m); !errors.Is(err, ErrNotOurs) {
				t.Errorf("%+v: %v", m, err)
			}
		}
		if now := state(t, s, p.Target(), Live); now.State != "running" {
			t.Error(now.State)
		}
		// A registered pane's state is its own: its session is the user's.
		claimed, err := s.Claim(t.Context(), other, Spawn{Ref: "github:octo/repo#20", Item: "github:octo/repo#20", Role: "item", Token: Token()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Mark(t.Context(), Mark{Pane: other, State: "waiting", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		panes, err := s.Panes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []struct{ pane, state string }{{claimed.Pane, "waiting"}, {p.Pane, "running"}} {
			if !slices.ContainsFunc(panes, func(p Pane) bool { return p.Pane == want.pane && p.State == want.state }) {
				t.Errorf("%+v: %+v", want, panes)
			}
		}
	})
}
