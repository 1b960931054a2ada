package work

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"unicode/utf8"
)

// Every command reads records, so a record's bytes are checked once, by
// encoding/json, and are then cut where they stand: no copy is made of what
// nobody asks for. What is cut here is valid JSON already; bytes that are not
// are cut somewhere, and never read beyond.

// membersOf cuts an object's bytes.
func membersOf(b []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for i := next(b, 0); i < len(b) && b[i] == '"'; i = next(b, i) {
			name := b[i:past(b, i)]
			from := gap(b, gap(b, i+len(name))+1) // behind the colon
			i = past(b, from)
			if !yield(nameOf(name), clip(b, from, i)) {
				return
			}
		}
	}
}

// isObject says whether checked bytes are an object's.
func isObject(b []byte) bool {
	b = b[gap(b, 0):]
	return len(b) > 0 && b[0] == '{'
}

// elementsOf cuts a list's bytes; nil if it is no list.
func elementsOf(b []byte) []json.RawMessage {
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	all := []json.RawMessage{}
	for i := next(b, 0); i < len(b) && b[i] != ']'; i = next(b, i) {
		from := i
		i = past(b, from)
		all = append(all, clip(b, from, i))
	}
	return all
}

// next is where the next member or element begins: behind the bracket or comma
// at i, or behind the blanks before it. At the end it is the closing bracket.
func next(b []byte, i int) int {
	begin := i == 0
	i = gap(b, i)
	if i < len(b) && (b[i] == ',' || begin) {
		i = gap(b, i+1)
	}
	return i
}

// gap is where the blanks from i on end.
func gap(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// past is where the value that begins at i ends. It is beyond i.
func past(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = pastString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default: // a number or a word; between brackets, what parts values
			i++
			for depth == 0 && i < len(b) && bytes.IndexByte([]byte(",]} \n\t\r"), b[i]) < 0 {
				i++
			}
		}
		if depth <= 0 {
			break
		}
	}
	return min(i, len(b))
}

func pastString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func clip(b []byte, from, to int) json.RawMessage {
	from = min(from, to)
	return b[from:to:to]
}

// plain gives a string's text where its bytes say it as it is.
func plain(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' || bytes.IndexByte(v, '\\') >= 0 || !utf8.Valid(v) {
		return "", false
	}
	return string(v[1 : len(v)-1]), true
}

// nameOf gives a member's name, mostly as it stands there.
func nameOf(v []byte) []byte {
	if len(v) >= 2 && bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
		return v[1 : len(v)-1]
	}
	var s string
	_ = json.Unmarshal(v, &s) // a name of a valid object is a string
	return []byte(s)
}

// read is json.Unmarshal, and knows the usual kinds of values by sight.
func read(v json.RawMessage, at any) error {
	switch at := at.(type) {
	case *string:
		if s, ok := plain(v); ok {
			*at = s
			return nil
		}
	case *Status:
		return read(v, (*string)(at))
	case *Ending:
		return read(v, (*string)(at))
	case *[]string:
		if all, ok := plains(v); ok {
			*at = all
			return nil
		}
	}
	return json.Unmarshal(v, at)
}

// plains reads a list of strings, all in one copy.
func plains(v json.RawMessage) ([]string, bool) {
	if len(v) == 0 || v[0] != '[' || bytes.IndexByte(v, '\\') >= 0 || !utf8.Valid(v) {
		return nil, false
	}
	text := string(v)
	all := slices.Grow([]string{}, bytes.Count(v, []byte{'"'})/2)
	for i := next(v, 0); i < len(v) && v[i] != ']'; i = next(v, i) {
		from := i
		i = past(v, from)
		if v[from] != '"' {
			return nil, false
		}
		all = append(all, text[from+1:i-1])
	}
	return all, true
}
