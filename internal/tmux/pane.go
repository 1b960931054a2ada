package tmux

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Identity tells one server's life from another's. An id of one means nothing
// in another: each starts counting at zero.
type Identity struct {
	Socket string
	PID    int
	Start  int64 // seconds since 1970
}

// Target is a pane of ours. Token identifies it; ids that are known save a
// look-up, and are used only with the server they came from.
type Target struct {
	Identity
	Session, Pane string // $N and %N, or ""
	Token         string
	Ref, Item     string // what the pane must say of itself as well; "" is not asked
}

// Pane is one pane as the server described it.
type Pane struct {
	Identity
	Session, Pane                 string // $N, %N
	PID                           int    // of the first process; once Dead it is stale, or 0
	Dead                          bool
	DeadStatus                    string // exit status, "" if unknown or ended by a signal
	Ref, Item, Role, State, Token string // our options, "" if not set
	Name                          string // of the session
	Command                       string // what is in front, control characters as blanks
	Ready                         bool   // it asked for bracketed paste since it was spawned and, where that was expected, its hook came
	Asked                         bool   // it asked for bracketed paste, and its hook is still expected; see Spawn.Hook
	InMode, InputOff              bool
	Since                         time.Time // when its harness came into State; zero if it never said
	Typed                         time.Time // when a text of an event was typed at it last, be it submitted or not
	Rang                          bool      // its bell rang, or it fell silent where its user wants to know; nobody looked since
}

// Target gives what finds the pane again.
func (p Pane) Target() Target {
	return Target{Identity: p.Identity, Session: p.Session, Pane: p.Pane, Token: p.Token}
}

// fields of a listing, in order. What a process calls itself must not break a
// line; the session's name is last, and tmux itself keeps it clean.
const fields = "#{pid}\t#{start_time}\t#{session_id}\t#{pane_id}\t#{pane_pid}\t#{pane_dead}\t#{pane_dead_status}\t" +
	"#{@loop_ref}\t#{@loop_item}\t#{@loop_role}\t#{@loop_state}\t#{@loop_token}\t" +
	readyFormat + "\t#{pane_in_mode}\t#{pane_input_off}\t#{@loop_since}\t#{||:#{window_bell_flag},#{window_silence_flag}}\t" +
	"#{@loop_typed}\t#{s/[\t\n\r]/ /:pane_current_command}\t#{session_name}"

// Panes lists every pane of the server in one query. It fails with
// ErrNoServer when nobody listens, else with an *UnknownError.
func (s Server) Panes(ctx context.Context) ([]Pane, error) {
	_, panes, err := s.list(ctx)
	return panes, err
}

// list asks who the server is as well. One without sessions refuses to list
// panes; that it has none is seen by the empty loop over its sessions.
func (s Server) list(ctx context.Context) (Identity, []Pane, error) {
	out, err := s.do(ctx,
		[]string{"display-message", "-p", "#{pid}\t#{start_time}\t#{S:x}"},
		[]string{"list-panes", "-a", "-F", fields})
	id, panes, sessions, ok := s.parse(out)
	if err != nil && (!ok || sessions) {
		return Identity{}, nil, err
	}
	if !ok {
		return Identity{}, nil, s.unknown([]string{"list-panes"}, 0, "", errors.New("the listing makes no sense"))
	}
	return id, panes, nil
}

func (s Server) parse(out string) (id Identity, panes []Pane, sessions, ok bool) {
	first, rest, found := strings.Cut(out, "\n")
	head := strings.Split(first, "\t")
	if !found || len(head) != 3 {
		return id, nil, false, false
	}
	if id, ok = s.identity(head[0], head[1]); !ok {
		return id, nil, false, false
	}
	for l := range strings.Lines(rest) {
		p, ok := s.parsePane(strings.TrimSuffix(l, "\n"))
		if !ok || p.Identity != id {
			return id, nil, false, false
		}
		panes = append(panes, p)
	}
	return id, panes, head[2] != "", true
}

func (s Server) parsePane(l string) (Pane, bool) {
	f := strings.SplitN(l, "\t", 20)
	if len(f) != 20 || !sessionID.MatchString(f[2]) || !paneID.MatchString(f[3]) {
		return Pane{}, false
	}
	id, ok := s.identity(f[0], f[1])
	pid, err := strconv.Atoi(f[4])
	dead := f[5] == "1"
	if !ok || err != nil && !(dead && f[4] == "") {
		return Pane{}, false
	}
	return Pane{
		Identity: id, Session: f[2], Pane: f[3], PID: pid, Dead: dead, DeadStatus: f[6],
		Ref: f[7], Item: f[8], Role: f[9], State: f[10], Token: f[11],
		Ready: f[12] == "1", Asked: f[12] == "asked", InMode: f[13] != "0" && f[13] != "", InputOff: f[14] == "1",
		Since: since(f[15]), Rang: f[16] == "1", Typed: typed(f[17]), Command: f[18], Name: f[19],
	}, true
}

// typed reads @loop_typed: a nonce and a time.
func typed(text string) time.Time {
	_, at, _ := strings.Cut(text, " ")
	return since(at)
}

func since(millis string) time.Time {
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

func (s Server) identity(pid, start string) (Identity, bool) {
	p, err := strconv.Atoi(pid)
	t, err2 := strconv.ParseInt(start, 10, 64)
	return Identity{Socket: s.Socket, PID: p, Start: t}, err == nil && err2 == nil && p > 1
}

var (
	sessionID   = idShape('$')
	paneID      = idShape('%')
	tokenShape  = wordShape(128)
	nonceShape  = wordShape(32)
	sessionName = pattern(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// Patterns that nearly every call needs are no regular expressions: these are
// compiled anew whenever the program starts, which a hook does at each close.

// idShape is a mark and up to ten digits.
type idShape byte

// MatchString says whether s is such an id.
func (mark idShape) MatchString(s string) bool {
	return len(s) > 1 && len(s) <= 11 && s[0] == byte(mark) && strings.Trim(s[1:], "0123456789") == ""
}

// wordShape is so many letters, digits, "_" and "-" at most, and one at least.
type wordShape int

// MatchString says whether s is such a word.
func (most wordShape) MatchString(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= int(most)
}
