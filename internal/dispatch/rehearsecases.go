package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gh-loop/gh-loop/internal/tmux"
)

// A text that would end the paste and press keys if tmux let it.
func (s *stage) hostile(ctx context.Context) error {
	err := s.deliver(ctx, s.agent.Target(), "one\x1b[201~\rtwo\u009b201~\x03\x04three\n#(exit 1) #{pid}; kill-server", tmux.Delivered)
	if err != nil {
		return err
	}
	text, _, err := s.messages()
	if strings.Contains(text, `\u001b`) || strings.Contains(text, `\u009b`) || !strings.Contains(text, "#(exit 1) #{pid}; kill-server") {
		err = errors.Join(err, errors.New("the text did not arrive as it was written"))
	}
	return err
}

// A text that no single message to the server can hold.
func (s *stage) long(ctx context.Context) error {
	return s.deliver(ctx, s.agent.Target(), strings.Repeat("All work and no play makes a long text.\n", 500), tmux.Delivered)
}

// Somebody reads in copy mode, where brackets vanish; their place stays.
func (s *stage) copyMode(ctx context.Context) error {
	if _, err := s.Run(ctx, nil, "copy-mode", "-t", s.agent.Pane); err != nil {
		return err
	}
	err := s.deliver(ctx, s.agent.Target(), "read on\nin peace", tmux.Delivered)
	in, more := s.Run(ctx, nil, "display-message", "-p", "-t", s.agent.Pane, "#{pane_in_mode}")
	if strings.TrimSpace(in) != "1" {
		err = errors.Join(err, errors.New("copy mode was left"))
	}
	_, end := s.Run(ctx, nil, "copy-mode", "-q", "-t", s.agent.Pane)
	return errors.Join(err, more, end)
}

// The agent's pane is not the active one.
func (s *stage) inFront(ctx context.Context) error {
	if _, err := s.Run(ctx, nil, "split-window", "-t", s.agent.Pane, "sleep", "60", ";", "new-window", "-t", s.agent.Session+":", "sleep", "60"); err != nil {
		return err
	}
	return s.deliver(ctx, s.agent.Target(), "in the background", tmux.Delivered)
}

// A paste into a dead pane ends tmux up to 3.3a, with every session in it
// (https://github.com/tmux/tmux/issues/3830).
func (s *stage) deadPane(ctx context.Context) error {
	dead, err := s.spawn(ctx, "dead", []string{"sh", "-c", "exit 3"}, 0)
	switch {
	case err != nil:
		return err
	case !dead.Died:
		return errors.New("a program that ended at once is not seen to have ended")
	}
	if err := s.deliver(ctx, dead.Target(), "anybody there", tmux.Refused); err != nil {
		return err
	}
	_, state, err := s.Look(ctx, s.agent.Target())
	if state != tmux.Live {
		err = errors.Join(err, fmt.Errorf("the agent's pane is %s afterwards", state))
	}
	return err
}

// A pane that does not carry the token that is known of it.
func (s *stage) stranger(ctx context.Context) error {
	to := s.agent.Target()
	to.Token = tmux.Token()
	return s.refused(ctx, to)
}

// A pane whose input was turned off swallows everything without a word.
func (s *stage) inputOff(ctx context.Context) error {
	if _, err := s.Run(ctx, nil, "select-pane", "-d", "-t", s.agent.Pane); err != nil {
		return err
	}
	err := s.refused(ctx, s.agent.Target())
	_, on := s.Run(ctx, nil, "select-pane", "-e", "-t", s.agent.Pane)
	return errors.Join(err, on)
}

// For a pane that is not there every format is empty, also a denial.
func (s *stage) missing(ctx context.Context) error {
	to := s.agent.Target()
	to.Pane = "%999999"
	return s.refused(ctx, to)
}

// refused sees to it that nothing is typed.
func (s *stage) refused(ctx context.Context, to tmux.Target) error {
	_, before, _ := s.messages()
	err := s.deliver(ctx, to, "not for you", tmux.Refused)
	if _, after, _ := s.messages(); after != before {
		err = errors.Join(err, errors.New("it was typed all the same"))
	}
	return err
}

func (s *stage) tidy(ctx context.Context) error {
	out, err := s.Run(ctx, nil, "list-buffers", "-F", "#{buffer_name}")
	if left := strings.Fields(out); len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("%d paste buffers are left", len(left)))
	}
	return err
}
