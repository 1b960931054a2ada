package tmux

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestUntilReady(t *testing.T) {
	for text, ready := range map[string]bool{
		"\x1b[?2004h": true, "x\x1b[?1049;2004h": true, "\x1b[?2004;25h": true, "\x1b\x1b[?2004h": true, "\x1b[?25l\x1b[?2004h": true,
		"\x1b[?2004l": false, "\x1b[2004h": false, "[?2004h": false, "\x1b[?20041h": false, "\x1b[?2004": false, "\x1b[?12004h": false,
		"\x1b[?99999999999999999999992004h": false, "\x1b[?2004;1$p": false, "": false,
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(text), "split": iotest.OneByteReader(strings.NewReader(text))} {
			if err := untilReady(in); (err == nil) != ready || err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%q %s: %v", text, name, err)
			}
		}
	}
}

func TestClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkClean(t, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\x1b[201~\xc2\x9b201~\x00\xff"))
	f.Fuzz(func(t *testing.T, b []byte) { checkClean(t, b) })
}

// checkClean is rule 48.
func checkClean(t interface{ Fatalf(string, ...any) }, b []byte) {
	got := clean(string(b))
	for _, r := range got {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
			t.Fatalf("%q has %q", got, r)
		}
	}
	if !utf8.ValidString(got) || clean(got) != got {
		t.Fatalf("%q", got)
	}
}

func FuzzUntilReady(f *testing.F) {
	f.Add([]byte("\x1b[?1049;2004h"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, split := untilReady(bytes.NewReader(b)), untilReady(iotest.OneByteReader(bytes.NewReader(b)))
		if (whole == nil) != (split == nil) || whole == nil && !bytes.Contains(b, []byte("2004")) {
			t.Fatalf("%q: %v, %v", b, whole, split)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("12\t13\tx\n12\t13\t$0\t%0\t99\t0\t\tr\ti\to\ts\tt\t1\t0\t0\tcmd\tname\twith tab\n")
	f.Add("12\t13\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		id, panes, _, ok := (Server{Socket: "/s"}).parse(out)
		for _, p := range panes {
			if !ok || p.Identity != id || !paneID.MatchString(p.Pane) || !sessionID.MatchString(p.Session) {
				t.Fatalf("%+v", p)
			}
		}
	})
}

func TestSees(t *testing.T) {
	p := Paste{Nonce: "``` ab12"}
	for screen, want := range map[string]bool{
		"│ > text ``` ab12 │": true, "│ ``` a │\n│ b12   │": true, "╭──╮\n│```│\n│ab│\n│12│\n╰──╯": true, "``` ab1": false, "": false,
	} {
		if p.sees(screen) != want {
			t.Errorf("%q", screen)
		}
	}
	if (Paste{}).sees("anything") {
		t.Error("an empty nonce is seen everywhere")
	}
}

// TestQuoting proves by tmux itself that its language gives back every word.
func TestQuoting(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-q")
		rapid.Check(t, func(rt *rapid.T) {
			word := clean(rapid.StringOfN(rapid.SampledFrom([]rune("a '\"\\$#{}();~%é\n\t&|`*?[]!=-u0")), 0, 40, -1).Draw(rt, "word"))
			cmds := [][]string{{"set-option", "-t", p.Session, "@word", word}}
			nested := guard(p.Pane, p.Target().ours(), [][]string{{"if-shell", "-F", "1", script(cmds)}}, nil)
			for name, words := range map[string][]string{"line": line(cmds), "nested": line([][]string{nested})} {
				run(t, s, "set-option", "-u", "-t", p.Session, "@word")
				if _, err := s.Run(t.Context(), nil, words...); err != nil {
					rt.Fatalf("%s: %q: %v", name, words, err)
				}
				if got, err := s.Run(t.Context(), nil, "show-options", "-v", "-t", p.Session, "@word"); err != nil || got != word+"\n" {
					rt.Fatalf("%s: %q became %q, %v", name, word, got, err)
				}
			}
		})
	})
}
