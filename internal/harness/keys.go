package harness

import "unicode/utf8"

// Bracketed paste, as xterm defines it: the terminal marks what was pasted, so
// that a newline in it does not submit.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// keys cuts what a terminal sends into characters, over any boundary of reads.
type keys struct {
	pending []byte // the beginning of a character or sequence
	pasting bool
	cr      bool // the last pasted character was CR: LF after it is the same newline
}

// feed calls press for each whole character. A pasted newline is "\n" however
// it was sent; sequences that are no character are dropped.
func (k *keys) feed(b []byte, press func(r rune, pasted bool)) {
	k.pending = append(k.pending, b...)
	for len(k.pending) > 0 {
		n := k.next(press)
		if n == 0 {
			return
		}
		k.pending = k.pending[n:]
	}
}

func (k *keys) next(press func(rune, bool)) (n int) {
	if k.pending[0] == '\x1b' {
		n = sequence(k.pending)
		switch string(k.pending[:n]) {
		case pasteBegin:
			k.pasting, k.cr = true, false
		case pasteEnd:
			k.pasting = false
		}
		return n
	}
	if !utf8.FullRune(k.pending) {
		return 0
	}
	r, n := utf8.DecodeRune(k.pending)
	again := k.cr && r == '\n'
	k.cr = k.pasting && r == '\r'
	if k.cr {
		r = '\n'
	}
	if !again {
		press(r, k.pasting)
	}
	return n
}

// sequence is the length of the escape sequence that b begins with, 0 while
// its end is missing. What is none is ESC alone.
func sequence(b []byte) int {
	switch {
	case len(b) == 1:
		return 0
	case b[1] == 'O' && len(b) == 2:
		return 0
	case b[1] == 'O':
		return 3
	case b[1] != '[':
		return 1
	}
	for i := 2; i < len(b) && i < 32; i++ {
		if b[i] < ' ' || b[i] > '~' {
			return 1
		}
		if b[i] >= '@' {
			return i + 1
		}
	}
	if len(b) >= 32 {
		return 1
	}
	return 0
}
