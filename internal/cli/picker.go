package cli

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/gh-loop/gh-loop/internal/dispatch"
)

// picker is the picker where there is no fzf: a filter, the conversations, and
// a preview that follows. The terminal cuts what is too wide.
type picker struct {
	env    *env
	loop   *dispatch.Loop
	client string

	rows          []row
	filter        []rune
	at            int // among those that the filter leaves
	width, height int
	preview       string
}

// run draws and reads keys until something is picked or nothing will be.
func (p *picker) run(ctx context.Context) error {
	keys := make(chan []byte)
	next := make(chan bool) // the reader waits while somebody else reads the terminal
	go p.read(keys, next)
	defer close(next)
	tick := time.NewTicker(previewEvery)
	defer tick.Stop()
	for {
		do, err := p.choose(ctx, keys, next, tick.C)
		if err != nil || do == "" {
			return err
		}
		ref := ""
		if r := p.shown(); p.at < len(r) {
			ref = r[p.at].ref.String()
		}
		if err := p.env.pickDo(ctx, p.loop, do, ref, p.client); err != nil || do == "go" {
			return err
		}
		v, err := p.loop.Look(ctx)
		if err != nil {
			return err
		}
		p.rows = p.env.pickRows(v)
		next <- true
	}
}

func (p *picker) read(keys chan<- []byte, next <-chan bool) {
	for {
		b := make([]byte, 256)
		n, err := p.env.in.Read(b)
		if err != nil {
			close(keys)
			return
		}
		keys <- b[:n]
		if !<-next {
			return
		}
	}
}

// choose has the terminal to itself until a key asks for something to be done;
// "" ends.
func (p *picker) choose(ctx context.Context, keys <-chan []byte, next chan<- bool, tick <-chan time.Time) (string, error) {
	fd := int(p.env.in.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("pick needs a terminal on standard input: %w", err)
	}
	fmt.Fprint(p.env.out, "\x1b[?1049h\x1b[?7l")
	defer func() {
		fmt.Fprint(p.env.out, "\x1b[?7h\x1b[?1049l")
		_ = term.Restore(fd, was)
	}()
	p.preview = ""
	for fresh := true; ; fresh = false {
		if p.width, p.height, err = term.GetSize(fd); err != nil {
			return "", err
		}
		fmt.Fprint(p.env.out, p.draw())
		if !fresh { // the list comes first, and what takes a tmux call after it
			p.look(ctx)
		}
		select {
		case b, open := <-keys:
			if !open {
				return "", nil
			}
			for len(b) > 0 { // several keys may come at once
				n := keyLen(b)
				do, done := p.press(string(b[:n]))
				if b = b[n:]; done || do != "" {
					return do, nil
				}
			}
			next <- true
		case <-tick:
		case <-ctx.Done():
			return "", nil
		}
	}
}

func (p *picker) look(ctx context.Context) {
	p.preview = ""
	if shown := p.shown(); p.at < len(shown) {
		p.preview = p.env.preview(ctx, p.loop, shown[p.at].ref, p.height-p.list()-3)
	}
	fmt.Fprint(p.env.out, p.draw())
}

// shown are the rows that have every word of the filter.
func (p *picker) shown() []row {
	var out []row
	for _, r := range p.rows {
		has := true
		for _, w := range strings.Fields(strings.ToLower(string(p.filter))) {
			has = has && strings.Contains(strings.ToLower(r.plain()), w)
		}
		if has {
			out = append(out, r)
		}
	}
	return out
}

// list is how many lines the conversations get.
func (p *picker) list() int { return max(1, (p.height-3)*2/5) }

// keyLen is how many bytes the first key takes: an escape sequence, or a character.
func keyLen(b []byte) int {
	if b[0] != 0x1b || len(b) == 1 {
		_, n := utf8.DecodeRune(b)
		return n
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 {
			return i + 1
		}
	}
	return len(b)
}

// press takes one key. It says what to do with the row under the cursor, or
// that nothing will be picked.
func (p *picker) press(key string) (do string, done bool) {
	last := max(0, len(p.shown())-1)
	switch key {
	case "\r", "\n":
		return "go", false
	case "\x1b", "\x03", "\x04", "\x07":
		return "", true
	case "\x1b[A", "\x1bOA", "\x0b":
		p.at = max(0, p.at-1)
	case "\x1b[B", "\x1bOB", "\t":
		p.at = min(last, p.at+1)
	case "\x1b[5~":
		p.at = max(0, p.at-p.list())
	case "\x1b[6~":
		p.at = min(last, p.at+p.list())
	case "\x7f", "\b":
		p.filter, p.at = p.filter[:max(0, len(p.filter)-1)], 0
	case "\x15":
		p.filter, p.at = nil, 0
	default:
		for _, k := range pickKeys {
			if len(key) == 1 && key[0] == k.key[len(k.key)-1]&0x1f {
				return k.do, false
			}
		}
		if key[0] != 0x1b {
			p.filter, p.at = append(p.filter, []rune(clean(key))...), 0
		}
	}
	return "", false
}

// draw is the whole screen.
func (p *picker) draw() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\x1b[0m\x1b[K\r\n") }
	shown, n := p.shown(), p.list()
	b.WriteString("\x1b[?25l\x1b[H")
	line(fmt.Sprintf("\x1b[1mgh loop>\x1b[0m %s▏ \x1b[2m%d of %d", string(p.filter), len(shown), len(p.rows)))
	top := max(0, min(p.at-n/2, len(shown)-n))
	for i := top; i < top+n; i++ {
		switch {
		case i >= len(shown):
			line("")
		case i == p.at:
			line("\x1b[7m" + shown[i].plain())
		default:
			line(shown[i].coloured())
		}
	}
	line("\x1b[2m" + strings.Repeat("─", p.width))
	room := p.height - n - 3
	preview := strings.Split(strings.TrimSuffix(p.preview, "\n"), "\n")
	for i := range room {
		if i < len(preview) {
			line(preview[i])
		} else {
			line("")
		}
	}
	b.WriteString("\x1b[2m" + pickHelp() + "\x1b[0m\x1b[K\x1b[?25h")
	return b.String()
}
