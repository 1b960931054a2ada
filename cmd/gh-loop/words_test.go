package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// check is something that a script states. The error says what is so instead.
type check func(ts *testscript.TestScript, args []string) error

// checks are the statements; each is a command, and waitfor takes each.
func checks() map[string]check {
	return map[string]check{
		"fate": fate, "arrived": arrived, "nowhere": nowhere, "messages": messages, "ready": ready,
		"record": record, "records": records, "sessions": sessions, "json": asJSON, "logged": logged,
		"tmux": tmuxSays, "screen": screen, "there": there, "looks": looks, "sees": sees, "children": children, "inbox": inbox, "tidy": tidy,
		"line": hasLine, "failing": failing,
	}
}

// patience is how long a script waits for what must come.
const patience = 20 * time.Second

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"body": writeBody, "feed": feed, "item": item, "stub": setMode, "config": setConfig,
		"repo": repo, "head": head,
		"client": attach, "press": press, "waitfor": waitFor, "setvar": setVar, "killserver": killServer,
		"github": onGitHub, "hook": onHook,
	}
	for name, c := range checks() {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			err := c(ts, args)
			switch {
			case neg && err == nil:
				ts.Fatalf("%s %q holds, and should not", name, args)
			case !neg && err != nil:
				ts.Fatalf("%s", err)
			}
		}
	}
	// What arrives at an agent is there a moment after tmux typed it.
	for _, name := range []string{"arrived", "messages", "ready", "screen", "looks", "sees"} {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) { waiting(ts, neg, name, args) }
	}
	return all
}

// waitFor polls until a statement holds: waitfor [!] CHECK [ARG...].
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitfor [!] CHECK [ARG...]")
	}
	if args[0] == "!" {
		waiting(ts, true, args[1], args[2:])
		return
	}
	waiting(ts, false, args[0], args[1:])
}

func waiting(ts *testscript.TestScript, neg bool, name string, args []string) {
	c := checks()[name]
	if c == nil {
		ts.Fatalf("waitfor cannot check %q", name)
	}
	for end := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		err := c(ts, args)
		if (err == nil) != neg {
			return
		}
		if time.Now().After(end) {
			if neg {
				err = fmt.Errorf("%s %q still holds", name, args)
			}
			ts.Fatalf("after %s: %s", patience, err)
		}
	}
}

// writeBody: body KIND [FLAG...].
func writeBody(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	w.ids++
	b, err := newBody(args, 1000+w.ids)
	ts.Check(err)
	text, err := b.encode()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(b.out), text, 0o600))
}

// feed: feed DELIVERY KIND [FLAG...]. A delivery of "-" is none.
func feed(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: feed DELIVERY KIND [FLAG...]")
	}
	writeBody(ts, false, append(args[1:len(args):len(args)], "-o", "feed.json"))
	call := []string{"event", "--json"}
	if args[0] != "-" {
		call = append(call, "--delivery", args[0])
	}
	err := ts.Exec("gh-loop", append(call, "feed.json")...)
	if (err != nil) != neg {
		ts.Fatalf("gh-loop event: %v", err)
	}
}

// item: item REF [FLAG...] starts an item and waits until its agent listens.
func item(ts *testscript.TestScript, neg bool, args []string) {
	call := append([]string{"start", args[0], "--cwd", filepath.Join(worldOf(ts).work, "work")}, args[1:]...)
	ts.Check(ts.Exec("gh-loop", call...))
	waiting(ts, false, "ready", args[:1])
}

// setMode: stub [MODE...].
func setMode(ts *testscript.TestScript, neg bool, args []string) {
	path := filepath.Join(worldOf(ts).stub, "mode")
	ts.Check(os.WriteFile(path+".new", []byte(strings.Join(args, "\n")), 0o600))
	ts.Check(os.Rename(path+".new", path))
}

// setConfig: config 'KEY = VALUE'...
func setConfig(ts *testscript.TestScript, neg bool, args []string) {
	for _, line := range args {
		ts.Check(worldOf(ts).setting(line))
	}
}

