package tmux

import (
	"context"
	"strings"
)

// Option is one option of a session.
type Option struct {
	Identity        // of the server that the session's id came from; zero is not checked
	Session  string // $N
	Name     string // such as @loop_next
	Value    string // taken as it is
}

// Set sets options of several sessions in one invocation. Sessions that are
// gone are passed over.
func (s Server) Set(ctx context.Context, options []Option) error {
	var cmds [][]string
	for _, o := range options {
		if !sessionID.MatchString(o.Session) || !strings.HasPrefix(o.Name, "@") {
			continue
		}
		conds := append(Target{Identity: o.Identity}.server(), same("session_id", o.Session))
		cmds = append(cmds, guard(o.Session+":", conds, [][]string{{"set-option", "-t", o.Session + ":", o.Name, o.Value}}, nil))
	}
	if len(cmds) == 0 {
		return nil
	}
	_, err := s.do(ctx, cmds...)
	return err
}

// SetOptions sets options of the session that a pane of ours is in.
func (s Server) SetOptions(ctx context.Context, t Target, values map[string]string) error {
	t, err := s.find(ctx, t)
	if err != nil {
		return err
	}
	var then [][]string
	for name, value := range values {
		if strings.HasPrefix(name, "@") {
			then = append(then, []string{"set-option", "-t", t.Pane, name, value})
		}
	}
	then = append(then, []string{"display-message", "-p", delivered})
	out, err := s.do(ctx, guard(t.Pane, t.ours(), then, [][]string{{"display-message", "-p", refused}}))
	if err == nil && strings.TrimSpace(out) != delivered {
		return ErrNotOurs
	}
	return err
}

// Say shows a message on the status line of whoever is attached.
func (s Server) Say(ctx context.Context, message string) error {
	_, err := s.do(ctx, []string{"display-message", Literal(brief(message))})
	return err
}
