package journal

import (
	"path/filepath"
	"testing"
	"time"
)

// A hook that goes wrong ten thousand times leaves a line, not ten thousand.
func TestNoteOnce(t *testing.T) {
	now := time.Date(2026, 8, 7, 10, 0, 0, 0, time.UTC)
	l := Log{Path: filepath.Join(t.TempDir(), "log", "events.jsonl"), Now: func() time.Time { return now }}
	note := func(message string) {
		t.Helper()
		if err := l.NoteOnce(Line{What: "hook", Message: message}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for range 10000 {
		note("a")
	}
	note("b")
	note("a")
	now = now.Add(time.Hour)
	note("a")
	n := 0
	if err := l.Read(func(Line) bool { n++; return true }); err != nil || n != 3 { // a, b, and an hour later a
		t.Errorf("%d lines, %v", n, err)
	}
}
