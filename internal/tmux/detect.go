package tmux

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// Detect is what a Spawn's Detector runs, with what the spawn appended as
// args and the pane's output as in. It ends when the program asks for
// bracketed paste (ESC[?2004h), which is when it has the terminal and reads,
// and marks the pane as ready, unless the program's hook is to come as well (see
// Spawn.Hook). It also ends when the pane does, or ctx.
func (s Server) Detect(ctx context.Context, in io.Reader, args []string) error {
	if len(args) != 5 || !paneID.MatchString(args[2]) || !tokenShape.MatchString(args[3]) || !tokenShape.MatchString(args[4]) {
		return fmt.Errorf("detector got %q, wants tmux, socket, pane, token, channel", args)
	}
	s.Bin, s.Socket = args[0], args[1]
	said := make(chan error, 1)
	go func() { said <- untilReady(in) }()
	var err error
	select {
	case err = <-said:
	case <-ctx.Done(): // the pane of a program that ended keeps its output open
		return nil
	}
	ours := Target{Token: args[3]}.ours()
	mark := func(value string) [][]string {
		return [][]string{{"set-option", "-p", "-t", args[2], "@loop_ready", value}}
	}
	cmds := [][]string{{"wait-for", "-S", args[4]}} // whoever waits must not wait for ever
	if err == nil {
		cmds = [][]string{guard(args[2], append(ours, same("@loop_ready", "hook")), mark("asked"), append([][]string{guard(args[2], ours, mark("1"), nil)}, cmds...))}
	}
	_, signal := s.do(ctx, cmds...)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return errors.Join(err, signal)
}

// untilReady reads until the private mode 2004 is set, alone or among others
// (ESC[?1049;2004h), however the reads are cut.
func untilReady(in io.Reader) error {
	r := bufio.NewReader(in)
	const text, esc, csi, private = 0, 1, 2, 3
	state, number, seen := text, 0, false
	for {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case b == 0x1b:
			state = esc
		case state == esc && b == '[':
			state = csi
		case state == csi && b == '?':
			state, number, seen = private, 0, false
		case state == private && b >= '0' && b <= '9':
			number = min(number*10+int(b-'0'), 1<<20)
		case state == private && b == ';':
			seen, number = seen || number == 2004, 0
		case state == private && b == 'h' && (seen || number == 2004):
			return nil
		case state == private && b < 0x20: // a control within a sequence is carried out beside it
		default:
			state = text
		}
	}
}
