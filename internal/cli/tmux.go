package cli

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/tmux"
	conf "github.com/gh-loop/gh-loop/tmux.conf.d"
)

func (e *env) tmuxCommand() *cli.Command {
	return &cli.Command{
		Name: "tmux", Usage: "load keys, hooks and status segment into tmux, or unload",
		Description: "Examples:\n  gh loop tmux load\n  gh loop tmux show",
		Commands: []*cli.Command{
			{Name: "load", Usage: "add them, or bring them up to date", Action: e.tmuxLoad,
				Description: "In tmux.conf, after everything else:  run-shell 'gh-loop tmux load'\nKeys are changed before that, say:  set -g @loop-key-next N\n\n" +
					"Examples:\n  gh loop tmux load\n  tmux set -g @loop-key-next N && gh loop tmux load"},
			{Name: "unload", Usage: "take them back: everything is as it was before", Action: e.tmuxUnload,
				Description: "Examples:\n  gh loop tmux unload\n  gh loop tmux unload && gh loop tmux load"},
			{Name: "show", Usage: "print what load runs",
				Description: "Examples:\n  gh loop tmux show\n  gh loop tmux show | grep bind-key", Action: func(_ context.Context, c *cli.Command) error {
					if _, err := exactly(c); err != nil {
						return err
					}
					_, err := fmt.Fprintf(e.out, "%s\n%s\n%s", conf.Keys, conf.Hooks, conf.Status)
					return err
				}},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return usagef(c, "%q is not load, unload or show", c.Args().First())
			}
			return usagef(c, "load, unload or show is missing")
		},
	}
}

func (e *env) tmuxLoad(ctx context.Context, c *cli.Command) error {
	s, err := e.tmuxServer(c)
	if err != nil {
		return err
	}
	bin, err := e.bin()
	if err != nil {
		return err
	}
	did, err := s.Load(ctx, e.tmuxPlugin(bin))
	if err != nil {
		return err
	}
	if d, err := e.build(); err == nil {
		d.ShowHeld(ctx)
	}
	for _, said := range did.Said {
		fmt.Fprintf(e.err, "%s: %s\n", programName, clean(said))
		if e.getenv("TMUX_PANE") == "" { // called by tmux, which throws away what is printed
			_ = s.Say(ctx, "gh-loop: "+clean(said))
		}
	}
	return nil
}

// tmuxPlugin is what this program loads. A mark says of which version it is.
func (e *env) tmuxPlugin(bin string) tmux.Plugin {
	return tmux.Plugin{Bin: bin, Hooks: conf.Hooks, Keys: conf.Keys, Status: conf.Status + "\nset-option -g @loop-version " + pluginVersion()}
}

// pluginVersion tells one version of the three files from another.
func pluginVersion() string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(conf.Hooks+conf.Keys+conf.Status)))
}

func (e *env) tmuxUnload(ctx context.Context, c *cli.Command) error {
	s, err := e.tmuxServer(c)
	if err != nil {
		return err
	}
	return s.Unload(ctx)
}

// tmuxServer is the server that we are called from, or the configured one.
func (e *env) tmuxServer(c *cli.Command) (tmux.Server, error) {
	if _, err := exactly(c); err != nil {
		return tmux.Server{}, err
	}
	if e.getenv("TMUX") != "" {
		return tmux.Server{Socket: tmux.DefaultSocket(e.getenv)}, nil
	}
	d, err := e.build()
	if err != nil {
		return tmux.Server{}, err
	}
	return tmux.Server{Socket: d.Socket}, nil
}
