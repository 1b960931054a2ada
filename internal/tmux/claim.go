package tmux

import (
	"context"
	"fmt"
	"strings"
)

// Claim marks a pane that somebody else made as one of ours, by options on the
// pane alone. A pane that carries a token already is left as it is: ErrNotOurs.
func (s Server) Claim(ctx context.Context, pane string, sp Spawn) (Pane, error) {
	if !paneID.MatchString(pane) || !tokenShape.MatchString(sp.Token) {
		return Pane{}, fmt.Errorf("%q is not a pane's id: write %%N", pane)
	}
	cmds := [][]string{{"set-option", "-p", "-t", pane, "@loop_token", sp.Token}}
	for _, o := range [][2]string{{"@loop_ref", sp.Ref}, {"@loop_item", sp.Item}, {"@loop_role", sp.Role}} {
		cmds = append(cmds, []string{"set-option", "-p", "-t", pane, o[0], o[1]})
	}
	free := []string{same("pane_id", pane), same("pane_dead", "0"), same("@loop_token", "")}
	out, err := s.do(ctx, guard(pane, free, append(cmds, []string{"display-message", "-p", dressed}), [][]string{{"display-message", "-p", refused}}))
	switch {
	case err != nil:
		return Pane{}, err
	case strings.TrimSpace(out) != dressed:
		return Pane{}, ErrNotOurs
	}
	p, _, err := s.Look(ctx, Target{Identity: Identity{Socket: s.Socket}, Token: sp.Token})
	return p, err
}

// Attach becomes a tmux client that shows a session ($N). It returns only if
// that fails.
func (s Server) Attach(session string, readOnly bool, env []string) error {
	args := s.AttachArgs(session, readOnly)
	return Become(args[0], args[1:], env)
}
