package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) jumpCommand() *cli.Command {
	return &cli.Command{
		Name: "jump", Usage: "move this tmux client to another conversation", ArgsUsage: "item|next|prev|last|waiting|REF",
		Description: "Examples:\n  gh loop jump next\n  gh loop jump waiting\n  gh loop jump 16",
		Flags:       []cli.Flag{repoFlag(), &cli.StringFlag{Name: "client", Usage: "move client `NAME` (default: the one that looks here)"}},
		Action:      e.jump,
	}
}

func (e *env) jump(ctx context.Context, c *cli.Command) error {
	args, err := exactly(c, "item, next, prev, last, waiting or a REF")
	if err != nil {
		return err
	}
	var ref work.Ref
	if !slices.Contains([]string{"item", "next", "prev", "last", "waiting"}, args[0]) {
		if ref, err = e.ref(c, args[0]); err != nil {
			return err
		}
	}
	if e.getenv("TMUX") == "" {
		return fmt.Errorf("jump moves a tmux client, and this is not inside tmux: use tmux attach first")
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	socket := tmux.DefaultSocket(e.getenv)
	client, session, err := e.client(ctx, c, tmux.Server{Socket: socket})
	if err != nil {
		return err
	}
	switch args[0] {
	case "item", "next", "prev":
		return d.Jump(ctx, socket, client, session, args[0])
	case "last":
		return tmux.Server{Socket: socket}.SwitchBack(ctx, client)
	case "waiting":
		return d.JumpWaiting(ctx, socket, client, session)
	}
	return d.JumpTo(ctx, socket, client, ref)
}

// client is the one that pressed the key, or nobody: where several look at
// this session, only --client tells them apart.
func (e *env) client(ctx context.Context, c *cli.Command, s tmux.Server) (name, session string, err error) {
	clients, err := s.Clients(ctx)
	if err != nil {
		return "", "", err
	}
	if want := c.String("client"); want != "" {
		for _, cl := range clients {
			if cl.Name == want {
				return cl.Name, cl.Session, nil
			}
		}
		return "", "", fmt.Errorf("no client %q on this tmux server", want)
	}
	panes, err := s.Panes(ctx)
	if err != nil {
		return "", "", err
	}
	for _, p := range panes {
		if p.Pane == e.getenv("TMUX_PANE") {
			session = p.Session
		}
	}
	for _, cl := range clients {
		if cl.Session != session {
			continue
		}
		if name != "" {
			return "", "", fmt.Errorf("more than one client looks at this session: name yours with --client")
		}
		name = cl.Name
	}
	if name == "" {
		return "", "", fmt.Errorf("no client looks at this session: name yours with --client")
	}
	return name, session, nil
}