// setVar: setvar NAME FILE EXPR puts what jq finds into a variable.
func setVar(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: setvar NAME FILE EXPR")
	}
	var text string
	if item, ok := strings.CutPrefix(args[1], "record:"); ok {
		_, b, err := worldOf(ts).find(item)
		ts.Check(err)
		text = string(b)
	} else {
		text = ts.ReadFile(args[1])
	}
	got, err := query(text, args[2])
	ts.Check(err)
	ts.Setenv(args[0], got)
}

// killServer: killserver [SIGNAL] ends the tmux server, by a signal if one is
// named (KILL), and waits until it is gone.
func killServer(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	pid, err := w.ask("display-message", "-p", "#{pid}")
	ts.Check(err)
	if len(args) == 0 {
		_, err = w.ask("kill-server")
	} else {
		err = exec.Command("kill", "-"+args[0], pid).Run()
	}
	ts.Check(err)
	for end := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		if ended(pid, w.socket) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the tmux server does not end")
		}
	}
}

// ended says whether a tmux server is gone. It closes its socket a moment
// before it ends; a zombie has ended.
func ended(pid, socket string) bool {
	state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	if conn, err := net.Dial("unix", socket); err == nil {
		_ = conn.Close()
		return false
	}
	return len(bytes.TrimSpace(state)) == 0 || state[0] == 'Z'
}

// query is jq -r over the JSON values in a text; several lines are joined by
// blanks. With lines before it the values are one array.
func query(text, expr string) (string, error) {
	var out bytes.Buffer
	if err := jq.Evaluate(strings.NewReader(text), &out, expr); err != nil {
		return "", fmt.Errorf("jq %q: %w", expr, err)
	}
	return strings.Join(strings.Fields(strings.TrimSpace(out.String())), " "), nil
}

// array makes one JSON array of the values in a text.
func array(text string) (string, error) {
	dec, all := json.NewDecoder(strings.NewReader(text)), []json.RawMessage{}
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", err
		}
		all = append(all, v)
	}
	b, err := json.Marshal(all)
	return string(b), err
}

func same(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s is %q, want %q", what, got, want)
	}
	return nil
}

// fate: fate FATE:HOW-OR-REASON... of the outcomes that feed printed last.
func fate(ts *testscript.TestScript, args []string) error {
	text, err := array(ts.ReadFile("stdout"))
	if err != nil {
		return err
	}
	got, err := query(text, `.[].outcomes[] | [.fate, .how // empty, (.reason | select(. != ""))] | join(":")`)
	if err != nil {
		return err
	}
	return same("the fate", got, strings.Join(args, " "))
}

// asJSON: json [-s] FILE EXPR WANT. -s takes the file's values as one array.
func asJSON(ts *testscript.TestScript, args []string) error {
	slurp := len(args) > 0 && args[0] == "-s"
	if slurp {
		args = args[1:]
	}
	if len(args) != 3 {
		return fmt.Errorf("usage: json [-s] FILE EXPR WANT")
	}
	text := ts.ReadFile(args[0])
	if slurp {
		var err error
		if text, err = array(text); err != nil {
			return err
		}
	}
	got, err := query(text, args[1])
	if err != nil {
		return err
	}
	return same(args[1], got, args[2])
}

// logged: logged EXPR WANT, over the event log as one array.
func logged(ts *testscript.TestScript, args []string) error {
	return asJSON(ts, append([]string{"-s", filepath.Join(worldOf(ts).state, "log", "events.jsonl")}, args...))
}

// record: record ITEM EXPR WANT, over the item's file; or record ITEM live|closed.
func record(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: record ITEM (live|closed|EXPR WANT)")
	}
	path, b, err := worldOf(ts).find(args[0])
	if err != nil {
		return err
	}
	if len(args) == 2 {
		where := "live"
		if filepath.Base(filepath.Dir(path)) == "closed" {
			where = "closed"
		}
		return same("the record", where, args[1])
	}
	got, err := query(string(b), args[1])
	if err != nil {
		return err
	}
	return same(args[1], got, args[2])
}

