package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminal runs an echo agent on a terminal of its own.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cancel context.CancelFunc
	ended  chan error

	mu   sync.Mutex
	seen strings.Builder
}

func run(t *testing.T, dir string, args ...string) *terminal {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &terminal{t: t, master: master, slave: slave, cancel: cancel, ended: make(chan error, 1)}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.ended <- Echo(ctx, args, slave, slave, dir)
	}()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			c.mu.Lock()
			c.seen.Write(b[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		_ = master.Close()
		_ = slave.Close()
	})
	return c
}

func (c *terminal) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.String()
}

// await waits until all of the texts were printed, in that order.
func (c *terminal) await(texts ...string) {
	c.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		rest, ok := c.text(), true
		for _, s := range texts {
			_, rest, ok = strings.Cut(rest, s)
			if !ok {
				break
			}
		}
		if ok {
			return
		}
		select {
		case <-deadline:
			c.t.Fatalf("%q is not in %q", texts, c.text())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (c *terminal) send(s string) {
	c.t.Helper()
	if _, err := c.master.WriteString(s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *terminal) end() error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(20 * time.Second):
		c.t.Fatalf("it does not end: %q", c.text())
		return nil
	}
}

func TestEchoConversation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "echo")
	c := run(t, dir, "--session-id", id, "first\nprompt")
	c.await(pasteOn, "conversation "+id, "message 1\r\n| first\r\n| prompt\r\necho: 2 lines\r\n", "> ")
	c.send(pasteBegin + "one\rtwo\r\nthree\ttab\x07 nonce-77" + pasteEnd)
	c.await("> one\r\n  two\r\n  three    tab nonce-77")
	c.send("\r")
	c.await("message 2\r\n| one\r\n| two\r\n| three    tab nonce-77\r\necho: 3 lines\r\n", "> ")
	c.send("wrnog\x7f\x7f\x7fong\r")
	c.await("message 3\r\n| wrong\r\necho: 1 line\r\n")
	c.send("\x04")
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	c.await(pasteOff)

	again := run(t, dir, "--resume", id, "more")
	again.await("message 1\r\n| first", "message 3\r\n| wrong", "resumed, 3 messages", "message 4\r\n| more")
	again.send("\x03")
	if err := again.end(); err != nil {
		t.Fatal(err)
	}
}

// The terminal is raw before anybody can know that it may be pasted at, and is
// given back as it was.
func TestEchoTerminal(t *testing.T) {
	c := run(t, t.TempDir(), "--session-id", id)
	before := pasteOn
	c.await(before)
	raw, err := term.GetState(int(c.slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c.cancel()
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	after, err := term.GetState(int(c.slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *raw == *after {
		t.Error("the terminal was not raw, or still is")
	}
}

// A paste longer than the screen, cut anywhere, arrives whole and once.
func TestEchoLongPaste(t *testing.T) {
	dir := t.TempDir()
	c := run(t, dir, "--session-id", id)
	c.await(pasteOn)
	line := strings.Repeat("0123456789 äöü 漢字 ", 5) + "\n"
	c.send(pasteBegin + strings.Repeat(line, 1000) + "the end" + pasteEnd)
	c.await("\r\n  the end")
	c.send("\r")
	c.await("echo: 1001 lines")
	talk, err := openConversation(dir, id, true)
	if err != nil || len(talk.messages) != 1 || talk.messages[0].Text != strings.Repeat(line, 1000)+"the end" {
		t.Errorf("kept %d messages, %v", len(talk.messages), err)
	}
}

func TestEchoRefusals(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "used.jsonl"), []byte("{\"text\":\"x\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"there is no conversation " + id:     {"--resume", id},
		"conversation used is there already": {"--session-id", "used"},
		`"../x" is no conversation id`:       {"--resume", "../x"},
		"usage: ":                            {"--resume"},
	} {
		if err := run(t, dir, args...).end(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	if err := Echo(context.Background(), []string{"--session-id", id}, null, null, dir); err == nil || !strings.Contains(err.Error(), "a terminal") {
		t.Error(err)
	}
}

// A conversation's file that a power cut left torn loses only the torn line.
func TestTornConversation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"text\":\"one\"}\n{\"text\":\"tw"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		talk, err := openConversation(dir, "a", true)
		if err != nil || len(talk.messages) != 1+i {
			t.Fatalf("%d messages, %v", len(talk.messages), err)
		}
		if err := talk.add("more"); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is typed, in pieces of any size, gives the same characters, and no
// paste presses a key.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\r\nc\x1b[201~\r\x1b[A\x1bOP\x1b"), uint8(3))
	f.Add([]byte("\xff\x1b[\x00\xe6\xbc\xa2\x1b[999999999999999999999999999999999999999~"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		read := func(size int) string {
			var k keys
			var got strings.Builder
			for rest := b; len(rest) > 0; {
				piece := rest[:min(size, len(rest))]
				k.feed(piece, func(r rune, pasted bool) {
					if pasted && r == '\r' {
						t.Fatal(errors.New("a pasted return"))
					}
					got.WriteRune(r)
				})
				rest = rest[len(piece):]
			}
			return got.String()
		}
		if a, b := read(int(n)+1), read(1<<20); a != b {
			t.Fatalf("%q in pieces, %q at once", a, b)
		}
	})
}
