package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFolded(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"short\n", "short\n"},
		{"twenty columns wide..\n", "twenty columns\n  wide..\n"},
		{"  further in goes further\n", "  further in goes\n    further\n"},
		{"one  two\nthree four five six seven\n", "one  two\nthree four five six\n  seven\n"},
		{"see /a/path/that/is/too/long/to/fit here\n", "see\n  /a/path/that/is/too/long/to/fit\n  here\n"},
		{"\x1b[32mgreen\x1b[0m is not wide at\n", "\x1b[32mgreen\x1b[0m is not wide at\n"},
		{"größer als zwanzig S\n", "größer als zwanzig S\n"},
		{"読み取りが 遅い all\n", "読み取りが 遅い all\n"},
		{"読み取りが 遅い 21st!\n", "読み取りが 遅い\n  21st!\n"},
	} {
		if got := folded(c.text, 20); got != c.want {
			t.Errorf("%q is folded as %q, want %q", c.text, got, c.want)
		}
	}
}

// What doctor says is as wide as its column, whatever is bold in it.
func TestWrapped(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1mcure:\x1b[0m do this then":   "\x1b[1mcure:\x1b[0m do this then",
		"\x1b[1mcure:\x1b[0m do that then x": "\x1b[1mcure:\x1b[0m do that then\nx",
		"読み取りが 遅い 19!":                       "読み取りが 遅い\n19!",
	} {
		if got := wrapped(text, 18); got != want {
			t.Errorf("%q is wrapped as %q, want %q", text, got, want)
		}
	}
}

// Words stay whole and in order, and a line is too wide only for one of them.
func TestFoldedLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`( {0,6}[a-zé]{0,30}\n?){0,12}`).Draw(t, "text")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		got := folded(text, width)
		if a, b := strings.Fields(text), strings.Fields(got); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("%q became %q", text, got)
		}
		for _, l := range strings.Split(got, "\n") {
			if utf8.RuneCountInString(strings.TrimRight(l, " ")) > width && len(strings.Fields(l)) > 1 {
				t.Fatalf("%q is wider than %d", l, width)
			}
		}
	})
}
