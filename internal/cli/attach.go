package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) attachCommand() *cli.Command {
	return &cli.Command{
		Name: "attach", Usage: "go to the session of a REF; a dead one comes back first", ArgsUsage: "REF",
		Description: "What has ended is shown read-only, as long as its session is kept.\n\nExamples:\n  gh loop attach 15\n  gh loop attach 16 --read-only",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.BoolFlag{Name: "read-only", Aliases: []string{"r"}, Usage: "look, and do not type"},
			&cli.StringFlag{Name: "client", Usage: "inside tmux: the client to move, by `NAME`"},
		},
		Action: e.attach,
	}
}

func (e *env) attach(ctx context.Context, c *cli.Command) error {
	d, ref, err := e.loopAndRef(c)
	if err != nil {
		return err
	}
	readOnly := c.Bool("read-only")
	s, err := d.Bring(ctx, ref)
	if errors.Is(err, dispatch.ErrEnded) {
		readOnly = true
		fmt.Fprintf(e.err, "%s has ended; this is its transcript. gh loop start %s brings it back.\n", ref.Short(), ref.Short())
	} else if err != nil {
		return err
	}
	d.Drain(ctx)
	return e.goTo(ctx, c, s, readOnly)
}

// goTo shows a session: by moving the client inside tmux, by becoming one outside.
func (e *env) goTo(ctx context.Context, c *cli.Command, s *work.Session, readOnly bool) error {
	if s.Tmux == nil || s.Tmux.Session == "" {
		return fmt.Errorf("%s: its session is gone, and the transcript with it", s.Ref.Short())
	}
	srv := tmux.Server{Socket: s.Tmux.Socket}
	at := tmux.Target{
		Identity: tmux.Identity{Socket: s.Tmux.Socket, PID: s.Tmux.ServerPID, Start: s.Tmux.ServerStart},
		Session:  s.Tmux.Session, Pane: s.Tmux.Pane, Token: s.Tmux.Token,
	}
	pane, state, err := srv.Look(ctx, at)
	switch {
	case state == tmux.Unknown:
		return err
	case state == tmux.Absent:
		return fmt.Errorf("%s: its session is gone, and the transcript with it", s.Ref.Short())
	}
	if e.getenv("TMUX") != "" && tmux.DefaultSocket(e.getenv) == s.Tmux.Socket {
		client, _, err := e.client(ctx, c, srv)
		if err != nil {
			return err
		}
		return srv.Switch(ctx, client, pane.Session)
	}
	if !term.IsTerminal(e.in) {
		return fmt.Errorf("attach needs a terminal; gh loop show %s tells how it is", s.Ref.Short())
	}
	env := os.Environ()
	if e.getenv("TMUX") != "" { // another server's client may run inside this one
		env = append(env, "TMUX=")
	}
	return srv.Attach(pane.Session, readOnly, env)
}
