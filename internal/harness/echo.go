package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Echo is the agent of our own: it shows what it is told and keeps it in dir
// under its conversation's id. args are "--session-id ID [PROMPT]" or
// "--resume ID [PROMPT]", in is the terminal. It ends with Ctrl-D or Ctrl-C on
// an empty line, with ctx, or with its terminal, and leaves the terminal as it
// was.
func Echo(ctx context.Context, args []string, in *os.File, out io.Writer, dir string) error {
	if len(args) < 2 || len(args) > 3 || args[0] != "--session-id" && args[0] != "--resume" {
		return errors.New("usage: gh loop echo (--session-id ID | --resume ID) [PROMPT]")
	}
	if !term.IsTerminal(int(in.Fd())) {
		return errors.New("echo talks to a terminal: run it in one")
	}
	resumed := args[0] == "--resume"
	talk, err := openConversation(dir, args[1], resumed)
	if err != nil {
		return err
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	e := &echo{
		talk: talk,
		out:  bufio.NewWriter(out),
		size: func() (int, int) { return size(in) },
		ink:  os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
	// Whoever waits for bracketed paste may type from then on: raw comes first.
	e.print(pasteOn)
	e.greet(args[1], os.Getenv("GH_LOOP_REF"), resumed)
	if len(args) == 3 {
		for _, r := range args[2] {
			e.press(r, true)
		}
		e.submit()
	}
	e.run(ctx, in)
	e.print("\n" + pasteOff)
	return e.out.Flush()
}

// size is the terminal's, in columns and rows.
func size(in *os.File) (int, int) {
	w, h, err := term.GetSize(int(in.Fd()))
	if err != nil || w < 4 || h < 2 {
		return 80, 24
	}
	return w, h
}

// echo is the agent at work. What is being written stands at the bottom of its
// output, the cursor behind it.
type echo struct {
	talk  *conversation
	out   *bufio.Writer
	size  func() (columns, rows int)
	ink   bool
	draft []rune
	over  bool
}

func (e *echo) run(ctx context.Context, in io.Reader) {
	typed, done := make(chan []byte), make(chan struct{})
	defer close(done)
	go func() {
		defer close(typed)
		for {
			b := make([]byte, 32<<10)
			n, err := in.Read(b)
			select {
			case typed <- b[:n]:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var k keys
	for !e.over {
		if e.out.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case b, ok := <-typed:
			if !ok {
				return
			}
			k.feed(b, e.press)
		}
	}
}

// press takes one character. Pasted ones only ever add to the draft.
func (e *echo) press(r rune, pasted bool) {
	switch {
	case e.over:
	case r == '\n', r == '\t', !unicode.IsControl(r):
		e.draft = append(e.draft, r)
		e.print(glyph(r))
	case pasted:
	case r == '\r':
		e.submit()
	case r == 0x7f, r == '\b':
		e.edit(max(len(e.draft)-1, 0))
	case r == 0x15: // Ctrl-U
		e.edit(0)
	case r == 0x03: // Ctrl-C
		e.over = len(e.draft) == 0
		e.edit(0)
	case r == 0x04: // Ctrl-D
		e.over = len(e.draft) == 0
	}
}

// edit keeps the first n characters of the draft.
func (e *echo) edit(n int) {
	if n == len(e.draft) {
		return
	}
	e.erase()
	e.draft = e.draft[:n]
	e.prompt()
}

func (e *echo) submit() {
	text := strings.TrimSpace(string(e.draft))
	if text == "" {
		return
	}
	e.erase()
	e.draft = e.draft[:0]
	err := e.talk.add(text)
	e.show(len(e.talk.messages), text)
	if err != nil {
		e.print(e.paint("31", "echo: this is not kept: "+clean(err.Error())) + "\n")
	}
	e.print("\n")
	e.prompt()
}

func (e *echo) greet(id, ref string, resumed bool) {
	e.print(e.paint("1", strings.TrimSpace("echo "+clean(ref))) + "\n")
	e.print(e.paint("2", "conversation "+id) + "\n")
	e.print(e.paint("2", "It shows what it is told. Return sends, Ctrl-D ends.") + "\n\n")
	if resumed {
		for i, m := range e.talk.messages {
			e.show(i+1, m.Text)
			e.print("\n")
		}
		e.print(fmt.Sprintf("resumed, %s\n\n", count(len(e.talk.messages), "message")))
	}
	e.prompt()
}

// show prints a message with its number, and the answer to it.
func (e *echo) show(n int, text string) {
	lines := strings.Split(text, "\n")
	e.print(e.paint("1;36", fmt.Sprintf("message %d", n)) + "\n")
	for _, line := range lines {
		e.print(e.paint("36", "| ") + shown([]rune(line)) + "\n")
	}
	e.print(e.paint("32", "echo: "+count(len(lines), "line")) + "\n")
}

func (e *echo) prompt() { e.print(e.paint("1", ">") + " " + shown(e.draft)) }

// erase takes the draft off the screen, as much of it as is still there.
func (e *echo) erase() {
	columns, rows := e.size()
	if up := min(height(e.draft, columns), rows) - 1; up > 0 {
		fmt.Fprintf(e.out, "\x1b[%dA", up)
	}
	e.print("\r\x1b[J")
}

// height is how many rows the prompt and the draft take.
func height(draft []rune, columns int) int {
	row, column := 1, 2
	for _, r := range draft {
		width := 1
		switch {
		case r == '\n':
			row, column = row+1, 2
			continue
		case r == '\t':
			width = 4
		case unicode.Is(unicode.Mn, r):
			width = 0
		case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1f300 && r < 0x1fb00):
			width = 2
		}
		if column += width; column > columns {
			row, column = row+1, width
		}
	}
	return row
}

// print writes text to the raw terminal, which needs a CR at each line's end.
func (e *echo) print(s string) {
	_, _ = e.out.WriteString(strings.ReplaceAll(s, "\n", "\r\n")) // Flush tells
}

func (e *echo) paint(code, s string) string {
	if !e.ink {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// shown is how text is printed: nothing in it moves the cursor but its
// newlines, which keep the indentation.
func shown(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(glyph(r))
	}
	return b.String()
}

func glyph(r rune) string {
	switch {
	case r == '\n':
		return "\n  "
	case r == '\t':
		return "    "
	case unicode.IsControl(r):
		return ""
	}
	return string(r)
}

// clean drops control characters.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
