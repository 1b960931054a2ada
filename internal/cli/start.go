package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) startCommand() *cli.Command {
	return &cli.Command{
		Name: "start", Usage: "begin work on an issue or pull request, or bring it back", ArgsUsage: "REF",
		Description: "Makes the item's record and its tmux session, or brings back what it has:\na paused item becomes active, a dead session is resumed, a closed item\nreopens.\n\nExamples:\n  gh loop start 15\n  gh loop start 15 --tree\n  gh loop start octo/repo#15 --harness echo --prompt \"Say hello\"",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.StringFlag{Name: "harness", Usage: "the agent's `NAME`"},
			&cli.StringFlag{Name: "cwd", Usage: "`DIR` to work in (default: where it did, or here)"},
			&cli.StringFlag{Name: "prompt", Usage: "first `TEXT` for the agent; - reads standard input"},
			&cli.StringFlag{Name: "session-per-pr", Usage: "own sessions: `MODE` always, cross-repository or never"},
			&cli.BoolFlag{Name: "tree", Usage: "work in a tree of its own, made from --cwd"},
			&cli.BoolFlag{Name: "no-spawn", Usage: "write the record only"},
		},
		Action: e.start,
	}
}

func (e *env) start(ctx context.Context, c *cli.Command) error {
	args, err := exactly(c, "REF")
	if err != nil {
		return err
	}
	q := dispatch.StartRequest{Harness: c.String("harness"), Tree: c.Bool("tree"), NoSpawn: c.Bool("no-spawn")}
	if q.Tree && q.NoSpawn {
		return usagef(c, "--tree makes the tree that the session works in, and --no-spawn wants none")
	}
	if q.Ref, err = e.ref(c, args[0]); err != nil {
		return err
	}
	if m := c.String("session-per-pr"); m != "" {
		if q.Mode, err = work.ParseMode(m); err != nil {
			return usagef(c, "--session-per-pr: %s", err)
		}
	}
	if q.Prompt, err = e.typed(ctx, "--prompt", c.String("prompt")); err != nil {
		return err
	}
	if q.Here, err = directory(c); err != nil {
		return err
	}
	if c.IsSet("cwd") {
		q.Cwd = q.Here
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	out, err := d.Start(ctx, q)
	if err != nil {
		return err
	}
	e.sayStarted(out, d)
	if out.How != loop.Spawned && out.How != loop.Respawned { // what it shows can have been seen
		d.Asked = q.Ref
	}
	d.Drain(ctx)
	return nil
}

// typedMax is the longest text on standard input, in bytes.
const typedMax = 1 << 20

// typed is a text that was given as an argument, or on standard input for "-".
func (e *env) typed(ctx context.Context, name, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	b, err := io.ReadAll(io.LimitReader(reading(ctx, e.in), typedMax+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s -: standard input: %w", name, err)
	case len(b) > typedMax:
		return "", fmt.Errorf("%s -: standard input has over %d kB: put it into a file and name that", name, typedMax>>10)
	}
	return strings.TrimRight(string(b), "\n"), nil
}

// directory is --cwd, else the current directory.
func directory(c *cli.Command) (string, error) {
	dir := c.String("cwd")
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("--cwd: %w: make the directory first, or name another", err)
	}
	if !st.IsDir() {
		return "", usagef(c, "--cwd: %s is not a directory", abs)
	}
	return abs, nil
}

func (e *env) sayStarted(out dispatch.Started, d *dispatch.Loop) {
	r, ref := out.Record, out.Endpoint.Short()
	what := map[loop.How]string{loop.Spawned: "started", loop.Respawned: "resumed", loop.Pasted: "told"}[out.How]
	switch {
	case what != "":
		fmt.Fprintf(e.err, "%s: %s in tmux session %s (%s)\n", ref, what, out.TmuxTarget, r.Harness)
	case out.Fate == loop.Settled:
		fmt.Fprintf(e.err, "%s: already running in tmux session %s\n", ref, out.TmuxTarget)
	default:
		fmt.Fprintf(e.err, "%s: recorded, without a session\n", ref)
	}
	fmt.Fprintf(e.err, "Words of %s will reach it.\n", d.Settings.Audience(r.Ref.Host))
}
