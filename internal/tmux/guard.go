package tmux

import "strconv"

// guard runs commands only if the conditions hold of the pane, in the same
// queue as the check, so that nothing can change between them.
func guard(pane string, conds []string, then, otherwise [][]string) []string {
	cmd := []string{"if-shell", "-F", "-t", pane, all(conds), script(then)}
	if len(otherwise) > 0 {
		cmd = append(cmd, script(otherwise))
	}
	return cmd
}

// server is the condition that the server is the one that the ids came from.
func (t Target) server() []string {
	var conds []string
	if t.PID != 0 {
		conds = append(conds, same("pid", strconv.Itoa(t.PID)))
	}
	if t.Start != 0 {
		conds = append(conds, same("start_time", strconv.FormatInt(t.Start, 10)))
	}
	return conds
}

// ours is the condition that a pane is the target's, on the target's server.
// It is positive: of a pane that does not exist every format is empty.
func (t Target) ours() []string {
	conds := []string{same("@loop_token", t.Token)}
	if t.Ref != "" {
		conds = append(conds, same("@loop_ref", t.Ref))
	}
	if t.Item != "" {
		conds = append(conds, same("@loop_item", t.Item))
	}
	return append(conds, t.server()...)
}
