package event

import "strings"

// inert stands where text was left out, so that what was apart stays apart.
const inert = '\x00'

// GitHub takes 65,536 characters of text; what is behind that is not from it.
const maxText = 4 * 65536

// visible leaves out what GitHub does not look at for closing keywords: fenced
// code, inline code and HTML comments.
func visible(s string) string {
	s = s[:min(len(s), maxText)]
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	var out strings.Builder
	out.Grow(len(s))
	lastComment := strings.LastIndex(s, "-->")
	var code spans
	for i, start := 0, true; i < len(s); {
		end := i
		if start {
			end = fencedCode(s, i)
		}
		if end == i && s[i] == '`' {
			end = code.end(s, i)
		}
		if end == i && strings.HasPrefix(s[i:], "<!--") {
			end = comment(s, i, start, lastComment)
		}
		if end > i {
			out.WriteByte(inert)
			start = s[end-1] == '\n'
			if start {
				out.WriteByte('\n')
			}
			i = end
			continue
		}
		n := literal(s, i)
		out.WriteString(s[i : i+n])
		start = s[i+n-1] == '\n'
		i += n
	}
	return out.String()
}

// literal counts the bytes at i that mean themselves: a run of backticks that
// nothing closes, an escaped character, or one byte.
func literal(s string, i int) int {
	if s[i] == '\\' && i+1 < len(s) {
		return 2
	}
	return max(1, run(s[i:], '`'))
}

func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// comment gives the end of the HTML comment that begins at i. One that is
// never closed hides everything behind it if a line begins with it, and is
// plain text otherwise.
func comment(s string, i int, lineStart bool, last int) int {
	if i+2 <= last {
		return i + 2 + strings.Index(s[i+2:], "-->") + len("-->")
	}
	if lineStart {
		return len(s)
	}
	return i
}

// spans finds inline code. It remembers for the paragraph that it is in which
// lengths of runs do not come again, so that no text takes quadratic time.
type spans struct {
	paragraph int
	unclosed  map[int]bool
}

// end gives the end of the inline code that begins at i, or i: it is closed by
// a run of backticks of the same length, within the paragraph.
func (p *spans) end(s string, i int) int {
	if i >= p.paragraph {
		*p = spans{paragraphEnd(s, i), map[int]bool{}}
	}
	open := run(s[i:p.paragraph], '`')
	if p.unclosed[open] {
		return i
	}
	for j := i + open; j < p.paragraph; {
		n := run(s[j:p.paragraph], '`')
		if n == open {
			return j + n
		}
		j += max(1, n)
	}
	p.unclosed[open] = true
	return i
}

// paragraphEnd gives the start of the first line behind i that is blank or
// opens fenced code.
func paragraphEnd(s string, i int) int {
	for j := lineEnd(s, i); j < len(s); j = lineEnd(s, j) {
		line := s[j:lineEnd(s, j)]
		_, text := quoted(line)
		if strings.TrimSpace(text) == "" {
			return j
		}
		if _, ok := opens(line); ok {
			return j
		}
	}
	return len(s)
}

// lineEnd gives the start of the line after the one that i is in.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

// fence is what opened fenced code.
type fence struct {
	depth, indent, length int
	mark                  byte
}

// fencedCode gives the end of the fenced code that begins with the line at i,
// or i. It ends with its closing line, with its quote, or with the text.
func fencedCode(s string, i int) int {
	f, ok := opens(s[i:lineEnd(s, i)])
	if !ok {
		return i
	}
	for j := lineEnd(s, i); j < len(s); j = lineEnd(s, j) {
		depth, text := quoted(s[j:lineEnd(s, j)])
		if depth < f.depth {
			return j
		}
		indent, text := indented(text)
		n := run(text, f.mark)
		if n >= f.length && indent <= f.indent+3 && strings.TrimSpace(text[n:]) == "" {
			return lineEnd(s, j)
		}
	}
	return len(s)
}

// opens reads a line that opens fenced code, in a quote or a list too.
func opens(line string) (fence, bool) {
	var f fence
	f.depth, line = quoted(line)
	for {
		n, rest := indented(line)
		f.indent += n
		bullet := listMark(rest)
		if bullet == 0 {
			line = rest
			break
		}
		f.indent += bullet
		line = rest[bullet:]
	}
	if line == "" || line[0] != '`' && line[0] != '~' {
		return f, false
	}
	f.mark = line[0]
	f.length = run(line, f.mark)
	info := line[f.length:]
	return f, f.length >= 3 && (f.mark == '~' || !strings.Contains(info, "`"))
}

// quoted counts and strips the marks of a block quote.
func quoted(line string) (depth int, text string) {
	for {
		_, rest := indented(line)
		if rest == "" || rest[0] != '>' {
			return depth, line
		}
		depth++
		line = strings.TrimPrefix(rest[1:], " ")
	}
}

func indented(line string) (width int, text string) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width += 4 - width%4
		default:
			return width, line[i:]
		}
	}
	return width, ""
}

// listMark counts the bytes of a list item's mark and the space behind it.
func listMark(s string) int {
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n+1 >= len(s) || s[n+1] != ' ' && s[n+1] != '\t' {
		return 0
	}
	if n == 0 && strings.IndexByte("-*+", s[0]) >= 0 || n > 0 && (s[n] == '.' || s[n] == ')') {
		return n + 2
	}
	return 0
}
