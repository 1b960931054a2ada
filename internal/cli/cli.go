// Package cli is the command line: one file per command, each of which reads
// its flags, makes one call and prints the answer. Environment, clock and
// directory are read here and passed down.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/github"
)

// Version is set when a release is built.
var Version = "dev"

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitSignIn  = 4
	exitSignal  = 130 // as shells have it
	programName = "gh loop"
)

// env is what a command may know of the world around it.
type env struct {
	in       *os.File
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	args     []string // as they were typed
}

// usageError is a mistake in how a command was called.
type usageError struct {
	text    string
	command string
}

func (e *usageError) Error() string { return e.text }

func usagef(c *cli.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), c.FullName()}
}

// silentError ends a command with exit code 1 after it said itself what is wrong.
var errSilent = errors.New("")

// Main runs the program and gives its exit code. The error is printed here, once.
func Main(args []string, in, out, errw *os.File, getenv func(string) string) int {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup wants
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	// A reader that left is an error of writing, which ends what is printed and
	// not what is being done. Ignored, the signal would be so for agents as well.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	e := &env{in: in, out: out, err: errw, getenv: getenv, now: time.Now}
	if term.IsTerminal(errw) {
		e.err = &folding{errw, func() int { return e.screen().width }}
	}
	return e.run(ctx, args)
}

func (e *env) run(ctx context.Context, args []string) int {
	out := &output{to: e.out}
	with := *e
	with.out, with.args = out, args[min(1, len(args)):]
	root := with.root(strings.Join(args[min(1, len(args)):min(2, len(args))], ""))
	err := root.Run(ctx, bareJSON(root, args))
	if err == nil || errors.Is(err, errSilent) {
		err = errors.Join(err, out.err)
	}
	var usage *usageError
	var signIn *github.SignInError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // the reader left; there is nobody to tell
	case errors.Is(err, errSilent) && out.err == nil && ctx.Err() != nil:
		return exitSignal
	case errors.Is(err, errSilent) && out.err == nil:
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "%s\nRun '%s --help' for usage.\n", usage.text, usage.command)
		return exitUsage
	}
	fmt.Fprintf(e.err, "%s: %s\n", programName, clean(err.Error()))
	switch {
	case ctx.Err() != nil:
		return exitSignal
	case errors.As(err, &signIn):
		return exitSignIn
	}
	return exitFailed
}

// output remembers that something could not be printed, as not every printer
// tells: a full disk must not look like success.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(b)
	o.err = err
	return n, err
}

// root is the whole program. With the name of one of its commands, the others
// are left out: a hook has no need of them, and they cost a tenth of its time.
func (e *env) root(only string) *cli.Command {
	root := &cli.Command{
		Name: programName, Usage: "one record says which tmux session each GitHub event belongs to",
		Description: "gh loop brings each GitHub event to the one conversation that it belongs\n" +
			"to: the agent of an issue, or that of the pull request that delivers it.\n" +
			"REF is 15, owner/repo#15, github:owner/repo#15, or a URL.",
		Version: Version, Writer: e.out, ErrWriter: e.err,
		EnableShellCompletion: false,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return noCommand(c, c.Args().First())
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
	root.Commands = e.commands(only)
	var prepare func(c *cli.Command)
	prepare = func(c *cli.Command) {
		c.HideHelpCommand = true
		c.OnUsageError = func(_ context.Context, c *cli.Command, err error, _ bool) error { return e.misused(c, err) }
		c.ExitErrHandler = func(context.Context, *cli.Command, error) {}
		for _, sub := range c.Commands {
			prepare(sub)
		}
	}
	prepare(root)
	return root
}

// commands are all of them, or only the one of that name.
func (e *env) commands(only string) []*cli.Command {
	type command struct {
		name string
		make func() *cli.Command
	}
	commands := []command{
		{"start", e.startCommand},
		{"link", e.linkCommand},
		{"unlink", e.unlinkCommand},
		{"event", e.eventCommand},
		{"sync", e.syncCommand},
		{"serve", e.serveCommand},
		{"why", e.whyCommand},
		{"list", e.listCommand},
		{"show", e.showCommand},
		{"log", e.logCommand},
		{"jump", e.jumpCommand},
		{"pick", e.pickCommand},
		{"register", e.registerCommand},
		{"attach", e.attachCommand},
		{"restore", e.restoreCommand},
		{"stop", e.stopCommand},
		{"close", e.closeCommand},
		{"pause", e.pauseCommand},
		{"resume", e.resumeCommand},
		{"cleanup", e.cleanupCommand},
		{"reset", e.resetCommand},
		{"say", e.sayCommand},
		{"tmux", e.tmuxCommand},
		{"hook", e.hookCommand},
		{"hooks", e.hooksCommand},
		{"config", e.configCommand},
		{"doctor", e.doctorCommand},
		{"completion", e.completionCommand},
		{"man", e.manCommand},
		{"__complete", e.completeCommand},
		{"echo", e.echoCommand},
		{"demo", e.demoCommand},
	}
	if one := slices.IndexFunc(commands, func(c command) bool { return c.name == only }); one >= 0 {
		commands = commands[one : one+1]
	}
	var all []*cli.Command
	for _, c := range commands {
		all = append(all, c.make())
	}
	return all
}

// exactly checks the number of arguments; names are how help calls them.
func exactly(c *cli.Command, names ...string) ([]string, error) {
	got := c.Args().Slice()
	switch {
	case len(got) < len(names):
		return nil, usagef(c, "%s is missing", names[len(got)])
	case len(got) > len(names):
		return nil, usagef(c, "%q is one argument too many", got[len(names)])
	}
	return got, nil
}
