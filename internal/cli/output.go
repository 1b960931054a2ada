package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/tableprinter"
	"github.com/cli/go-gh/v2/pkg/template"
	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/urfave/cli/v3"
)

// jsonFlags are --json, --jq and --template as gh has them.
func jsonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "json", Usage: "print these `FIELDS` as JSON"},
		&cli.StringFlag{Name: "jq", Aliases: []string{"q"}, Usage: "filter the JSON with a jq `EXPR`"},
		&cli.StringFlag{Name: "template", Aliases: []string{"t"}, Usage: "format the JSON with a Go template `TEXT`"},
	}
}

// wanted reads --json; nil means that a person reads the output.
func wanted(c *cli.Command, known []string) ([]string, error) {
	if !c.IsSet("json") {
		for _, f := range []string{"jq", "template"} {
			if c.IsSet(f) {
				return nil, usagef(c, "cannot use `--%s` without specifying `--json`", f)
			}
		}
		return nil, nil
	}
	if c.IsSet("jq") && c.IsSet("template") {
		return nil, usagef(c, "only one of `--jq` and `--template` may be used")
	}
	fields := strings.Split(c.String("json"), ",")
	for _, f := range fields {
		if f == "" {
			return nil, usagef(c, "Specify one or more comma-separated fields for `--json`:\n  %s", strings.Join(known, "\n  "))
		}
		if !slices.Contains(known, f) {
			return nil, usagef(c, "Unknown JSON field: %q\nAvailable fields:\n  %s", f, strings.Join(known, "\n  "))
		}
	}
	return fields, nil
}

// pick keeps the wanted fields of a row.
func pick(row map[string]any, fields []string) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		out[f] = row[f]
	}
	return out
}

// printJSON prints data as --json, --jq or --template ask.
func (e *env) printJSON(c *cli.Command, data any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return err
	}
	screen := e.screen()
	switch {
	case c.IsSet("jq"):
		indent := ""
		if screen.tty {
			indent = "  "
		}
		return jq.EvaluateFormatted(&b, e.out, c.String("jq"), indent, screen.colour)
	case c.IsSet("template"):
		t := template.New(e.out, screen.width, screen.colour)
		if err := t.Parse(c.String("template")); err != nil {
			return err
		}
		if err := t.Execute(&b); err != nil {
			return err
		}
		return t.Flush()
	case screen.tty:
		var nice bytes.Buffer
		if err := json.Indent(&nice, b.Bytes(), "", "  "); err != nil {
			return err
		}
		b = nice
	}
	_, err := io.Copy(e.out, &b)
	return err
}

// screen is what standard output can show.
type screen struct {
	tty, colour, links bool
	width              int
}

func (e *env) screen() screen {
	t := term.FromEnv()
	width, _, err := t.Size()
	if err != nil || width < 1 {
		width = 80
	}
	tty := t.IsTerminalOutput()
	return screen{tty, t.IsColorEnabled(), tty && linking(e.getenv), width}
}

func (s screen) paint(code, text string) string {
	if !s.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// table makes a table as gh prints them: columns that fit, or tabs in a pipe.
func (e *env) table(s screen, header ...string) tableprinter.TablePrinter {
	out := bufio.NewWriter(e.out)
	t := tableprinter.New(out, s.tty, s.width)
	if s.tty {
		t.AddHeader(header)
	}
	return buffered{t, out}
}

// buffered is a table whose cells are not a write each.
type buffered struct {
	tableprinter.TablePrinter
	out *bufio.Writer
}

// Render prints what there is.
func (b buffered) Render() error {
	if err := b.TablePrinter.Render(); err != nil {
		return err
	}
	return b.out.Flush()
}

// ago says how long ago a time was; what is no time is "".
func ago(now time.Time, stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	switch d := now.Sub(at); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
}

// bareJSON lets --json stand without a value, which is how people ask gh what
// fields there are.
func bareJSON(root *cli.Command, args []string) []string {
	var c *cli.Command
	out := slices.Clone(args)
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		if c == nil && !strings.HasPrefix(args[i], "-") {
			c = root.Command(args[i])
			if c == nil {
				break
			}
		}
		last := i+1 == len(args) || strings.HasPrefix(args[i+1], "-")
		if c != nil && args[i] == "--json" && last && takesValue(c, "json") {
			out[i] = "--json="
		}
	}
	return out
}

func takesValue(c *cli.Command, name string) bool {
	for _, f := range c.Flags {
		if _, ok := f.(*cli.StringFlag); ok && slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}
