package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) pickCommand() *cli.Command {
	return &cli.Command{
		Name: "pick", Usage: "choose a conversation, with a preview, and go there",
		Description: "Uses fzf where it is installed, and a picker of its own elsewhere.\nEnter goes to the session, and starts or brings it back where there is none.\n\n" +
			"Examples:\n  gh loop pick\n  tmux display-popup -E 'gh-loop pick'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "client", Usage: "the tmux client to move, by `NAME`"},
			&cli.BoolFlag{Name: "plain", Usage: "never use fzf"},
			&cli.BoolFlag{Name: "rows", Hidden: true},      // what fzf lists
			&cli.StringFlag{Name: "preview", Hidden: true}, // what it shows of a ref, until it is ended
			&cli.StringFlag{Name: "do", Hidden: true},      // what it does with the ref that is the argument
		},
		Action: e.pick,
	}
}

func (e *env) pick(ctx context.Context, c *cli.Command) error {
	do := c.String("do")
	if args := c.Args().Slice(); len(args) > 1 || do == "" && len(args) > 0 {
		return usagef(c, "%q is one argument too many", args[len(args)-1])
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	switch {
	case do != "":
		return e.pickDo(ctx, d, do, c.Args().First(), c.String("client"))
	case c.String("preview") != "":
		return e.watch(ctx, d, c.String("preview"))
	case c.Bool("rows"):
		rows, err := e.fzfRows(ctx, d)
		fmt.Fprint(e.out, rows)
		return err
	case !e.screen().tty:
		return fmt.Errorf("pick needs a terminal: gh loop list shows the same")
	case !c.Bool("plain") && tmux.Has("fzf"):
		return e.fzf(ctx, d, c.String("client"))
	}
	v, err := d.Look(ctx)
	if err != nil {
		return err
	}
	p := picker{env: e, loop: d, client: c.String("client"), rows: e.pickRows(v)}
	return p.run(ctx)
}

// row is one conversation as it can be picked: its line is head, state, tail, title.
type row struct {
	ref                      work.Ref
	head, state, tail, title string
}

func (r row) plain() string { return r.head + r.state + r.tail + r.title }

func (r row) coloured() string {
	return r.head + "\x1b[" + stateColour(r.state) + "m" + r.state + "\x1b[0m" + r.tail + "\x1b[2m" + r.title + "\x1b[0m"
}

// pickRows lists items with their pull requests below them: those where an
// agent waits for its user first, then what was active last.
func (e *env) pickRows(v dispatch.View) []row {
	type group struct {
		rows    []row
		waits   int
		touched string
	}
	var groups []group
	width := 0
	for _, r := range v.Records {
		for i, s := range r.Endpoints() {
			width = max(width, len(s.Ref.Short())+2*min(i, 1))
		}
	}
	for _, r := range v.Records {
		var g group
		for i, s := range r.Endpoints() {
			if !s.Live() {
				continue
			}
			state, held := v.State(s), ""
			if s.Status == work.Paused {
				state = "paused"
			}
			if n := v.Held[s.Ref.Key()]; n > 0 {
				held = fmt.Sprintf("%d held", n)
			}
			g.waits += map[string]int{"waiting": 1}[state]
			g.touched = max(g.touched, s.LastEventAt, s.CreatedAt)
			name := strings.Repeat("  ", min(i, 1)) + s.Ref.Short()
			g.rows = append(g.rows, row{s.Ref, fmt.Sprintf("%-*s  ", width, name), state,
				fmt.Sprintf("%*s %8s  %-8s ", 8-len(state), "", ago(e.now(), s.LastEventAt), held), clean(strings.Join(strings.Fields(s.Title), " "))})
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(min(b.waits, 1), min(a.waits, 1)), strings.Compare(b.touched, a.touched))
	})
	var rows []row
	for _, g := range groups {
		rows = append(rows, g.rows...)
	}
	return rows
}

// pickKeys are the keys beside Enter, for both pickers.
var pickKeys = []struct{ key, do, help string }{
	{"ctrl-o", "browse", "browser"}, {"ctrl-l", "link", "link"}, {"ctrl-p", "pause", "pause or resume"}, {"ctrl-s", "stop", "stop"}, {"ctrl-n", "new", "new"},
}

func pickHelp() string {
	help := "enter go"
	for _, k := range pickKeys {
		help += " · " + strings.Replace(k.key, "ctrl-", "^", 1) + " " + k.help
	}
	return help
}

