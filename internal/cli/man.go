package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// manCommand prints the manual page, made of the same text as the help.
func (e *env) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Hidden: true, Usage: "print the manual page",
		Description: "Examples:\n  gh loop man | man -l -\n  gh loop man > /usr/local/share/man/man1/gh-loop.1",
		Action: func(_ context.Context, c *cli.Command) error {
			if _, err := exactly(c); err != nil {
				return err
			}
			_, err := fmt.Fprint(e.out, manual(e.root("")))
			return err
		},
	}
}

// epilogue is what no command's help says.
const epilogue = `.SH EXIT STATUS
.TP
0
done, or held: an event was accepted and waits
.TP
1
failed
.TP
2
wrong usage
.TP
4
not signed in to GitHub
.TP
130
interrupted; what goes on until it is told to end (log \-\-follow, sync \-\-watch, serve, event \-\-stream) ends with 0
.SH FILES
.TP
~/.config/gh-loop/config.toml
the configuration, if there is one; GH_LOOP_CONFIG names another
.TP
~/.local/state/gh-loop
records, inbox, event log and working trees; GH_LOOP_STATE_DIR names another place
.SH SEE ALSO
.BR gh (1),
.BR tmux (1)
`

func manual(root *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH GH-LOOP 1 \"\" \"gh-loop %s\"\n.SH NAME\ngh-loop \\- %s\n", roff(Version), roff(root.Usage))
	b.WriteString(".SH SYNOPSIS\n.B gh loop\n.I COMMAND\n[\\fIARGUMENT\\fR...] [\\fIFLAG\\fR...]\n")
	b.WriteString(".SH DESCRIPTION\n" + roff(root.Description) + "\n.SH COMMANDS\n")
	var add func(prefix string, c *cli.Command)
	add = func(prefix string, c *cli.Command) {
		if c.Hidden {
			return
		}
		name := prefix + c.Name
		fmt.Fprintf(&b, ".SS %s\n", roff(strings.TrimSpace(name+" "+c.ArgsUsage)))
		fmt.Fprintf(&b, "%s.\n", roff(sentence(c.Usage)))
		manText(&b, c.Description)
		for _, f := range c.Flags {
			if d, ok := f.(cli.DocGenerationFlag); ok {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagNames(f)), roff(strings.ReplaceAll(d.GetUsage(), "`", "")))
			}
		}
		for _, sub := range c.Commands {
			add(name+" ", sub)
		}
	}
	for _, c := range root.Commands {
		add("", c)
	}
	return b.String() + epilogue
}

// manText lays a description out: what is indented stays as it is.
func manText(b *strings.Builder, text string) {
	literal := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if indented := strings.HasPrefix(line, "  "); indented != literal {
			literal = indented
			b.WriteString(map[bool]string{true: ".PP\n.nf\n.RS 4\n", false: ".RE\n.fi\n.PP\n"}[literal])
		}
		if strings.TrimSpace(line) == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	if literal {
		b.WriteString(".RE\n.fi\n")
	}
}

func flagNames(f cli.Flag) string {
	var all []string
	for _, n := range f.Names() {
		all = append(all, strings.Repeat("-", min(len(n), 2))+n)
	}
	return strings.Join(all, ", ")
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// roff keeps text from being taken for a request of the formatter.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "'", `\(aq`, "\n.", "\n\\&.").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
