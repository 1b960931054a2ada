package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func paste(p Pane, text, nonce string) Paste {
	return Paste{Target: p.Target(), Text: text + nonce, Nonce: nonce, Bracketed: true, Delay: 60 * time.Millisecond, Patience: 5 * time.Second}
}

func deliver(t *testing.T, s Server, p Paste, want Verdict) {
	t.Helper()
	got, err := s.Deliver(t.Context(), p)
	if err != nil || got != want {
		t.Fatalf("verdict %q, %v, want %q", got, err, want)
	}
	noBuffers(t, s)
}

func wrapped(text string) string { return "\x1b[200~" + text + "\x1b[201~\r" }

func TestDeliver(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-d")
		deliver(t, s, paste(p, "one\ntwo\tthree\\n é 漢 \\; #{pid} $HOME\n", "~n1~"), Delivered)
		want := wrapped("one\ntwo\tthree\\n é 漢 \\; #{pid} $HOME\n~n1~")
		notes(t, file, want)
		every := make([]byte, 0, 600)
		for b := range 256 {
			every = append(every, byte(b))
		}
		for r := rune(0x80); r < 0x120; r++ {
			every = append(every, string(r)...)
		}
		hostile := string(every) + "\x1b[201~\r\nrm -rf\r\u009b201~"
		deliver(t, s, paste(p, hostile, "~n2~"), Delivered)
		cleaned := clean(hostile)
		if strings.ContainsAny(cleaned, "\x1b\r\x7f\u009b") {
			t.Error("a control character is left (rule 48)")
		}
		notes(t, file, want+wrapped(cleaned+"~n2~"))
		byToken := paste(p, "three", "~n3~")
		byToken.Target = Target{Token: p.Token}
		deliver(t, s, byToken, Delivered)
		notes(t, file, want+wrapped(cleaned+"~n2~")+wrapped("three~n3~"))
	})
}

func TestDeliverLarge(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-l")
		text := strings.Repeat("0123456789 abcdef\n", 1<<20/18)
		deliver(t, s, paste(p, text, "~end~"), Delivered)
		notes(t, file, wrapped(text+"~end~"))
	})
}

func TestDeliverPlain(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, file := request(t, "loop-p", "plain")
		sp.Ready = 0
		made := spawn(t, s, sp)
		until(t, "it reads", func() bool {
			text, err := s.Capture(t.Context(), made.Target(), 0, false)
			return err == nil && strings.Contains(text, "hello")
		})
		p := paste(made.Pane, "a line \\; é ", "~n~")
		p.Bracketed = false
		deliver(t, s, p, Delivered)
		notes(t, file, "a line \\; é ~n~\r")
		p.Text = "two\nlines"
		var failed *DeliverError
		if _, err := s.Deliver(t.Context(), p); !errors.As(err, &failed) || failed.MayBePasted {
			t.Errorf("two lines: %v", err)
		}
		p.Text = "front ~n~"
		p.Front = "some,{other}#program"
		deliver(t, s, p, Refused) // rule 50
		p.Front = state(t, s, p.Target, Live).Command
		deliver(t, s, p, Delivered)
		run(t, s, "copy-mode", "-t", made.Pane.Pane)
		deliver(t, s, p, Refused)
		notes(t, file, "a line \\; é ~n~\rfront ~n~\r")
	})
}

func TestDeliverFrontOfAnyName(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-f")
		name := "a,b}c#{d}#e"
		program := sp.Dir + "/" + name
		if err := os.Symlink("/bin/sleep", program); err != nil {
			t.Fatal(err)
		}
		sp.Argv, sp.Ready = []string{program, "1000"}, 0
		made := spawn(t, s, sp)
		until(t, "it is in front", func() bool { return state(t, s, made.Target(), Live).Command == name })
		p := paste(made.Pane, "x", "")
		p.NoLook, p.Front = true, name
		deliver(t, s, p, Delivered)
		p.Front = "a,b}c#{d}#"
		deliver(t, s, p, Refused)
	})
}

func TestDeliverManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		const panes, each = 4, 50
		var all sync.WaitGroup
		var files []string
		var targets []Pane
		for i := range panes {
			p, file := running(t, s, fmt.Sprintf("loop-%d", i))
			files, targets = append(files, file), append(targets, p)
		}
		limit := make(chan bool, 8)
		for n := range each {
			for i, p := range targets {
				all.Add(1)
				limit <- true
				go func() {
					defer func() { <-limit; all.Done() }()
					d := paste(p, fmt.Sprintf("pane %d number %d ", i, n), Token())
					d.Delay = 0
					if v, err := s.Deliver(context.Background(), d); err != nil || v != Delivered {
						t.Errorf("pane %d, %d: %s, %v", i, n, v, err)
					}
				}()
			}
		}
		all.Wait()
		for i, file := range files {
			until(t, "all came", func() bool { return strings.Count(read(file), "\r") >= each })
			got := read(file)
			for n := range each {
				if strings.Count(got, fmt.Sprintf("\x1b[200~pane %d number %d ", i, n)) != 1 {
					t.Errorf("pane %d lacks %d", i, n)
				}
			}
			if strings.Count(got, "\x1b[200~") != each || strings.Count(got, "\r") != each {
				t.Errorf("pane %d has others' texts", i)
			}
		}
		noBuffers(t, s)
	})
}

