package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Spawn asks for a new session with one program in it.
type Spawn struct {
	Name    string // of the session: a letter, then letters, digits, "_" and "-"
	AltName string // used when somebody else's session has Name
	Title   string // of the pane, any text; a terminal's title can show it
	Dir     string
	Env     []string // K=V
	Argv    []string // executed as it is, without a shell

	Ref, Item, Role, Token string // set as options; Token must be new
	Nonce, Delivery        string // of what Argv hands over, "" if nothing; see Paste.Delivery

	// Detector is the start of a command line that runs Detect; the rest is
	// appended. Without one nothing tells when the program is ready.
	Detector []string
	Hook     bool          // the program asks for bracketed paste before it takes any: it is ready once Mark was called for it as well
	Ready    time.Duration // how long to wait until it is ready; 0 does not wait
	Watch    time.Duration // how long it must stay alive, even when ready
	Gate     chan struct{} // full while as many make a session as may at once; nil is no bound
}

// Spawned is what came of it. Died is certain; the pane stays, so that its
// last words can be read.
type Spawned struct {
	Pane
	Ready, Died bool
}

// ErrNoDir says that the directory to start in is not there. tmux itself
// would silently take another.
var ErrNoDir = errors.New("no such directory to start in")

// ErrNameTaken is what every *NameTakenError is.
var ErrNameTaken = errors.New("the session's name is taken")

// NameTakenError says who has the name: a session of the same ref, or
// strangers that have both names.
type NameTakenError struct {
	Name   string
	Holder Pane
}

// Error names the holder.
func (e *NameTakenError) Error() string {
	return fmt.Sprintf("session name %q is taken by session %s (item %q)", e.Name, e.Holder.Session, e.Holder.Item)
}

// Is makes it an ErrNameTaken.
func (e *NameTakenError) Is(target error) bool { return target == ErrNameTaken }

// Spawn makes the session in one invocation, and returns when the program is
// ready, has died, or Ready is over. A program that cannot be run has died.
// When an error comes after the session was made and could not be undone, the
// pane is filled in.
func (s Server) Spawn(ctx context.Context, sp Spawn) (Spawned, error) {
	if err := sp.check(); err != nil {
		return Spawned{}, err
	}
	if err := s.makeHome(); err != nil {
		return Spawned{}, err
	}
	var last error
	for _, name := range []string{sp.Name, sp.AltName} {
		if name == "" {
			continue
		}
		if !sessionName().MatchString(name) {
			return Spawned{}, fmt.Errorf("session name %q has other characters than letters, digits, _ and -", name)
		}
		made, err := s.launch(ctx, sp, true, s.newSession(sp, name))
		if err == nil || made.Pane.Pane != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return made, err
		}
		holder, taken := s.holder(ctx, name)
		if !taken {
			return made, err
		}
		last = &NameTakenError{Name: name, Holder: holder}
		if holder.Ref == sp.Ref && sp.Ref != "" {
			return Spawned{}, last
		}
	}
	return Spawned{}, last
}

// Respawn starts a program in a pane of ours whose program ended, and gives
// the pane a new token. History stays. ErrNotOurs: it is not ours or not dead.
func (s Server) Respawn(ctx context.Context, at Pane, sp Spawn) (Spawned, error) {
	if err := sp.check(); err != nil {
		return Spawned{}, err
	}
	if !paneID.MatchString(at.Pane) || !tokenShape.MatchString(at.Token) {
		return Spawned{}, ErrNotOurs
	}
	conds := append(at.Target().ours(), same("pane_dead", "1"))
	again := [][]string{{"set-option", "-p", "-u", "-t", at.Pane, "@loop_ready"}, {"respawn-pane", "-t", at.Pane, "-c", Literal(sp.Dir)}}
	again[1] = append(append(append(again[1], sp.env()...), "--"), sp.argv()...)
	again = append(again, s.dress(sp, at.Pane)...)
	again = append(again, []string{"display-message", "-p", "-t", at.Pane, ids})
	cmds := [][]string{guard(at.Pane, conds, again, [][]string{{"display-message", "-p", refused}})}
	return s.launch(ctx, sp, false, append(cmds, sp.await(at.Pane)...))
}

func (sp Spawn) check() error {
	if info, err := os.Stat(sp.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %q", ErrNoDir, sp.Dir)
	}
	if len(sp.Argv) == 0 {
		return errors.New("no program is named")
	}
	if !tokenShape.MatchString(sp.Token) {
		return fmt.Errorf("token %q has other characters than letters, digits, _ and -", sp.Token)
	}
	return nil
}

// argv gives two words at least: tmux hands a single one to a shell.
func (sp Spawn) argv() []string {
	if len(sp.Argv) == 1 {
		return []string{"/bin/sh", "-c", `exec "$0"`, sp.Argv[0]}
	}
	return sp.Argv
}

func (sp Spawn) env() []string {
	var words []string
	for _, kv := range sp.Env {
		words = append(words, "-e", kv)
	}
	return words
}

// ids is how a pane that was just made is reported.
const ids = "#{pid}\t#{start_time}\t#{session_id}\t#{pane_id}\t#{pane_pid}\t#{session_name}"

