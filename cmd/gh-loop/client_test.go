package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// client is a person's terminal that is attached to the script's tmux server.
type client struct {
	name string
	cmd  *exec.Cmd
	tty  *os.File

	mu   sync.Mutex
	seen []byte // what it was sent since a key was pressed last
}

// Write takes what tmux draws.
func (c *client) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, b...)
	return len(b), nil
}

func (c *client) end() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = c.tty.Close()
}

// attach: client NAME SESSION [-r|-C] - NAME becomes a variable that holds the
// client's name in tmux.
func attach(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: client NAME SESSION [-r|-C]")
	}
	w := worldOf(ts)
	words := []string{"-u", "-S", w.socket}
	if len(args) > 2 && args[2] == "-C" {
		words, args = append(words, "-C"), args[:2]
	}
	cmd := exec.Command(w.tmux, append(append(words, "attach-session", "-t", "="+args[1]), args[2:]...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TMUX=", "HOME="+ts.Getenv("HOME"))
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	ts.Check(err)
	c := &client{name: args[0], cmd: cmd, tty: tty}
	w.clients = append(w.clients, c)
	go func() { _, _ = io.Copy(c, tty) }() // ends with the terminal
	waiting(ts, false, "looks", args[:2])
	name, err := w.seen(w.clients[len(w.clients)-1], "#{client_name}")
	ts.Check(err)
	ts.Setenv(args[0], name)
}

// seen asks tmux for something about a client.
func (w *world) seen(c *client, format string) (string, error) {
	got, err := w.ask("list-clients", "-F", "#{client_pid}="+format)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, got)
	}
	for _, f := range strings.Fields(got) {
		if pid, is, _ := strings.Cut(f, "="); pid == strconv.Itoa(c.cmd.Process.Pid) {
			return is, nil
		}
	}
	return "", fmt.Errorf("client %s is not attached; there are %q", c.name, got)
}

func (w *world) client(name string) (*client, error) {
	for _, c := range w.clients {
		if c.name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("there is no client %q", name)
}

// press: press NAME KEYS - types at a client; escapes are as in Go ("\x02" is Ctrl-B).
func press(ts *testscript.TestScript, neg bool, args []string) {
	c, err := worldOf(ts).client(args[0])
	ts.Check(err)
	keys, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	c.mu.Lock()
	c.seen = nil
	c.mu.Unlock()
	_, err = c.tty.WriteString(keys)
	ts.Check(err)
}

// sees: sees NAME TEXT - the client was sent that text since its last key,
// whatever is drawn between its words.
func sees(ts *testscript.TestScript, args []string) error {
	c, err := worldOf(ts).client(args[0])
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	got := strings.Join(strings.Fields(controls.ReplaceAllString(string(c.seen), " ")), " ")
	if !strings.Contains(got, args[1]) {
		return fmt.Errorf("%s does not see %q but %q", args[0], args[1], got)
	}
	return nil
}

var controls = regexp.MustCompile(`\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|.)|[\x00-\x1f]`)

// looks: looks NAME SESSION - the client shows that session.
func looks(ts *testscript.TestScript, args []string) error {
	w := worldOf(ts)
	c, err := w.client(args[0])
	if err != nil {
		return err
	}
	session, err := w.seen(c, "#{session_name}")
	if err != nil {
		return err
	}
	return same("what the client shows", session, args[1])
}
