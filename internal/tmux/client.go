package tmux

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Client is a terminal that is attached.
type Client struct {
	Name     string // what Switch takes
	Session  string // $N
	Pane     string // %N, the active one that it shows
	PID      int
	ReadOnly bool
	Control  bool // a program that speaks tmux's control mode
}

const clientFields = "#{client_pid}\t#{session_id}\t#{pane_id}\t#{client_readonly}\t#{client_control_mode}\t#{client_name}"

// Clients lists who is attached.
func (s Server) Clients(ctx context.Context) ([]Client, error) {
	out, err := s.do(ctx, []string{"list-clients", "-F", clientFields})
	if err != nil {
		return nil, err
	}
	var clients []Client
	for l := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 6)
		if len(f) != 6 {
			return nil, s.unknown([]string{"list-clients"}, 0, "", errors.New("the listing makes no sense"))
		}
		pid, _ := strconv.Atoi(f[0])
		clients = append(clients, Client{PID: pid, Session: f[1], Pane: f[2], ReadOnly: f[3] == "1", Control: f[4] == "1", Name: f[5]})
	}
	return clients, nil
}

// Switch moves a client to a session, and never another client (rule 57).
func (s Server) Switch(ctx context.Context, client, session string) error {
	if client == "" || !sessionID.MatchString(session) {
		return fmt.Errorf("client %q cannot be moved to session %q: name a client and a session's id", client, session)
	}
	_, err := s.do(ctx, []string{"switch-client", "-c", client, "-t", session + ":"})
	return err
}

// SwitchBack moves a client to where it was before.
func (s Server) SwitchBack(ctx context.Context, client string) error {
	if client == "" {
		return fmt.Errorf("no client is named that could go back")
	}
	_, err := s.do(ctx, []string{"switch-client", "-l", "-c", client})
	return err
}

// AttachArgs is the command line that attaches this terminal to a session
// ($N), for the caller to become.
func (s Server) AttachArgs(session string, readOnly bool) []string {
	args := []string{s.bin(), "-u", "-N", "-S", s.Socket, "attach-session"}
	if readOnly {
		args = append(args, "-r")
	}
	return append(args, "-t", session+":")
}

// Capture reads a pane of ours: its screen, and so many lines of history above
// it, all of it if negative. With colour, escape sequences are kept.
func (s Server) Capture(ctx context.Context, t Target, lines int, colour bool) (string, error) {
	t, err := s.find(ctx, t)
	if err != nil {
		return "", err
	}
	capture := []string{"capture-pane", "-p", "-t", t.Pane}
	switch {
	case lines > 0:
		capture = append(capture, "-S", strconv.Itoa(-lines))
	case lines < 0:
		capture = append(capture, "-S", "-")
	}
	if colour {
		capture = append(capture, "-e")
	}
	out, err := s.do(ctx, guard(t.Pane, t.ours(), [][]string{{"display-message", "-p", delivered}, capture}, [][]string{{"display-message", "-p", refused}}))
	word, text, _ := strings.Cut(out, "\n")
	if err == nil && word != delivered {
		return "", ErrNotOurs
	}
	return text, err
}

// Source runs a file of tmux commands.
func (s Server) Source(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for _, c := range []string{`\`, "*", "?", "["} { // tmux takes it for a pattern
		path = strings.ReplaceAll(path, c, `\`+c)
	}
	_, err = s.do(ctx, []string{"source-file", path})
	return err
}