// historyLines is how much of a conversation can be scrolled back to, where
// the user's own tmux keeps less.
const historyLines = "50000"

// newSession is the whole chain. A name that is taken stops it at its start.
// A pane's history has the length that its session said when it was made, and
// the first pane is made before its session can say anything. So the first one
// only holds the place (and ends by itself if nobody comes), and the program
// gets a window in a session that knows; nothing global is touched for it. The
// window keeps the name that the user's tmux gives it.
func (s Server) newSession(sp Spawn, name string) [][]string {
	first := []string{"new-session", "-d", "-s", name, "-x", "200", "-y", "50", "-c", Literal(sp.Dir)}
	first = append(append(first, sp.env()...), "--", "sleep", "60")
	session, at := "="+name+":", "="+name+":^.{top-left}" // the first pane, even if a hook of the user's added others
	program := append([]string{"new-window", "-k", "-P", "-F", ids, "-t", session + "^", "-c", Literal(sp.Dir), "--"}, sp.argv()...)
	cmds := [][]string{first,
		{"set-option", "-t", session, "detach-on-destroy", "off"},
		{"set-option", "-t", session, "destroy-unattached", "off"},
		guard(at, []string{"#{e|<:#{history_limit}," + historyLines + "}"}, [][]string{{"set-option", "-t", session, "history-limit", historyLines}}, nil),
		program,
		{"set-option", "-w", "-t", at, "remain-on-exit", "on"}}
	if title := strings.Join(strings.Fields(clean(sp.Title)), " "); title != "" {
		cmds = append(cmds, []string{"select-pane", "-t", at, "-T", Literal(title)})
	}
	cmds = append(append(cmds, s.dress(sp, at)...), []string{"display-message", "-p", dressed})
	return append(cmds, sp.await(at)...)
}

// dress sets our options and connects the detector.
func (s Server) dress(sp Spawn, at string) [][]string {
	cmds := [][]string{{"set-option", "-p", "-t", at, "@loop_token", sp.Token}}
	for _, o := range [][2]string{{"@loop_ref", sp.Ref}, {"@loop_item", sp.Item}, {"@loop_role", sp.Role}, {"@loop_state", "running"}} {
		cmds = append(cmds, []string{"set-option", "-t", at, o[0], o[1]})
	}
	cmds = append(cmds, []string{"set-option", "-u", "-t", at, "@loop_since"}, []string{"set-option", "-u", "-t", at, "@loop_asks"})
	for _, name := range []string{"@loop_state", "@loop_since", "@loop_asks", "@loop_sent", "@loop_typed"} { // of a pane that was registered, or of its last program
		cmds = append(cmds, []string{"set-option", "-p", "-u", "-t", at, name})
	}
	if sp.Hook && len(sp.Detector) > 0 {
		cmds = append(cmds, []string{"set-option", "-p", "-t", at, "@loop_ready", "hook"})
	}
	if sp.Delivery != "" {
		cmds = append(cmds, []string{"set-option", "-p", "-t", at, "@loop_sent", said(sp.Nonce, sp.Delivery)})
	}
	if len(sp.Detector) == 0 {
		return cmds
	}
	bin := s.bin()
	if path, err := exec.LookPath(bin); err == nil {
		bin = path // the server's PATH may be another
	}
	var sh []string
	for _, w := range append(append([]string{}, sp.Detector...), bin, s.Socket) {
		sh = append(sh, strings.ReplaceAll(Literal(shell(w)), "%", "%%")) // pipe-pane expands times as well
	}
	sh = append(sh, "'#{pane_id}'", sp.Token, channel+sp.Token)
	return append(cmds, []string{"pipe-pane", "-t", at, "exec " + strings.Join(sh, " ") + " >/dev/null 2>&1"})
}

// channel, with a pane's token behind it, is signalled when its program is ready.
const channel = "loop-ready-"

// await ends when the program is ready or its output ended, and says which.
func (sp Spawn) await(at string) [][]string {
	if len(sp.Detector) == 0 || sp.Ready <= 0 {
		return nil
	}
	return [][]string{{"wait-for", channel + sp.Token}, {"display-message", "-p", "-t", at, "ready=#{@loop_ready}"}}
}

// What the chain prints beside ids. Each is a line that no id can be.
const (
	dressed = "DRESSED"
	refused = "REFUSED"
)

// holder finds who has a session name.
func (s Server) holder(ctx context.Context, name string) (Pane, bool) {
	panes, err := s.Panes(ctx)
	if err != nil {
		return Pane{}, false
	}
	var found Pane
	for _, p := range panes {
		if p.Name == name && (found.Pane == "" || p.Token != "") {
			found = p
		}
	}
	return found, found.Pane != ""
}

// Token gives what a spawn's Token and a delivery's buffer are made of: 26
// characters that nobody guesses.
func Token() string { return rand.Text() }

// lines hands on each line as it comes.
type lines struct {
	ch   chan string
	part []byte
}

// Write never blocks: lines beyond the channel's room are dropped, and a
// chain of ours prints three.
func (l *lines) Write(b []byte) (int, error) {
	l.part = append(l.part, b...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		select {
		case l.ch <- string(l.part[:i]):
		default:
		}
		l.part = l.part[i+1:]
	}
}
