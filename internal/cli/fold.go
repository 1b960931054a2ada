package cli

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/cli/go-gh/v2/pkg/text"
)

// folding breaks what is too long for a terminal between words, where the
// terminal itself would break inside them. Each Write brings whole lines.
type folding struct {
	to    io.Writer
	width func() int
}

func (f *folding) Write(b []byte) (int, error) {
	if _, err := io.WriteString(f.to, folded(string(b), f.width())); err != nil {
		return 0, err
	}
	return len(b), nil
}

// invisible is what a terminal obeys and does not show: colours and links.
var invisible = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(?:\\[[0-9;]*m|\\]8;[^\x1b\x07]*(?:\x1b\\\\|\x07))")
})

// columns is how much room a text takes on a terminal.
func columns(s string) int { return text.DisplayWidth(invisible().ReplaceAllString(s, "")) }

// fold breaks a line of standard output where a person reads it.
func (s screen) fold(line string) string {
	if !s.tty {
		return line
	}
	return folded(line, s.width)
}

// folded prints as e does, and breaks lines as fold does.
func (e *env) folded(s screen) *env {
	if !s.tty {
		return e
	}
	f := *e
	f.out = &folding{e.out, func() int { return s.width }}
	return &f
}

// folded breaks each line that is wider than a screen between words, and goes
// on below, two columns further in. A word that is too long stays whole, so
// that a path or an address can be copied.
func folded(all string, width int) string {
	lines := strings.SplitAfter(all, "\n")
	for i, l := range lines {
		if len(l) > width {
			lines[i] = foldLine(l, width)
		}
	}
	return strings.Join(lines, "")
}

func foldLine(line string, width int) string {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+2)
	var out strings.Builder
	column, begun := 0, false
	for i, word := range strings.Split(line, " ") {
		wide := columns(strings.TrimSuffix(word, "\n"))
		switch {
		case i == 0:
		case word != "" && column+1+wide > width && begun:
			out.WriteString("\n" + indent)
			column = len(indent)
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += wide
		begun = begun || word != ""
	}
	return out.String()
}
