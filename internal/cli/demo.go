package cli

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// demoFiles are the webhook bodies of the demo's story.
//
//go:embed demo/*.json
var demoFiles embed.FS

const demoItem, demoPR = "octo/demo#15", "octo/demo#16"

func (e *env) demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "play an item's story through, on a tmux server of its own",
		Description: "Needs tmux only: no network, no repository, no agent. Your own tmux server,\nconfiguration and records are not touched, and nothing is left behind.\n\nExamples:\n  gh loop demo\n  gh loop demo --keep",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "stop before the last step, and leave everything to be looked at"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if _, err := exactly(c); err != nil {
				return err
			}
			d, err := e.newDemo()
			if err != nil {
				return err
			}
			if err = d.play(ctx, c.Bool("keep")); err == nil && c.Bool("keep") {
				return d.sayKept()
			}
			return errors.Join(err, d.clear(context.WithoutCancel(ctx)))
		},
	}
}

// demo runs the commands that a person would type, in this very process, with
// an environment that leads to a directory of its own.
type demo struct {
	*env
	dir    string
	server tmux.Server
	screen screen
	count  int
}

// newDemo makes the directory. It is in /tmp, as a socket's path must be short.
func (e *env) newDemo() (*demo, error) {
	dir, err := os.MkdirTemp("/tmp", "gh-loop-demo-")
	if err != nil {
		return nil, err
	}
	d := &demo{env: e, dir: dir, server: tmux.Server{Socket: filepath.Join(dir, "tmux")}, screen: e.screen()}
	err = errors.Join(os.Mkdir(filepath.Join(dir, "work"), 0o700),
		os.WriteFile(filepath.Join(dir, "config.toml"), []byte(fmt.Sprintf("routing.authorizedUsers = [\"octocat\"]\nrouting.defaultHarness = \"echo\"\nrouting.tmux.socket = %q\n", d.server.Socket)), 0o600))
	files, readErr := demoFiles.ReadDir("demo")
	err = errors.Join(err, readErr)
	for _, f := range files {
		b, readErr := demoFiles.ReadFile("demo/" + f.Name())
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(dir, f.Name()), b, 0o600))
	}
	// What we start inherits this. A tmux server reads its user's configuration
	// from HOME, and must not find yours.
	for name, value := range map[string]string{
		"HOME": dir, "XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir, "GH_CONFIG_DIR": dir, "TMUX_TMPDIR": dir, "TMUX": "", "TMUX_PANE": "",
		"GH_LOOP_CONFIG": filepath.Join(dir, "config.toml"), "GH_LOOP_STATE_DIR": filepath.Join(dir, "state"), "GH_LOOP_ITEM": "", "GH_LOOP_REF": "", "GH_LOOP_ROLE": "",
	} {
		err = errors.Join(err, os.Setenv(name, value))
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return d, err
}

// demoStep is one thing that happens, and what must be so then.
type demoStep struct {
	title string
	args  []string
	at    string // whose session is told
	text  string // what must be seen there
	note  string
}

func (d *demo) play(ctx context.Context, keep bool) error {
	d.say("1", "One issue, its pull request, and every comment where it belongs.")
	d.say("", "The agent is echo, which shows what it is told. All this is in\n"+d.dir+", on a tmux server of its own.")
	steps := []demoStep{
		{"Work begins on an issue.", []string{"start", demoItem, "--cwd", filepath.Join(d.dir, "work"), "--prompt", "Too many open files: find out why."},
			demoItem, "Too many open files", "It has one record, one tmux session, one conversation."},
		{"Somebody comments on pull request 16, which says \"Closes #15\".", []string{"event", "--delivery", "d-1", "1-comment.json"},
			demoPR, "Please rerun CI", "The record learns the pull request, which gets a session of its own."},
		{"The link is edited out of the pull request. Another comment.", []string{"event", "--delivery", "d-2", "2-unlinked.json"},
			demoPR, "Squash the two commits", "GitHub does not know any more. The record does: the same conversation."},
		{"The pull request is merged.", []string{"event", "--delivery", "d-3", "3-merged.json"},
			"", "", "Its entry closes and its agent ends. The item goes on."},
		{"A late comment on the merged pull request.", []string{"event", "--delivery", "d-4", "4-late.json"},
			demoItem, "One handle is still left open", "The item's own conversation takes it."},
	}
	if !keep {
		steps = append(steps, demoStep{"The issue is closed.", []string{"event", "--delivery", "d-5", "5-closed.json"},
			"", "", "Everything of it ends, and the record moves to local/closed."})
	}
	began := d.now()
	for _, s := range steps {
		if err := d.step(ctx, s); err != nil {
			return err
		}
	}
	d.say("1", fmt.Sprintf("%d steps in %.1f s.", len(steps), d.now().Sub(began).Seconds()))
	return nil
}

