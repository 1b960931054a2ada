package dispatch

import (
	"strings"
	"testing"
)

// Rule 50: what a prompt is known by has whole words in it, of which one has to
// stand on the screen still when Return is pressed.
func TestLastWords(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                                 "",
		" \n\t":                            "",
		"fix it\n":                         "fix it",
		"Please fix\n\tthe  bug in main":   "Please fix the bug in main",
		strings.Repeat("x ", 40) + "a b":   strings.Repeat("x ", 30) + "a b",
		strings.Repeat("é", 40):            strings.Repeat("é", 32),
		"begin " + strings.Repeat("y", 31): "n " + strings.Repeat("y", 31),
		"over " + strings.Repeat("z", 32):  strings.Repeat("z", 32),
	} {
		if got := lastWords(prompt); got != want {
			t.Errorf("%q is known by %q, want %q", prompt, got, want)
		}
	}
}
