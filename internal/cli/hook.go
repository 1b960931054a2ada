package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/tmux"
)

// How long a hook may take, and how long a program is watched for the moment
// from which on it listens.
const (
	hookBound  = 3 * time.Second
	readyBound = 10 * time.Minute
)

// hookCommand is called by tmux and by harnesses. It prints nothing and exits
// 0; what goes wrong is a line in the event log (rule 55).
func (e *env) hookCommand() *cli.Command {
	return &cli.Command{
		Name: "hook", Hidden: true, SkipFlagParsing: true, Usage: "called by tmux hooks",
		Action: func(ctx context.Context, c *cli.Command) error {
			args := c.Args().Slice()
			if err := e.hook(ctx, args); err != nil {
				log := journal.Log{Path: filepath.Join(config.StateDir(e.getenv, e.home()), "log", "events.jsonl"), Now: e.now}
				_ = log.NoteOnce(journal.Line{What: "hook", Endpoint: e.getenv("GH_LOOP_REF"), Reason: reason(args), Message: err.Error()}, time.Minute)
			}
			return nil
		},
	}
}

// reason is a hook as it was called, as far as it is fit to be kept: a harness
// may hand over its whole conversation.
func reason(args []string) string {
	text := strings.Join(args[:min(len(args), 4)], " ")
	return string([]rune(text)[:min(len([]rune(text)), 200)])
}

func (e *env) hook(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no hook is named")
	}
	if args[0] == "ready" { // reads a pane's output for as long as its harness starts
		ctx, cancel := context.WithTimeout(ctx, readyBound)
		defer cancel()
		return tmux.Server{}.Detect(ctx, e.in, args[1:])
	}
	if args[0] == "follow" {
		return e.follow(ctx, args[1:])
	}
	ctx, cancel := context.WithTimeout(ctx, hookBound)
	defer cancel()
	if args[0] == "harness" {
		return e.harnessHook(ctx, args[1:])
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	d.Comment, d.Gone = nil, nil // rule 55: a hook asks no network
	switch name, rest := args[0], args[1:]; name {
	case "session-closed", "session-renamed":
		return e.sessionHook(ctx, d, name, rest)
	case "pane-died":
		if len(rest) != 3 {
			return fmt.Errorf("pane-died takes PANE SESSION STATUS, and got %d words", len(rest))
		}
		return d.PaneDied(ctx, rest[1], rest[0], rest[2], e.serverPID())
	}
	if args[0] == "pane-mode" { // somebody stopped reading there: what was held goes on (rule 51)
		d.Drain(ctx)
		return nil
	}
	return fmt.Errorf("no hook has the name %q", args[0])
}

func (e *env) sessionHook(ctx context.Context, d *dispatch.Loop, name string, rest []string) error {
	if len(rest) != 3 {
		return fmt.Errorf("%s takes SESSION PID START, and got %d words", name, len(rest))
	}
	pid, err := strconv.Atoi(rest[1])
	if err != nil {
		return fmt.Errorf("PID %q is not a number", rest[1])
	}
	start, err := strconv.ParseInt(rest[2], 10, 64)
	if err != nil {
		return fmt.Errorf("START %q is not a number", rest[2])
	}
	if name == "session-closed" {
		return d.SessionGone(ctx, rest[0], pid, start)
	}
	return d.SessionRenamed(ctx, rest[0], pid, start)
}

// serverPID is the tmux server that runs the hook, as $TMUX (socket,pid,session) says; 0 if it does not.
func (e *env) serverPID() int {
	parts := strings.Split(e.getenv("TMUX"), ",")
	if len(parts) < 3 {
		return 0
	}
	pid, _ := strconv.Atoi(parts[len(parts)-2])
	return pid
}
