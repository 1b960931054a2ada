package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary plays the other processes: it notes 1,000 lines of its own.
func TestMain(m *testing.M) {
	path, name := os.Getenv("GH_LOOP_JOURNAL_TEST"), os.Getenv("GH_LOOP_JOURNAL_NAME")
	if path == "" {
		os.Exit(m.Run())
	}
	for n := range 1000 {
		if err := (Log{Path: path, MaxBytes: 150 << 10}).Note(Line{What: "hook", Item: name, Event: fmt.Sprint(n), Message: strings.Repeat(name, 20)}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func at() time.Time { return time.Date(2026, 8, 7, 12, 41, 55, 7_900_000, time.FixedZone("", 7200)) }

func all(t *testing.T, l Log) []Line {
	t.Helper()
	var got []Line
	if err := l.Read(func(line Line) bool { got = append(got, line); return true }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNote(t *testing.T) {
	l := Log{Path: filepath.Join(t.TempDir(), "state", "log", "events.jsonl"), Now: at}
	hostile := "a\nb\x1b[31m\u009b\u007f\x00\xff<&>"
	for _, line := range []Line{{What: "delivered", Item: "github:octo/repo#15", How: "pasted"}, {What: "error", Message: hostile}, {What: "x", At: "2020-01-01T00:00:00.000Z"}} {
		if err := l.Note(line); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	if first != `{"at":"2026-08-07T10:41:55.007Z","what":"delivered","item":"github:octo/repo#15","how":"pasted"}` {
		t.Errorf("got %s", first)
	}
	if strings.ContainsAny(rest, "\x1b\u009b\u007f\x00") || strings.Count(rest, "\n") != 2 {
		t.Errorf("control characters in %q", rest)
	}
	got := all(t, l)
	if len(got) != 3 || got[1].Message != strings.ToValidUTF8(hostile, "\ufffd") || got[2].At != "2020-01-01T00:00:00.000Z" {
		t.Errorf("read back %+v", got)
	}
	for path, want := range map[string]os.FileMode{l.Path: 0o600, filepath.Dir(l.Path): 0o700} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, fi.Mode(), err)
		}
	}
}

// Damage costs the lines that it hit, and not those after it.
func TestDamage(t *testing.T) {
	l := Log{Path: filepath.Join(t.TempDir(), "e.jsonl"), Now: at}
	note := func(what string) {
		if err := l.Note(Line{What: what, Message: strings.Repeat("é", 20000)}); err != nil {
			t.Fatal(err)
		}
	}
	add := func(text string) {
		f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	note("one")
	add("\x00\x00\nnull\n[1]\n{\"at\":5}\n\n" + strings.Repeat("x", 3*maxLine) + "\n" + `{"what":"half`)
	note("two")
	add(`{"what":"half`)
	got := all(t, l)
	if len(got) != 2 || got[0].What != "one" || got[1].What != "two" || len(got[1].Message) > maxField+8 || !strings.HasSuffix(got[1].Message, "é…") {
		t.Errorf("%d lines", len(got))
	}
	n := 0
	if err := l.Read(func(Line) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("stopped after %d: %v", n, err)
	}
	if got := all(t, Log{Path: filepath.Join(t.TempDir(), "none")}); got != nil {
		t.Errorf("nothing was noted: %v", got)
	}
}

// Four processes write and set aside at once: no line is torn, and no file that
// was set aside is replaced by one that is not full.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	var children []*exec.Cmd
	for n := range 4 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "GH_LOOP_JOURNAL_TEST="+path, fmt.Sprintf("GH_LOOP_JOURNAL_NAME=p%d", n))
		children = append(children, c)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	last := map[string]int{}
	for _, p := range []string{path + ".1", path} {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
			var line Line
			var n int
			if err := json.Unmarshal(text, &line); err != nil || line.Message != strings.Repeat(line.Item, 20) {
				t.Fatalf("torn: %q", text)
			}
			if _, err := fmt.Sscan(line.Event, &n); err != nil {
				t.Fatal(err)
			}
			if before, ok := last[line.Item]; ok && n != before+1 {
				t.Errorf("%s: %d after %d", line.Item, n, before)
			}
			last[line.Item] = n
		}
	}
	if fi, err := os.Stat(path + ".1"); err != nil || fi.Size() < 150<<10 {
		t.Errorf("set aside too early: %v %v", fi.Size(), err)
	}
}

// Follow gives what is there, says so, and goes on through files set aside.
func TestFollow(t *testing.T) {
	for _, begin := range []int{0, 7} {
		l := Log{Path: filepath.Join(t.TempDir(), "e.jsonl"), MaxBytes: 300, Now: at}
		note := func(n int) {
			if err := l.Note(Line{What: "hook", Event: fmt.Sprint(n)}); err != nil {
				t.Error(err)
			}
		}
		for n := range begin {
			note(n)
		}
		there := len(all(t, l))
		got := make(chan string, 100)
		ended := make(chan error)
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		go func() {
			ended <- l.Follow(ctx, time.Millisecond, func(line Line) bool { got <- line.Event; return line.Event != "29" }, func() bool { got <- "caught up"; return true })
		}()
		for range there {
			<-got
		}
		if s := <-got; s != "caught up" {
			t.Errorf("%q instead of an end of what was there", s)
		}
		for n := begin; n < 30; n++ {
			note(n)
			if s := <-got; s != fmt.Sprint(n) {
				t.Errorf("%q instead of %d", s, n)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// What cannot be written is an error that names the file.
func TestNoteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "e.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "e.jsonl"), "/dev/full"} {
		if err := (Log{Path: path}).Note(Line{What: "x"}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"what\":\"a\"}\n\x00\n{"))
	path := filepath.Join(f.TempDir(), "e.jsonl")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l := Log{Path: path, Now: at}
		before := len(all(t, l))
		if err := l.Note(Line{What: "mine", Message: string(b)}); err != nil {
			t.Fatal(err)
		}
		got := all(t, l)
		if len(got) < before+1 || got[len(got)-1].What != "mine" {
			t.Errorf("the line after the damage is lost: %d, then %d", before, len(got))
		}
	})
}