// find reads an item's record, live or ended.
func (w *world) find(item string) (path string, b []byte, err error) {
	want := full(item)
	for _, dir := range []string{"local", "local/closed"} {
		names, _ := filepath.Glob(filepath.Join(w.state, dir, "*.json"))
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				continue // it has just moved
			}
			var r struct{ WorkItem struct{ Ref string } }
			if json.Unmarshal(b, &r) == nil && strings.EqualFold(r.WorkItem.Ref, want) {
				return name, b, nil
			}
		}
	}
	return "", nil, fmt.Errorf("%s has no record", want)
}

func full(ref string) string {
	if _, err := strconv.Atoi(ref); err == nil {
		ref = "octo/repo#" + ref
	}
	return "github:" + strings.TrimPrefix(ref, "github:")
}

// conversation gives the id behind ITEM or ITEM+PR.
func (w *world) conversation(who string) (string, error) {
	item, pr, isPR := strings.Cut(who, "+")
	_, b, err := w.find(item)
	if err != nil {
		return "", err
	}
	expr := ".harnessSessionId // empty"
	if isPR {
		expr = fmt.Sprintf(".pullRequests[]? | select(.workItem.ref? == %q) | .harnessSessionId // empty", full(pr))
	}
	id, err := query(string(b), expr)
	if err == nil && id == "" {
		err = fmt.Errorf("%s has no conversation", who)
	}
	return id, err
}

// records: records N [closed].
func records(ts *testscript.TestScript, args []string) error {
	names, err := filepath.Glob(filepath.Join(worldOf(ts).state, "local", strings.Join(append(args[1:], "github-*.json"), "/")))
	if err != nil {
		return err
	}
	return same("the number of records", strconv.Itoa(len(names)), args[0])
}

// arrived: arrived TEXT WHO... - once in each of these conversations, in no other.
func arrived(ts *testscript.TestScript, args []string) error {
	w := worldOf(ts)
	var want []string
	for _, who := range args[1:] {
		id, err := w.conversation(who)
		if err != nil {
			return err
		}
		want = append(want, id)
	}
	slices.Sort(want)
	return w.whereabouts(args[0], strings.Join(want, " "))
}

// nowhere: nowhere TEXT. Every command has ended by then, and none leaves
// anything behind that types later.
func nowhere(ts *testscript.TestScript, args []string) error {
	return worldOf(ts).whereabouts(args[0], "")
}

// whereabouts compares where a text arrived. One that could be a part of a
// delivery's nonce, which is of eight hex digits, would be found by chance.
func (w *world) whereabouts(text, want string) error {
	if len(text) <= 8 && strings.Trim(text, "0123456789abcdef") == "" {
		return fmt.Errorf("%q may be in any message by chance: look for a word with a letter after f", text)
	}
	return same(fmt.Sprintf("where %q arrived", text), strings.Join(w.arrivals(text), " "), want)
}

// messages: messages WHO N - so many messages were submitted there, the first
// prompt among them.
func messages(ts *testscript.TestScript, args []string) error {
	id, err := worldOf(ts).conversation(args[0])
	if err != nil {
		return err
	}
	n := 0
	for _, m := range worldOf(ts).heard() {
		if m.id == id {
			n++
		}
	}
	return same("the number of messages of "+args[0], strconv.Itoa(n), args[1])
}

type message struct{ id, text string }

