package event

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// Clean removes what could end a paste, press a key or show text in another
// order than it has: C0 but newline and tab, DEL, C1, and bidirectional
// controls. CR LF, CR and Unicode's line separators become newlines, and
// invalid UTF-8 becomes U+FFFD (rule 48).
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	afterCR := false
	for _, r := range s {
		switch {
		case r == '\n' && afterCR:
		case r == '\r', r == '\u2028', r == '\u2029':
			b.WriteByte('\n')
		case !dropped(r):
			b.WriteRune(r)
		}
		afterCR = r == '\r'
	}
	return b.String()
}

func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func dropped(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Line is the cleaned text on one line: every run of white space is one space.
// What is longer than max characters ends in "…".
func Line(s string, limit int) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if _, left := cut(s, limit); left == 0 {
		return s
	}
	kept, _ := cut(s, limit-1)
	return kept + "…"
}

// cut keeps the first characters, and counts those that it leaves out.
func cut(s string, limit int) (kept string, left int) {
	if len(s) <= limit {
		return s, 0
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i], utf8.RuneCountInString(s[i:])
		}
		n++
	}
	return s, 0
}

// cutFront keeps the last characters, from the start of a line where there is
// one among them.
func cutFront(s string, limit int) (kept string, left int) {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, 0
	}
	head, _ := cut(s, n-limit)
	kept = s[len(head):]
	if _, lines, ok := strings.Cut(kept, "\n"); ok && !strings.HasSuffix(head, "\n") && lines != "" {
		kept = lines
	}
	return kept, n - utf8.RuneCountInString(kept)
}

// webAddress gives an http or https address that is safe to show, else "".
func webAddress(s string) string {
	if len(s) > 400 {
		return ""
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return ""
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return s
}
