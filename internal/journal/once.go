package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"
)

// NoteOnce is Note for what may happen over and over: a line that says the same
// as the last one, which is younger than within, is not written.
func (l Log) NoteOnce(line Line, within time.Duration) error {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	if last, ok := l.last(); ok {
		at, err := time.Parse(time.RFC3339, last.At)
		last.At = ""
		if err == nil && last == line && now().Sub(at) < within {
			return nil
		}
	}
	return l.Note(line)
}

// last reads the log's last line, if it is not longer than such lines are.
func (l Log) last() (Line, bool) {
	f, err := os.Open(l.Path)
	if err != nil {
		return Line{}, false
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return Line{}, false
	}
	b := make([]byte, min(end, 4<<10))
	if _, err := f.ReadAt(b, end-int64(len(b))); err != nil {
		return Line{}, false
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	var line Line
	err = json.Unmarshal(b[bytes.LastIndexByte(b, '\n')+1:], &line)
	return line, err == nil
}
