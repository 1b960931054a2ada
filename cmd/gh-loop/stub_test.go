package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// started is a line of starts.jsonl: how an agent was started.
type started struct {
	Mode, ID, Prompt, Cwd, Ref, Item, Role, Pane string
	Died                                         bool
}

// stubAgent stands in for a coding agent. It notes in $STUB_DIR how it was
// started (starts.jsonl) and every byte that is typed at it (in.ID), which it
// shows as a composer would. It ends when Ctrl-D is pressed. What the file
// $STUB_DIR/mode holds changes that: see the command stub in testdata/README.md.
func stubAgent() {
	dir := os.Getenv("STUB_DIR")
	if len(os.Args) == 2 && os.Args[1] == "child" {
		child(dir)
	}
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fail(fmt.Errorf("stub-agent got %q", os.Args))
	}
	s := started{Mode: strings.TrimPrefix(os.Args[1], "--"), ID: os.Args[2], Ref: os.Getenv("GH_LOOP_REF"),
		Item: os.Getenv("GH_LOOP_ITEM"), Role: os.Getenv("GH_LOOP_ROLE"), Pane: os.Getenv("TMUX_PANE")}
	if len(os.Args) == 4 {
		s.Prompt = os.Args[3]
	}
	s.Cwd, _ = os.Getwd()
	s.Died = mode(dir, "broken") || mode(dir, "dies") && s.Mode == "resume"
	line, err := json.Marshal(s)
	if err != nil {
		fail(err)
	}
	note(dir, "starts.jsonl", append(line, '\n'))
	if s.Died {
		fmt.Println("stub-agent: it was told to die")
		os.Exit(3)
	}
	if mode(dir, "stubborn") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if mode(dir, "parent") {
		fork()
	}
	poll(func() bool { return !mode(dir, "slow") })
	listen(dir, s.ID)
	os.Exit(0)
}

func listen(dir, id string) {
	if _, err := term.MakeRaw(0); err != nil {
		fail(err)
	}
	whole := mode(dir, "screen")
	if whole {
		fmt.Print("\x1b[?1049h")
	}
	if !mode(dir, "plain") {
		fmt.Print("\x1b[?2004h")
	}
	fmt.Printf("ready %s\r\n", id)
	note(dir, "ready."+id, nil)
	show := strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "", "\n", "\r\n", "\r", "\r\n")
	typed, asks, draft := make([]byte, 1<<16), false, ""
	for {
		n, err := os.Stdin.Read(typed)
		at := time.Now()
		if err != nil || bytes.Equal(typed[:n], []byte{4}) {
			return
		}
		if asks = asks || n == 1 && typed[0] == 'P'; asks {
			asks = ask(dir, id, typed[:n])
			continue
		}
		if mode(dir, "clock") {
			note(dir, "clock", []byte(strconv.FormatInt(at.UnixNano(), 10)+"\n"))
		}
		if mode(dir, "busy") { // it works, reads nothing of it, and says so
			note(dir, "lost."+id, typed[:n])
			fmt.Print("\rworking...")
			continue
		}
		if mode(dir, "dialog") {
			note(dir, "lost."+id, typed[:n])
			fmt.Print("\x1b[2J\x1b[H+---------------------------+\r\n| Do you trust this folder? |\r\n+---------------------------+\r\n")
			continue
		}
		note(dir, "in."+id, typed[:n])
		switch draft += show.Replace(string(typed[:n])); {
		case mode(dir, "mute"):
		case whole:
			redraw(id, draft)
		default:
			fmt.Print(show.Replace(string(typed[:n])))
		}
	}
}

// redraw paints all of the screen anew, as agents that own it do at each key:
// a frame, and in it the last lines of what was typed.
func redraw(id, draft string) {
	lines := strings.Split(draft, "\r\n")
	if len(lines) > 12 {
		lines = lines[len(lines)-12:]
	}
	rule := strings.Repeat("-", 60)
	fmt.Printf("\x1b[?2026h\x1b[2J\x1b[Hsession %s\r\n%s\r\n> %s\r\n%s\r\n? for help\x1b[?2026l", id, rule, strings.Join(lines, "\r\n  "), rule)
}

// ask is a permission prompt, which P opens: whatever is typed answers it. The
// agent's hooks say when it is open, and when it is not any more.
func ask(dir, id string, typed []byte) (open bool) {
	if string(typed) == "P" {
		fmt.Print("\r\nAllow this? y/n ")
		hook("waiting")
		note(dir, "asks."+id, nil)
		return true
	}
	note(dir, "answers."+id, typed)
	fmt.Print("answered\r\n")
	hook("running")
	return false
}

// hook calls gh-loop as the settings of an agent do.
func hook(state string) {
	if out, err := exec.Command(os.Getenv("GH_LOOP_BIN"), "hook", "harness", state).CombinedOutput(); err != nil || len(out) > 0 {
		fail(fmt.Errorf("a hook must be silent: %q, %w", out, err))
	}
}

// fork leaves two children: one in the pane's session, one in its own.
func fork() {
	self, err := os.Executable()
	if err != nil {
		fail(err)
	}
	for _, own := range []bool{false, true} {
		c := exec.Command(self, "child")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: own}
		if err := c.Start(); err != nil {
			fail(err)
		}
	}
}

// child ignores being asked, and holds a lock by which it is seen to live.
func child(dir string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("child.%d", os.Getpid())))
	if err != nil {
		fail(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		fail(err)
	}
	poll(func() bool { _, err := os.Stat(dir); return err != nil })
	os.Exit(0)
}

func mode(dir, word string) bool {
	b, _ := os.ReadFile(filepath.Join(dir, "mode"))
	return slices.Contains(strings.Fields(string(b)), word)
}

// poll looks until something is so, or for as long as any script may run.
func poll(so func() bool) {
	for end := time.Now().Add(5 * time.Minute); !so() && time.Now().Before(end); <-time.After(5 * time.Millisecond) {
	}
}

func note(dir, name string, b []byte) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fail(err)
	}
	if _, err := f.Write(b); err != nil {
		fail(err)
	}
	if err := f.Close(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "stub-agent: %v\r\n", err)
	os.Exit(2)
}