// step runs one command and shows what came of it: its own words, what the
// agent was told, and the record.
func (d *demo) step(ctx context.Context, s demoStep) error {
	d.count++
	d.say("1;36", fmt.Sprintf("%d. %s", d.count, s.title))
	var out bytes.Buffer
	args := append([]string{}, s.args...)
	if s.args[0] == "event" {
		args[len(args)-1] = filepath.Join(d.dir, args[len(args)-1])
	}
	sub := env{in: d.in, out: &out, err: &out, getenv: os.Getenv, now: d.now}
	code := sub.run(ctx, append([]string{programName}, args...))
	fmt.Fprintf(d.out, "   $ gh loop %s\n", strings.Join(s.shown(), " "))
	d.indent("   ", out.String())
	if code != exitOK {
		return errSilent
	}
	r, err := d.record()
	if err != nil {
		return err
	}
	if s.text != "" {
		if err := d.seen(ctx, r, s); err != nil {
			return err
		}
	}
	d.indent("   ", s.note)
	for line := range strings.Lines(d.excerpt(r)) {
		fmt.Fprintf(d.out, "   %s\n", d.screen.paint("2", strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprintln(d.out)
	return nil
}

// shown is the command as it fits a line.
func (s demoStep) shown() []string {
	if s.args[0] == "event" {
		return []string{"event", s.args[len(s.args)-1]}
	}
	return []string{s.args[0], "'" + s.args[1] + "'", "--prompt …"}
}

// seen waits until the text is in the agent's pane, and shows it.
func (d *demo) seen(ctx context.Context, r *work.Record, s demoStep) error {
	ref, err := work.ParseRef("github:" + s.at)
	if err != nil {
		return err
	}
	x := r.At(ref)
	if x == nil || x.Tmux == nil {
		return fmt.Errorf("%s has no session", s.at)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		screen, err := d.server.Capture(ctx, tmux.Target{Identity: tmux.Identity{Socket: x.Tmux.Socket}, Token: x.Tmux.Token}, -1, false)
		if err != nil {
			return err
		}
		for line := range strings.Lines(screen) {
			if told, ok := strings.CutPrefix(line, "| "); ok && strings.Contains(told, s.text) {
				fmt.Fprintf(d.out, "   %s is told: %s\n", s.at, d.screen.paint("32", strings.TrimSpace(told)))
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%q was not seen in session %s: %w", s.text, x.TmuxTarget, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (d *demo) record() (*work.Record, error) {
	sub := env{in: d.in, out: d.out, err: d.err, getenv: os.Getenv, now: d.now}
	l, err := sub.build()
	if err != nil {
		return nil, err
	}
	ref, err := work.ParseRef("github:" + demoItem)
	if err != nil {
		return nil, err
	}
	return l.Record(ref)
}

// excerpt is the part of the record that the story is about, as it is written.
func (d *demo) excerpt(r *work.Record) string {
	part := func(s *work.Session) string {
		ids := strings.ReplaceAll(fmt.Sprintf("%q", s.RecentDeliveries), " ", ", ")
		return fmt.Sprintf("{\"workItem\": {\"ref\": %q}, \"status\": %q,\n \"tmuxTarget\": %q,\n \"harnessSessionId\": \"%.8s…\", \"recentDeliveries\": %s",
			s.Ref, s.Status, s.TmuxTarget, s.HarnessSessionID, ids)
	}
	text := part(&r.Session)
	for _, pr := range r.PullRequests() {
		text += ",\n \"pullRequests\": [\n  " + strings.ReplaceAll(part(pr), "\n", "\n  ") + "}]"
	}
	return text + "}"
}

func (d *demo) say(colour, text string) { fmt.Fprintf(d.out, "%s\n\n", d.screen.paint(colour, text)) }

// indent prints lines, of which those that 80 columns cannot hold are broken.
func (d *demo) indent(by, text string) {
	for line := range strings.Lines(text) {
		line = by + strings.TrimRight(line, "\n")
		for len(line) > 80 && strings.Contains(line[len(by):80], " ") {
			at := strings.LastIndexByte(line[:81], ' ')
			fmt.Fprintln(d.out, line[:at])
			line = by + "  " + line[at+1:]
		}
		fmt.Fprintln(d.out, line)
	}
}

// sayKept says how to look at what was left, and how to end it.
func (d *demo) sayKept() error {
	_, err := fmt.Fprintf(d.out, `Everything is still there. Look at it:

   tmux -S %[1]s/tmux attach -t loop-github-octo-demo-15
   export GH_LOOP_CONFIG=%[1]s/config.toml GH_LOOP_STATE_DIR=%[1]s/state
   gh loop show '%[2]s'

The last step closes the issue:

   gh loop event %[1]s/5-closed.json

And to end it:

   tmux -S %[1]s/tmux kill-server; rm -r %[1]s
   unset GH_LOOP_CONFIG GH_LOOP_STATE_DIR
`, d.dir, demoItem)
	return err
}

// clear ends the server and takes the directory away, also after Ctrl-C.
func (d *demo) clear(ctx context.Context) error {
	return errors.Join(d.server.Shut(ctx), os.RemoveAll(d.dir))
}
