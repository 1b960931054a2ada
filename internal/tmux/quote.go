package tmux

import (
	"strings"
	"unicode/utf8"
)

// Word makes a word safe on tmux's command line, where a last ";" would
// separate commands.
func Word(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}

// Literal makes text come out of a tmux format as it is. Without it, "#(…)"
// in somebody's title would be executed.
func Literal(s string) string { return strings.ReplaceAll(s, "#", "##") }

// line lays commands out as command-line words.
func line(cmds [][]string) []string {
	var words []string
	for i, cmd := range cmds {
		if i > 0 {
			words = append(words, ";")
		}
		for _, w := range cmd {
			words = append(words, Word(w))
		}
	}
	return words
}

// script lays commands out as one line of tmux's own language, so that an
// error in one stops the rest, as on a command line.
func script(cmds [][]string) string {
	var b strings.Builder
	for i, cmd := range cmds {
		if i > 0 {
			b.WriteString(" ; ")
		}
		for j, w := range cmd {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quote(w))
		}
	}
	return b.String()
}

// quote writes a word in tmux's language. Newlines are escaped because the
// parser drops blanks and comments that follow a newline even within quotes,
// and "~" because it names a home directory within them.
func quote(s string) string {
	return `"` + quoting.Replace(s) + `"`
}

var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, `~`, `\~`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x1b", `\e`)

// shell writes a word for sh.
func shell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// operand writes text inside a comparison of a format.
func operand(s string) string { return operands.Replace(s) }

var operands = strings.NewReplacer("#", "##", ",", "#,", "}", "#}") // one: each sets up some 10 kB

// same is the condition that a format's value is the text.
func same(format, text string) string {
	return "#{==:#{" + format + "}," + operand(text) + "}"
}

// all is the condition that every condition holds. Since 3.2 takes no more
// than two at once, they are nested.
func all(conds []string) string {
	c := conds[len(conds)-1]
	for i := len(conds) - 2; i >= 0; i-- {
		c = "#{&&:" + conds[i] + "," + c + "}"
	}
	return c
}

// clean takes from a text what could press a key or end a paste: C0 controls
// but newline and tab, DEL, C1 controls, and bytes that are no UTF-8. CR LF
// and a lone CR become newlines.
func clean(s string) string {
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r <= 0x9f || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
}
