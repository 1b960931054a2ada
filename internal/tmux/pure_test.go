package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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

// Whoever watches a program that never says that it listens does not stay for ever.
func TestDetectEnds(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (Server{}).Detect(ctx, in, []string{"no-tmux", "/nowhere", "%1", "ABCDEFGH", "ABCDEFGH"}); err != nil {
		t.Error(err)
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
	words := []string{"", "~", "~root", "~]", ";", `\;`, `\`, "#{pid}", "%if", "%1", "{", "}", "-t", "\n  # x", "$HOME", "a=b", "'", `"`}
	gen := rapid.StringOfN(rapid.SampledFrom([]rune("a '\"\\$#{}();~%é\n\t&|`*?[]!=-u0")), 0, 30, -1)
	for seed := range 300 {
		words = append(words, clean(gen.Example(seed)))
	}
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-q")
		for chunk := range slices.Chunk(words, 30) {
			var sets, nested, shows [][]string
			for i, word := range chunk {
				set := []string{"set-option", "-t", p.Session, fmt.Sprintf("@w%d", i), word}
				sets = append(sets, set)
				nested = append(nested, guard(p.Pane, p.Target().ours(), [][]string{{"if-shell", "-F", "1", script([][]string{set})}}, nil))
				shows = append(shows, []string{"show-options", "-v", "-t", p.Session, set[3]})
			}
			for name, cmds := range map[string][][]string{"line": sets, "nested": nested} {
				if _, err := s.do(t.Context(), cmds...); err != nil {
					t.Fatalf("%s: %q: %v", name, chunk, err)
				}
				if got, err := s.do(t.Context(), shows...); err != nil || got != strings.Join(chunk, "\n")+"\n" {
					t.Fatalf("%s: %q became %q, %v", name, chunk, got, err)
				}
				run(t, s, "set-option", "-t", p.Session, "@w0", "cleared")
			}
			stdin := strings.NewReader(script(sets) + "\n")
			if _, err := s.Run(t.Context(), stdin, "source-file", "-"); err != nil {
				t.Fatalf("script: %q: %v", chunk, err)
			}
			if got, err := s.do(t.Context(), shows...); err != nil || got != strings.Join(chunk, "\n")+"\n" {
				t.Fatalf("script: %q became %q, %v", chunk, got, err)
			}
		}
	})
}
