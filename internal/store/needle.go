package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gh-loop/gh-loop/internal/work"
)

// needle finds a ref in a record's bytes without parsing them. It may say yes
// too often, and never says no when the record names the ref.
type needle struct {
	number string // #16
	repo   []byte // octo/repo, with a host before it unless it is the default one
}

func newNeedle(ref work.Ref) needle {
	return needle{"#" + strconv.FormatInt(ref.Number, 10), []byte(ref.Repository().String())}
}

func (n needle) in(b []byte) bool {
	for rest, at := b, 0; ; {
		i := bytes.Index(rest, []byte(n.number))
		if i < 0 {
			break
		}
		at += i
		before, after := b[:at], b[at+len(n.number):]
		longer := len(after) > 0 && after[0] >= '0' && after[0] <= '9'
		if !longer && len(before) >= len(n.repo) && bytes.EqualFold(before[len(before)-len(n.repo):], n.repo) {
			return true
		}
		at += len(n.number)
		rest = b[at:]
	}
	return bytes.Contains(b, []byte("#0")) || escaped(b) // #016 is #16
}

// escaped says whether JSON escapes may hide a part of a ref: every character
// of one is printable ASCII.
func escaped(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return false
		}
		e := b[i:]
		if e[1] == '/' || e[1] == 'u' && (len(e) < 6 || e[2] == '0' && e[3] == '0' && e[4] >= '2' && e[4] <= '7') {
			return true
		}
		b = e[2:]
	}
}

// sound is how damage is noticed in a record that is not parsed because the
// ref looked for is not in its bytes. A file that was mangled by an editor still
// shows its refs, so it cannot be the one that is looked for; what hides a ref is
// lost bytes: an empty or cut file, zeros after a power cut, another file's
// blocks. A file cut short does not end as ours do, in a brace at the beginning of
// a line; one that ends otherwise, or may be of another version, is parsed.
func sound(b []byte) error {
	text := bytes.TrimRight(b, " \t\r\n")
	switch {
	case len(text) == 0:
		return fmt.Errorf("it is empty")
	case bytes.IndexByte(text, 0) >= 0:
		return fmt.Errorf("it holds zero bytes, as a file does after a power cut")
	case !utf8.Valid(text):
		return fmt.Errorf("it is no UTF-8 text")
	case text[0] != '{' || !bytes.HasSuffix(text, []byte("\n}")) && !json.Valid(text):
		return fmt.Errorf("it is no whole JSON object")
	case bytes.Contains(text, []byte(`"version"`)) || !bytes.Contains(text, []byte(`"workItem"`)):
		_, err := work.ParseRecord(b)
		return err
	}
	return nil
}