func TestDeliverRefused(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-a")
		wrong := map[string]func(*Paste){
			"token":         func(d *Paste) { d.Token = Token() },
			"hostile token": func(d *Paste) { d.Token = "#{@loop_token}" },
			"server":        func(d *Paste) { d.PID++ },
			"start":         func(d *Paste) { d.Start-- },
			"pane":          func(d *Paste) { d.Pane = "%999" },
		}
		for name, change := range wrong {
			t.Run(name, func(t *testing.T) {
				d := paste(p, "wrong", "~x~")
				change(&d)
				deliver(t, s, d, Refused)
			})
		}
		run(t, s, "select-pane", "-d", "-t", p.Pane)
		deliver(t, s, paste(p, "input is off", "~x~"), Refused)
		run(t, s, "select-pane", "-e", "-t", p.Pane)
		deliver(t, s, paste(p, "right", "~y~"), Delivered)
		notes(t, file, wrapped("right~y~"))
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "the pane is dead", func() bool { _, st, _ := s.Look(t.Context(), p.Target()); return st == Dead })
		for range 20 { // tmux 3830: the server survives
			deliver(t, s, paste(p, "dead", "~z~"), Refused)
		}
		state(t, s, p.Target(), Dead)
		if v, err := s.Finish(t.Context(), paste(p, "right", "~y~")); v != Refused || err != nil {
			t.Errorf("finished in a dead pane: %s, %v", v, err)
		}
	})
}

func TestDeliverBesideAPerson(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-b")
		deliver(t, s, paste(p, strings.Repeat("line\n", 200), "~0~"), Delivered)
		want := read(file)
		run(t, s, "split-window", "-d", "-t", p.Pane, "sleep 1000")
		run(t, s, "new-window", "-t", p.Session+":", "sleep 1000")
		run(t, s, "rename-session", "-t", p.Session, "other")
		deliver(t, s, paste(p, "split", "~1~"), Delivered)
		want += wrapped("split~1~")
		notes(t, file, want)
		run(t, s, "copy-mode", "-t", p.Pane, ";", "send-keys", "-X", "-t", p.Pane, "-N", "20", "scroll-up")
		before := run(t, s, "display-message", "-p", "-t", p.Pane, "#{pane_in_mode} #{scroll_position}")
		if !strings.HasPrefix(before, "1 ") || before == "1 0" {
			t.Fatalf("not scrolled: %q", before)
		}
		deliver(t, s, paste(p, "two\nlines", "~2~"), Delivered) // rule 50
		notes(t, file, want+wrapped("two\nlines~2~"))
		after := run(t, s, "display-message", "-p", "-t", p.Pane, "#{pane_in_mode} #{scroll_position}")
		if !strings.HasPrefix(after, "1 ") || after == "1 0" {
			t.Errorf("the place was %q, is %q", before, after)
		}
	})
}

func TestDeliverUnseenThenFinish(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-u", "mute")
		d := paste(p, "not shown ", "~u~")
		d.Patience = 150 * time.Millisecond
		deliver(t, s, d, Unseen) // rule 50
		notes(t, file, "\x1b[200~not shown ~u~\x1b[201~")
		if v, err := s.Finish(t.Context(), d); v != Missing || err != nil {
			t.Errorf("finished unseen: %s, %v", v, err)
		}
		d.Composer = regexp.MustCompile(`(?m)^hello`)
		deliver(t, s, d, Delivered)
		d.Composer, d.NoLook = nil, true
		deliver(t, s, d, Delivered)
		whole := wrapped("not shown ~u~")
		notes(t, file, strings.TrimSuffix(whole, "\r")+whole+whole)

		q, file := running(t, s, "loop-v")
		d = paste(q, "shown ", "~a rather long nonce~")
		d.Nonce, d.Patience = "something else", 0
		deliver(t, s, d, Unseen)
		d.Nonce = "~a rather long nonce~"
		if v, err := s.Finish(t.Context(), d); v != Delivered || err != nil {
			t.Errorf("finish: %s, %v", v, err)
		}
		notes(t, file, wrapped(d.Text))
	})
}

