package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

const (
	// longest is how much of one string a condensed body keeps, in bytes: what
	// GitHub lets people write, 65,536 characters of at most four.
	longest = 4 * 65536
	// condensed is the largest condensed body, in bytes. What is left of a real
	// one is some ten kB and the texts of a pull request and a review.
	condensed = 4 << 20
	// deepest is encoding/json's own bound.
	deepest = 10000
)

// Condense reads one JSON value and gives what Read needs of it, so that a
// body of any length is never in memory: of an object the members that we
// know, and of a string so much as GitHub lets people write. What follows the
// value is left in in. A body that Condense refuses is no JSON, is deeper than
// encoding/json reads, or has over 4 MB left; io.EOF: there is no value.
func Condense(in *bufio.Reader) ([]byte, error) {
	s := sieve{in: in, keep: true}
	switch c, err := s.token(); {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, err
	default:
		err = s.value(c, 0)
		if errors.Is(err, io.EOF) {
			err = s.refuse(io.ErrUnexpectedEOF)
		}
		return s.out.Bytes(), err
	}
}

// CondenseAll is Condense where nothing but white space may follow the value.
func CondenseAll(in io.Reader) ([]byte, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	body, err := Condense(r)
	if errors.Is(err, io.EOF) {
		return nil, &BodyError{fmt.Errorf("the webhook body is empty: %s", cure)}
	}
	if err != nil {
		return nil, err
	}
	switch c, err := (&sieve{in: r}).token(); {
	case errors.Is(err, io.EOF):
		return body, nil
	case err != nil:
		return nil, err
	default:
		return nil, &BodyError{fmt.Errorf("the webhook body is not JSON: invalid character %q behind it: %s", c, cure)}
	}
}

type sieve struct {
	in   *bufio.Reader
	out  bytes.Buffer
	keep bool // what is read is wanted
	at   int64
}

func (s *sieve) next() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		s.at++
	}
	return c, err
}

// back gives the last byte back.
func (s *sieve) back() {
	_ = s.in.UnreadByte() // it was just read
	s.at--
}

func (s *sieve) put(c ...byte) {
	if s.keep {
		s.out.Write(c)
	}
}

// token gives the next byte that is no white space.
func (s *sieve) token() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

func (s *sieve) wrong(c byte, where string) error {
	return s.refuse(fmt.Errorf("invalid character %q %s", c, where))
}

// refuse says where a body is wrong.
func (s *sieve) refuse(err error) error {
	return &BodyError{fmt.Errorf("the webhook body is not JSON at byte %d: %w: %s", s.at, err, cure)}
}

var (
	errTooDeep = errors.New("the webhook body is nested too deeply")
	errTooMuch = errors.New("the webhook body has over 4 MB besides its long texts, which GitHub never sends")
)

func alnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// value reads the value that begins with c.
func (s *sieve) value(c byte, depth int) error {
	if s.out.Len() > condensed {
		return &BodyError{errTooMuch}
	}
	switch {
	case depth > deepest:
		return &BodyError{errTooDeep}
	case c == '{':
		return s.list('}', func(c byte) error { return s.member(c, depth) })
	case c == '[':
		return s.list(']', func(c byte) error { return s.value(c, depth+1) })
	case c == '"':
		return s.text()
	case c == '-' || alnum(c):
		return s.scalar(c)
	}
	return s.wrong(c, "looking for a value")
}

// list reads what stands between brackets of which the first was read.
func (s *sieve) list(end byte, each func(c byte) error) error {
	s.put(end - 2) // "[" and "{" stand two before "]" and "}"
	c, err := s.token()
	for first := true; err == nil && (!first || c != end); first = false {
		if err = each(c); err != nil {
			return err
		}
		if c, err = s.token(); err != nil || c == end {
			break
		}
		if c != ',' {
			return s.wrong(c, "after an element")
		}
		s.put(c)
		c, err = s.token()
	}
	if err == nil {
		s.put(end)
	}
	return err
}

// member reads a name and its value. At the top, what nobody reads is dropped:
// its value becomes null, as what is left must be JSON.
func (s *sieve) member(c byte, depth int) error {
	if c != '"' {
		return s.wrong(c, "looking for a member's name")
	}
	begin := s.out.Len()
	err := s.text()
	if err != nil {
		return err
	}
	unread := depth == 0 && !known(string(bytes.Trim(s.out.Bytes()[begin:], `"`)))
	if c, err = s.token(); err == nil && c != ':' {
		err = s.wrong(c, "after a member's name")
	}
	if err != nil {
		return err
	}
	s.put(c)
	if c, err = s.token(); err != nil {
		return err
	}
	if !unread {
		return s.value(c, depth+1)
	}
	s.out.WriteString("null")
	s.keep = false
	err = s.value(c, depth+1)
	s.keep = true
	return err
}

// known says whether a member of a body's top is one of payload's. Case is
// folded as encoding/json does, and a name with escapes may be any.
func known(name string) bool {
	t := reflect.TypeFor[payload]()
	for i := range t.NumField() {
		if strings.EqualFold(name, t.Field(i).Tag.Get("json")) {
			return true
		}
	}
	return strings.Contains(name, `\`)
}

// text reads a string whose first quotation mark was read.
func (s *sieve) text() error {
	s.put('"')
	begin := s.at
	was := s.keep
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c < 0x20:
			return s.wrong(c, "in a string")
		case c == '"':
			s.keep = was
			s.put(c)
			return nil
		case c&0xc0 != 0x80 && s.at-begin > longest: // between characters only
			s.keep = false
		}
		s.put(c)
		if c == '\\' {
			if err := s.escape(); err != nil {
				return err
			}
		}
	}
}

func (s *sieve) escape() error {
	c, err := s.next()
	if err != nil {
		return err
	}
	s.put(c)
	switch {
	case c != 'u' && strings.IndexByte(`"\/bfnrt`, c) < 0:
		return s.wrong(c, "in an escape")
	case c != 'u':
		return nil
	}
	for range 4 {
		if c, err = s.next(); err != nil {
			return err
		}
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return s.wrong(c, `in a \u escape`)
		}
		s.put(c)
	}
	return nil
}

// scalar reads a number or a word that begins with c.
func (s *sieve) scalar(c byte) error {
	text := []byte{c}
	for {
		c, err := s.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil || !alnum(c) && strings.IndexByte("+-.", c) < 0 {
			if err == nil {
				s.back()
			}
			if !json.Valid(text) {
				return s.refuse(fmt.Errorf("invalid value %q", Line(string(text), 40)))
			}
			s.put(text...)
			return nil
		}
		if text = append(text, c); len(text) > longest {
			return &BodyError{errTooMuch}
		}
	}
}
