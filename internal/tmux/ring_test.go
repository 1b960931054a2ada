package tmux

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// sessions makes plain sessions with ours' options and gives their ids.
func sessions(t testing.TB, s Server, n int) (Identity, []string) {
	t.Helper()
	if err := s.makeHome(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range n {
		out, err := exec.Command(s.bin(), "-u", "-S", s.Socket, "-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{session_id}",
			"-s", fmt.Sprintf("s%d", i), "--", "sleep", "1000").Output()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, strings.TrimSpace(string(out)))
	}
	panes, err := s.Panes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return panes[0].Identity, ids
}

func ringOf(id Identity, ids []string) Ring {
	r := Ring{Identity: id}
	for i, session := range ids {
		m := Member{Session: session, Name: fmt.Sprintf("#%d", i), Next: ids[(i+1)%len(ids)], Prev: ids[(i+len(ids)-1)%len(ids)]}
		if i > 0 {
			m.Parent = ids[0]
		}
		r.Members = append(r.Members, m)
	}
	return r
}

func option(t *testing.T, s Server, session, format string) string {
	t.Helper()
	return run(t, s, "display-message", "-p", "-t", session+":", format)
}

func TestRing(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		id, ids := sessions(t, s, 5)
		own, stranger := ids[:4], ids[4]
		run(t, s, "set-option", "-t", stranger+":", "@loop_state", "waiting") // of another item
		r := ringOf(id, own)
		r.Gone = 1
		r.Members[1].State, r.Members[2].State, r.Members[3].State, r.Members[3].Closed = "waiting", "waiting", "dead", true
		evil := "#(touch /tmp/x) $(id) ${HOME} \"'`~\\;,} #{pid} #[fg=x] -\x1b\a\u0085 é漢\n;"
		r.Members[2].Title = evil
		if err := s.SetRings(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		for i := range own {
			if got := option(t, s, own[i], "#{@loop_waiting} #{@loop_dead}"); got != "2 1" {
				t.Errorf("session %d says %q", i, got)
			}
		}
		if got := option(t, s, own[1], "#{@loop_next} #{@loop_prev} #{@loop_parent}"); got != own[2]+" "+own[0]+" "+own[0] {
			t.Errorf("the ring is %q", got)
		}
		if got := option(t, s, stranger, "#{@loop_next}#{@loop_waiting}"); got != "" {
			t.Errorf("a stranger's session was told %q", got)
		}
		if got, want := option(t, s, own[2], "#{@loop_title}"), "##(touch /tmp/x) $(id) ${HOME} \"'`~\\;,} ##{pid} ##[fg=x] - é漢 ;"; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
		if got := run(t, s, "show-options", "-g"); strings.Contains(got, "@loop") {
			t.Errorf("global options are left: %s", got)
		}

		// What nobody waits for is not said, and what is gone is passed over.
		run(t, s, "kill-session", "-t", own[3])
		r.Gone, r.Members[1].State, r.Members[2].State = 0, "idle", "running"
		if err := s.SetRings(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := option(t, s, own[0], "#{@loop_waiting} #{@loop_dead}"); got != "0 0" {
			t.Errorf("nobody waits, and it says %q", got)
		}

		// Another server's ring with the same ids changes nothing.
		r.Identity.Start++
		r.Members[0].Next = "$77"
		if err := s.SetRings(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := option(t, s, own[0], "#{@loop_next}"); got != own[1] {
			t.Errorf("another server's ring was taken: %q", got)
		}
	})
}

func TestRingIsOneFastProcess(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		id, ids := sessions(t, s, 21)
		counted := s
		log := t.TempDir() + "/calls"
		counted.Bin = fake(t, `echo x >>`+log+`; exec `+s.bin()+` "$@"`)
		r := ringOf(id, ids)
		for i := range r.Members {
			r.Members[i].Title = strings.Repeat("a long title ", 8)
		}
		if err := counted.SetRings(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(read(log), "x"); n != 1 {
			t.Errorf("%d tmux processes", n)
		}
		for i := range ids {
			if got := option(t, s, ids[i], "#{@loop_next}"); got != ids[(i+1)%len(ids)] {
				t.Errorf("session %d leads to %q", i, got)
			}
		}
	})
}

// BenchmarkRing is an item with 20 pull requests: a refresh that finds nothing
// new, one after a pull request came or went, and one in which every session
// has another title; beside a call that asks tmux for nothing.
func BenchmarkRing(b *testing.B) {
	s := fresh(b, "tmux")
	id, ids := sessions(b, s, 21)
	set := func(r Ring) {
		if err := s.SetRings(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	whole, less := ringOf(id, ids), ringOf(id, ids[:20])
	b.Run("tmux-alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Run(b.Context(), nil, "display-message", "-p", "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("nothing-new", func(b *testing.B) {
		set(whole)
		for b.Loop() {
			set(whole)
		}
	})
	b.Run("one-came-or-went", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			set([]Ring{whole, less}[i%2])
		}
	})
	b.Run("all-new", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			for j := range whole.Members {
				whole.Members[j].Title = fmt.Sprintf("a title of this length %d", i)
			}
			set(whole)
		}
	})
}
