package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"
)

// lately is how much of the log's end NoteOnce looks at, in bytes.
const lately = 16 << 10

// NoteOnce is Note for what may happen over and over: a line that says the same
// as one at the log's end, which is younger than within, is not written.
func (l Log) NoteOnce(line Line, within time.Duration) error {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	for b := range bytes.Lines(l.end()) {
		var was Line
		if json.Unmarshal(b, &was) != nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, was.At)
		was.At = ""
		if err == nil && was == line && now().Sub(at) < within {
			return nil
		}
	}
	return l.Note(line)
}

// end reads the log's last lines; the first of them may lack its beginning.
func (l Log) end() []byte {
	f, err := os.Open(l.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	b := make([]byte, min(size, lately))
	n, err := f.ReadAt(b, size-int64(len(b)))
	if err != nil && err != io.EOF {
		return nil
	}
	return b[:n]
}