// arrivals gives the conversation of each message that holds a text.
func (w *world) arrivals(text string) []string {
	var ids []string
	for _, m := range w.heard() {
		if strings.Contains(m.text, text) {
			ids = append(ids, m.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// heard gives every message that an agent was given as first prompt, or that
// was typed and submitted.
func (w *world) heard() []message {
	var all []message
	for _, s := range w.starts() {
		if !s.Died && s.Prompt != "" {
			all = append(all, message{s.ID, s.Prompt})
		}
	}
	files, _ := filepath.Glob(filepath.Join(w.stub, "in.*"))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, text := range submitted(string(b)) {
			all = append(all, message{strings.TrimPrefix(filepath.Base(f), "in."), text})
		}
	}
	return all
}

func (w *world) starts() []started {
	b, _ := os.ReadFile(filepath.Join(w.stub, "starts.jsonl"))
	var all []started
	for line := range bytes.Lines(b) {
		var s started
		if json.Unmarshal(line, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// submitted cuts what was typed into messages: outside a paste, Return submits.
func submitted(typed string) []string {
	var out []string
	var text strings.Builder
	pasting := false
	for typed != "" {
		switch {
		case strings.HasPrefix(typed, "\x1b[200~"):
			pasting, typed = true, typed[6:]
		case strings.HasPrefix(typed, "\x1b[201~"):
			pasting, typed = false, typed[6:]
		case typed[0] == '\r' && !pasting:
			out, typed = append(out, text.String()), typed[1:]
			text.Reset()
		default:
			text.WriteByte(typed[0])
			typed = typed[1:]
		}
	}
	return out
}

// ready: ready WHO - its agent listens.
func ready(ts *testscript.TestScript, args []string) error {
	id, err := worldOf(ts).conversation(args[0])
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(worldOf(ts).stub, "ready."+id))
	return err
}

// children: children N - so many of the processes live that agents forked.
func children(ts *testscript.TestScript, args []string) error {
	files, _ := filepath.Glob(filepath.Join(worldOf(ts).stub, "child.*"))
	n := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
			n++
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return same("the number of living children", strconv.Itoa(n), args[0])
}

func (w *world) ask(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, w.tmux, append([]string{"-u", "-N", "-S", w.socket}, args...)...).CombinedOutput()
	return strings.Join(strings.Fields(string(out)), " "), err
}

// tmuxSays: tmux WANT COMMAND [ARG...] - what tmux prints, lines joined by
// blanks. A WANT that begins with ~ is a part of it.
func tmuxSays(ts *testscript.TestScript, args []string) error {
	got, err := worldOf(ts).ask(args[1:]...)
	if err != nil {
		return fmt.Errorf("tmux %q: %w: %s", args[1:], err, got)
	}
	if part, ok := strings.CutPrefix(args[0], "~"); ok && strings.Contains(got, part) {
		return nil
	}
	return same(fmt.Sprintf("tmux %q", args[1:]), got, args[0])
}

// sessions: sessions NAME... - exactly these there are, in the order of names.
func sessions(ts *testscript.TestScript, args []string) error {
	got, err := worldOf(ts).ask("list-sessions", "-F", "#{session_name}")
	if err != nil { // no server has none
		got = ""
	}
	names := strings.Fields(got)
	slices.Sort(names)
	return same("the list of sessions", strings.Join(names, " "), strings.Join(args, " "))
}

// screen: screen SESSION TEXT - its active pane shows the text, or did.
func screen(ts *testscript.TestScript, args []string) error {
	got, err := worldOf(ts).ask("capture-pane", "-p", "-J", "-S", "-", "-t", "="+args[0]+":")
	if err == nil && !strings.Contains(got, strings.Join(strings.Fields(args[1]), " ")) {
		err = fmt.Errorf("%s does not show %q but %q", args[0], args[1], got)
	}
	return err
}

// inbox: inbox N - so many events are accepted and not yet done with.
func inbox(ts *testscript.TestScript, args []string) error {
	events, err := filepath.Glob(filepath.Join(worldOf(ts).state, "local", "inbox", "[0-9]*[0-9].json"))
	if err != nil {
		return err
	}
	return same("the number of events in the inbox", strconv.Itoa(len(events)), args[0])
}

// tidy: nothing is left behind that should not be: no buffer, no temporary
// file, no event (unless "held" is said).
func tidy(ts *testscript.TestScript, args []string) error {
	w := worldOf(ts)
	if buffers, err := w.ask("list-buffers"); err == nil && buffers != "" {
		return fmt.Errorf("buffers are left behind: %s", buffers)
	}
	return filepath.WalkDir(w.state, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case strings.Contains(d.Name(), "tmp"):
			return fmt.Errorf("a temporary file is left behind: %s", path)
		case filepath.Base(filepath.Dir(path)) == "inbox" && !d.IsDir() && strings.HasSuffix(path, ".json") && !slices.Contains(args, "held"):
			return fmt.Errorf("an event is left behind: %s", path)
		}
		return nil
	})
}