// A text that does not show may show for as long as it settles: not in another
// program's pane, not another text, and not once the harness said something new.
func TestFinishSettling(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-s", "mute")
		at := time.UnixMilli(1_800_000_000_000)
		d := paste(p, "slow ", "~s~")
		d.Patience, d.Delivery, d.At, d.Settles = 0, "d-1", at, 20*time.Second
		deliver(t, s, d, Unseen)
		for what, c := range map[string]struct {
			change func(d *Paste)
			want   Verdict
		}{
			"at once":         {func(*Paste) {}, Unseen},
			"later":           {func(d *Paste) { d.At = at.Add(19 * time.Second) }, Unseen},
			"too late":        {func(d *Paste) { d.At = at.Add(20 * time.Second) }, Missing},
			"asked for":       {func(d *Paste) { d.Settles = 0 }, Missing},
			"another text":    {func(d *Paste) { d.Nonce = "~s" }, Missing},
			"another program": {func(d *Paste) { d.Token = "somebody-elses" }, Refused},
		} {
			asks := d
			c.change(&asks)
			if got, err := s.Finish(t.Context(), asks); got != c.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", what, got, err, c.want)
			}
		}
		if panes, err := s.Panes(t.Context()); err != nil || !slices.ContainsFunc(panes, func(x Pane) bool { return x.Pane == p.Pane && x.Typed.Equal(at) }) {
			t.Errorf("no pane was typed at %v: %+v, %v", at, panes, err)
		}
		run(t, s, "set-option", "-t", "loop-s:", "@loop_since", "1800000000000")
		if got, err := s.Finish(t.Context(), d); got != Unseen || err != nil {
			t.Errorf("with a state of before: %q, %v", got, err)
		}
		run(t, s, "set-option", "-t", "loop-s:", "@loop_since", "1800000000001")
		if got, err := s.Finish(t.Context(), d); got != Missing || err != nil {
			t.Errorf("with a new state: %q, %v", got, err)
		}
		notes(t, file, "\x1b[200~slow ~s~\x1b[201~")
	})
}

// A text that was seen, and is gone when Return is due, gets none until it is
// there again. One that no row holds whole is there all the same.
func TestDeliverGone(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, file := running(t, s, "loop-g")
		gone := paste(p, "", "~n1~")
		gone.Patience = 300 * time.Millisecond
		if got, err := s.submit(t.Context(), gone, "> ~n1~"); err != nil || got != Unseen {
			t.Fatalf("%q, %v", got, err)
		}
		prompt := gone
		prompt.Nonce = "fix the bug in main"
		if got, err := s.submit(t.Context(), prompt, "│ fix the bug\n│ in main"); err != nil || got != Unseen {
			t.Fatalf("%q, %v", got, err)
		}
		notes(t, file, "")
		run(t, s, "send-keys", "-t", p.Pane, "-l", "~n1~")
		notes(t, file, "~n1~")
		until(t, "it is shown", func() bool { return strings.Contains(run(t, s, "capture-pane", "-p", "-t", p.Pane), "n1") })
		if got, err := s.submit(t.Context(), gone, "> ~n1~"); err != nil || got != Delivered {
			t.Fatalf("%q, %v", got, err)
		}
		notes(t, file, "~n1~\r")
		wide := strings.Repeat("w", 196)
		deliver(t, s, paste(p, wide, "nonce2"), Delivered)
		notes(t, file, "~n1~\r"+wrapped(wide+"nonce2"))
		folded := paste(p, "[Pasted 20 lines]", "never shown")
		folded.Text, folded.Composer = "[Pasted 20 lines]", regexp.MustCompile(`\[Pasted \d+ lines`)
		deliver(t, s, folded, Delivered)
		noBuffers(t, s)
	})
}

func TestDeliverToNobody(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-n")
		var failed *DeliverError
		hung := s
		hung.Timeout = 300 * time.Millisecond
		stop(t, p.Identity.PID)
		began := time.Now()
		_, err := hung.Deliver(t.Context(), paste(p, "hung", "~h~"))
		if !errors.As(err, &failed) || failed.MayBePasted {
			t.Errorf("a hung server: %v", err)
		}
		if spent := time.Since(began); spent > 3*time.Second {
			t.Errorf("a hung server cost %v", spent)
		}
		_ = syscall.Kill(p.Identity.PID, syscall.SIGCONT)
		deliver(t, s, paste(p, "again", "~i~"), Delivered)
		slow := paste(p, "cut off", "~j~")
		slow.Delay = 10 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err = s.Deliver(ctx, slow); !errors.As(err, &failed) || !failed.MayBePasted {
			t.Errorf("killed after the paste: %v", err)
		}
		noBuffers(t, s)
		run(t, s, "kill-server")
		_, err = s.Deliver(t.Context(), paste(p, "nobody", "~k~"))
		if !errors.As(err, &failed) || failed.MayBePasted {
			t.Errorf("no server: %v", err)
		}
	})
}

// stop makes a server hang until the test ends.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}
