package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"
)

// noCommand tells of a command that there is none of.
func noCommand(c *cli.Command, typed string) error {
	var names []string
	for _, sub := range c.Root().Commands {
		if !sub.Hidden {
			names = append(names, sub.Names()...)
		}
	}
	return usagef(c, "%q is not a command of gh loop%s", typed, nearest(names, typed, ""))
}

// misused says in our words what the library says in those of Go about flags.
// It reads the arguments itself, as the library's errors are texts only.
func (e *env) misused(c *cli.Command, err error) error {
	if c == c.Root() {
		if i := slices.IndexFunc(e.args, func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
			return noCommand(c, e.args[i])
		}
	}
	for i, arg := range e.args {
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			continue
		}
		typed, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(e.args) {
			value, joined = e.args[i+1], true
		}
		flag, names := flagOf(c, strings.TrimLeft(typed, "-"))
		if flag == nil {
			return usagef(c, "%s is not a flag of %s%s", typed, c.FullName(), nearest(names, strings.TrimLeft(typed, "-"), "--"))
		}
		if _, number := flag.(*cli.IntFlag); number && joined {
			if _, err := strconv.ParseInt(value, 0, 64); err != nil {
				return usagef(c, "%s: %q is not a whole number", typed, value)
			}
		}
	}
	return usagef(c, "%s", err)
}

// flagOf finds a command's flag, and gives the long names of all.
func flagOf(c *cli.Command, name string) (found cli.Flag, names []string) {
	for _, f := range append(slices.Clone(c.Flags), cli.HelpFlag) {
		if slices.Contains(f.Names(), name) {
			found = f
		}
		names = append(names, f.Names()[0])
	}
	return found, names
}

// nearest suggests the name that was probably meant: fewest letters away, and
// no more than a third of them.
func nearest(names []string, typed, dashes string) string {
	best, least := "", max(1, len(typed)/3)+1
	for _, name := range names {
		if far := distance(typed, name); far < least {
			best, least = name, far
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", dashes+best)
}

// distance counts the letters to add, take out or change between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