// fzf has fzf show the rows. It calls us again for other rows, preview and
// deeds; refs are all that it hands over. That nothing is picked (130, or 1) is
// no failure, which would keep the popup open.
func (e *env) fzf(ctx context.Context, d *dispatch.Loop, client string) error {
	bin, err := e.bin()
	if err != nil {
		return err
	}
	self := `"$GH_LOOP_BIN" pick `
	args := []string{
		"--ansi", "--delimiter", "\t", "--with-nth", "2..", "--no-multi", "--no-sort", "--layout", "reverse", "--info", "inline", "--prompt", "gh loop> ",
		"--header", pickHelp(), "--preview", self + "--preview {1}", "--preview-window", "down,60%",
		"--bind", `enter:execute(` + self + `--do go --client "$GH_LOOP_CLIENT" {1})+abort`,
	}
	for _, k := range pickKeys {
		args = append(args, "--bind", k.key+":execute("+self+"--do "+k.do+` --client "$GH_LOOP_CLIENT" {1})+reload(`+self+"--rows)+refresh-preview")
	}
	env := append(os.Environ(), "GH_LOOP_BIN="+bin, "GH_LOOP_CLIENT="+client, "SHELL=/bin/sh")
	exit, err := tmux.Feed("fzf", args, env, func() (string, error) { return e.fzfRows(ctx, d) })
	if err == nil && exit != 0 && exit != 1 && exit != 130 {
		err = fmt.Errorf("fzf ended with %d: gh loop pick --plain does without it", exit)
	}
	return err
}

// fzfRows are the rows as fzf takes them: a ref, and what is shown of it.
func (e *env) fzfRows(ctx context.Context, d *dispatch.Loop) (string, error) {
	v, err := d.Look(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range e.pickRows(v) {
		fmt.Fprintf(&b, "%s\t%s\n", r.ref, r.coloured())
	}
	return b.String(), nil
}

// pickDo does one thing with a picked ref, in words that could have been typed.
func (e *env) pickDo(ctx context.Context, d *dispatch.Loop, do, text, client string) error {
	ref, err := work.ParseRef(text)
	if err != nil && do != "new" {
		return nil // nothing was picked
	}
	var words []string
	switch do {
	case "go":
		words = []string{"attach", ref.String()}
		if client != "" {
			words = append(words, "--client", client)
		}
	case "browse":
		return d.Browse(ctx, ref)
	case "link":
		pr, err := e.ask(ctx, "Pull request that delivers "+ref.Short()+": ")
		if pr == "" {
			return err
		}
		words = []string{"link", pr, "--to", ref.String(), "--repo", ref.Repository().String()}
	case "pause":
		words = []string{"pause", ref.String()}
		if v, err := d.LookAt(ctx, ref); err == nil && v.Records[0].At(ref) != nil && v.Records[0].At(ref).Status == work.Paused {
			words[0] = "resume"
		}
	case "stop":
		if yes, err := e.ask(ctx, "Stop "+ref.Short()+"? Its agent ends. [y/N] "); !strings.EqualFold(yes, "y") {
			return err
		}
		words = []string{"stop", ref.String()}
	case "new":
		what, err := e.ask(ctx, "Issue or pull request to start here: ")
		if what == "" {
			return err
		}
		words = []string{"start", what}
	default:
		return fmt.Errorf("%q is nothing that pick does", do)
	}
	if code := e.run(ctx, append([]string{programName}, words...)); code != exitOK {
		_, err := e.ask(ctx, "Enter goes on. ")
		return err
	}
	return nil
}

// previewEvery is how often a preview is drawn anew.
const previewEvery = time.Second / 2

// watch shows an endpoint again and again, until fzf ends it or is gone: where
// nothing changes it says so every two seconds, with a colour that is none, as
// only who writes hears that nobody reads.
func (e *env) watch(ctx context.Context, d *dispatch.Loop, text string) error {
	ref, err := work.ParseRef(text)
	if err != nil {
		return err
	}
	was := ""
	for n := 1; ; n++ {
		lines, text := 0, ""
		_, _ = fmt.Sscan(e.getenv("FZF_PREVIEW_LINES"), &lines)
		if now := e.preview(ctx, d, ref, lines); now != was {
			text, was = "\x1b[2J"+now, now
		} else if n%4 == 0 {
			text = "\x1b[m"
		}
		if _, err := fmt.Fprint(e.out, text); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(previewEvery):
		}
	}
}

// preview is what an endpoint is, and the end of what its pane shows, in colour.
func (e *env) preview(ctx context.Context, d *dispatch.Loop, ref work.Ref, lines int) string {
	v, err := d.LookAt(ctx, ref)
	if err != nil {
		return clean(err.Error()) + "\n"
	}
	s := v.Records[0].At(ref)
	if s == nil {
		return "gone\n"
	}
	state := v.State(s)
	head := fmt.Sprintf("\x1b[1m%s\x1b[0m  \x1b[%sm%s\x1b[0m  %s %s\n", ref.Short(), stateColour(state), state, s.Harness, s.TmuxTarget)
	if s.Title != "" {
		head += clean(strings.Join(strings.Fields(s.Title), " ")) + "\n"
	}
	pane, ok := v.Pane(s)
	if !ok {
		return head + "\nno session: Enter starts one\n"
	}
	screen, err := tmux.Server{Socket: pane.Socket}.Capture(ctx, pane.Target(), 0, true)
	if err != nil {
		return head + clean(err.Error()) + "\n"
	}
	shown := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	if room := lines - strings.Count(head, "\n") - 1; lines > 0 && len(shown) > room {
		shown = shown[len(shown)-max(room, 1):]
	}
	return head + "\x1b[2m" + strings.Repeat("─", 40) + "\x1b[0m\n" + strings.Join(shown, "\n") + "\x1b[0m\n"
}
