// Package journal is the event log: one JSON object a line, for people and
// scripts. Nothing is ever decided by it.
package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// Line is one thing that happened.
type Line struct {
	At       string `json:"at"` // RFC 3339 with milliseconds, UTC; Note sets it when it is empty
	What     string `json:"what"`
	Item     string `json:"item,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	Event    string `json:"event,omitempty"`
	Delivery string `json:"delivery,omitempty"`
	How      string `json:"how,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// DefaultMaxBytes is how long the file gets before it is set aside.
const DefaultMaxBytes = 50 << 20

// maxField bounds one field of a line, in bytes; maxLine bounds what Read
// takes for a line, which every line that Note writes keeps within.
const (
	maxField = 8 << 10
	maxLine  = 1 << 20
)

// Log is the event log's file. Beside it, with .1 behind its name, is the one
// before it.
type Log struct {
	Path     string
	MaxBytes int64            // 0 means DefaultMaxBytes
	Now      func() time.Time // nil means time.Now
}

// Note appends a line, with one write: processes that write at once do not tear
// each other's lines. A line is on its way to the disk, not on it.
func (l Log) Note(line Line) error {
	if line.At == "" {
		now := l.Now
		if now == nil {
			now = time.Now
		}
		line.At = now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	b, err := encode(line)
	if err != nil {
		return err
	}
	f, err := l.open()
	if err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	defer f.Close()
	if !endsLine(f) { // a full disk or a power cut left half a line
		b = append([]byte{'\n'}, b...)
	}
	if _, err := f.Write(b); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	return nil
}

// open gives the file, opened for appending and locked until it is closed,
// after setting a full one aside. Whoever renames the file holds its lock and
// has seen that it still is the file, so that of two processes one sets it aside
// and none replaces a full .1 by an empty file. A lock that is not to be had
// (its holder was stopped) is done without: a line counts more than its neatness.
func (l Log) open() (*os.File, error) {
	limit := l.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	for {
		f, err := l.create()
		if err != nil {
			return nil, err
		}
		if !lock(f) {
			return f, nil
		}
		fi, err := f.Stat()
		if err != nil {
			return f, nil
		}
		current := sameFile(f, l.Path)
		if current && (fi.Size() < limit || !fi.Mode().IsRegular() || os.Rename(l.Path, l.Path+".1") != nil) {
			return f, nil
		}
		f.Close()
	}
}

func (l Log) create() (*os.File, error) {
	f, err := os.OpenFile(l.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(l.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	}
	return f, err
}

// lock waits for the file's lock, which is held for microseconds, no longer
// than a fifth of a second.
func lock(f *os.File) bool {
	for range 200 {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

func endsLine(f *os.File) bool {
	fi, err := f.Stat()
	if err != nil || fi.Size() == 0 {
		return true
	}
	last := []byte{0}
	n, err := f.ReadAt(last, fi.Size()-1)
	return n == 0 || err != nil || last[0] == '\n'
}

// encode gives the line's bytes. Every control character is escaped, also
// those above ASCII, so that a terminal that shows the raw file obeys none.
func encode(line Line) ([]byte, error) {
	for _, s := range []*string{&line.At, &line.What, &line.Item, &line.Endpoint, &line.Event, &line.Delivery, &line.How, &line.Reason, &line.Message} {
		*s = cut(*s)
	}
	b, err := json.Marshal(line)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, r := range string(b) {
		if unicode.IsControl(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String() + "\n"), nil
}

func cut(s string) string {
	if len(s) <= maxField {
		return s
	}
	s = s[:maxField]
	for !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && len(s) > maxField-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s + "…"
}
