package harness

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

func TestRing(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer tty.Close()
	text := "\x1b]9;octo/repo#15 waits for you\a"
	if err := Ring(tty.Name(), text); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, err := master.Read(b)
	if err != nil || string(b[:n]) != text {
		t.Errorf("%q, %v", b[:n], err)
	}
	if err := Ring("/no/such/tty", text); err == nil {
		t.Error("a terminal that is gone was written to")
	}
	// A terminal that nobody reads is not waited for.
	for range 100 {
		if err = Ring(tty.Name(), strings.Repeat("x", 1<<12)); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("a full terminal took everything")
	}
}
