package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v3"
)

// called is how a command wants to be called.
type called struct {
	need, most int      // arguments
	ref        bool     // the first one is a ref
	prints     []string // calls of it that print data
}

// calls has every command: one that is not here fails the test.
var calls = map[string]called{
	"start":       {1, 1, true, nil},
	"link":        {1, 1, true, nil},
	"unlink":      {1, 1, true, nil},
	"event":       {0, 1, false, []string{"event --json BODY"}},
	"sync":        {0, many, true, nil},
	"serve":       {0, 0, false, nil},
	"why":         {1, 1, true, []string{"why --offline 15", "why --offline --json ref 15"}},
	"list":        {0, 0, false, []string{"list", "list --json ref"}},
	"show":        {1, 1, true, []string{"show 15", "show 15 --json ref"}},
	"log":         {0, 1, true, []string{"log", "log --json", "log --help"}},
	"jump":        {1, 1, false, nil},
	"pick":        {0, 0, false, nil},
	"register":    {1, 1, true, nil},
	"attach":      {1, 1, true, nil},
	"restore":     {0, 0, false, nil},
	"stop":        {1, 1, true, nil},
	"close":       {1, 1, true, nil},
	"pause":       {1, 1, true, nil},
	"resume":      {1, 1, true, nil},
	"cleanup":     {1, 1, true, nil},
	"reset":       {1, 1, true, nil},
	"say":         {1, 1, false, nil},
	"tmux":        {1, 0, false, nil},
	"tmux load":   {0, 0, false, nil},
	"tmux unload": {0, 0, false, nil},
	"tmux show":   {0, 0, false, []string{"tmux show"}},
	"hooks":       {1, 0, false, nil},
	"hooks show":  {1, 1, false, []string{"hooks show claude"}},

	"hooks install":   {1, 1, false, []string{"hooks install claude --dry-run"}},
	"hooks uninstall": {1, 1, false, nil},
	"demo":            {0, 0, false, nil}, // demo_story.txtar has the rest

	"config":     {0, 0, false, []string{"config"}},
	"doctor":     {0, 0, false, []string{"doctor --no-play", "doctor --no-play --json"}},
	"completion": {1, 1, false, []string{"completion bash", "completion zsh", "completion fish"}},
	"man":        {0, 0, false, []string{"man"}},
}

const many = 99

// free are for programs of ours; hooks have a test of their own (rule 55).
var free = []string{"hook", "echo", "__complete"}

func leaves(t *testing.T, fn func(name string, c *cli.Command, want called)) {
	var visit func(prefix string, c *cli.Command)
	visit = func(prefix string, c *cli.Command) {
		name := prefix + c.Name
		if slices.Contains(free, name) {
			return
		}
		want, ok := calls[name]
		if !ok {
			t.Errorf("%q is in no row of this test", name)
			return
		}
		fn(name, c, want)
		for _, sub := range c.Commands {
			visit(name+" ", sub)
		}
	}
	for _, c := range (&env{}).root("").Commands {
		visit("", c)
	}
}

// untouched fails if a call that was refused left anything behind.
func (w *world) untouched(before []string) {
	w.Helper()
	if now := w.files(); !slices.Equal(before, now) {
		w.Errorf("it left something behind: %q, before: %q", now, before)
	}
}

func (w *world) files() (all []string) {
	_ = filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			b, _ := os.ReadFile(path)
			all = append(all, path+string(b))
		}
		return nil
	})
	return all
}

// A wrong call says what is wrong and how to find out more, ends with 2, prints
// no data and changes nothing.
func TestWrongCalls(t *testing.T) {
	leaves(t, func(name string, c *cli.Command, want called) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.item("octo/repo#15", nil)
			before := w.files()
			path := strings.Fields(name)
			args := slices.Repeat([]string{"15"}, max(want.need, 1))
			try := func(why, says string, args ...string) {
				t.Helper()
				if code := w.run(append(slices.Clone(path), args...)...); code != exitUsage || !strings.Contains(w.err.String(), says) || w.out.Len() > 0 {
					t.Errorf("%s %q: exit %d, said %q, printed %q", why, args, code, w.err.String(), w.out.String())
				}
				w.untouched(before)
			}
			try("unknown flag", "nonsense", append(args[:want.need:want.need], "--nonsense")...)
			try("unknown flag first", "nonsense", append([]string{"--nonsense"}, args[:want.need]...)...)
			if want.need > 0 {
				try("no argument", "missing")
			}
			if want.most < many && len(c.Commands) == 0 {
				try("too many", "", slices.Repeat([]string{"15"}, want.most+1)...)
			}
			if want.need > 0 && !want.ref {
				try("unknown", "", "nonsense")
			}
			if want.ref {
				for _, bad := range []string{"github:a/b/c#1", "octo/repo#0", "#", "octo/repo", "https://example.com/"} {
					try("no ref", "", bad)
				}
			}
		})
	})
}

// Each command is found by its name alone, without the others.
func TestOneCommand(t *testing.T) {
	for _, c := range (&env{}).root("").Commands {
		if one := (&env{}).root(c.Name).Commands; len(one) != 1 || one[0].Name != c.Name {
			t.Errorf("%s: %d commands", c.Name, len(one))
		}
	}
}

// Every command's help has two examples of itself, and fits 80 columns.
func TestHelp(t *testing.T) {
	leaves(t, func(name string, c *cli.Command, _ called) {
		w := newWorld(t)
		if code := w.run(append(strings.Fields(name), "--help")...); code != exitOK || w.err.Len() > 0 {
			t.Errorf("%s --help: exit %d, %s", name, code, w.err.String())
		}
		narrow(t, w.out.String())
		if _, examples, _ := strings.Cut(c.Description, "Examples:\n"); strings.Count("\n"+examples, "\n  ") < 2 || !strings.Contains(examples, "gh loop "+name) {
			t.Errorf("%s has fewer than two examples: %q", name, examples)
		}
		if len(w.files()) > 0 {
			t.Errorf("%s --help wrote something", name)
		}
	})
}

// The help of all fits 80 columns too.
func TestHelpOfAll(t *testing.T) {
	for _, call := range []string{"--help", "tmux --help", "hooks --help"} {
		w := newWorld(t)
		if code := w.run(strings.Fields(call)...); code != exitOK || w.out.Len() == 0 {
			t.Errorf("%s: exit %d, printed %q", call, code, w.out.String())
		}
		narrow(t, w.out.String())
	}
}

func narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// What is misspelt is answered in the words of who typed it, with what was
// probably meant.
func TestMisspelt(t *testing.T) {
	for call, says := range map[string]string{
		"lst":                    `"lst" is not a command of gh loop; did you mean "list"?`,
		"lst --json":             `"lst" is not a command of gh loop; did you mean "list"?`,
		"stat":                   `"stat" is not a command of gh loop; did you mean "start"?`,
		"version":                `"version" is not a command of gh loop`,
		"start --harnes echo 15": `--harnes is not a flag of gh loop start; did you mean "--harness"?`,
		"list --stat=dead":       `--stat is not a flag of gh loop list; did you mean "--state"?`,
		"log -L ten":             `-L: "ten" is not a whole number`,
		"log --limit=ten":        `--limit: "ten" is not a whole number`,
		"start octo/repo":        `"octo/repo" is not a ref: there is no #number; write 15, owner/repo#15, or a URL`,
	} {
		w := newWorld(t)
		code := w.run(strings.Fields(call)...)
		if said, _, _ := strings.Cut(w.err.String(), "\n"); code != exitUsage || said != says {
			t.Errorf("%s: exit %d, said %q, want %q", call, code, said, says)
		}
	}
}

// A flag counts the same before and behind the argument.
func TestFlagAfterArgument(t *testing.T) {
	for _, c := range [][2]string{
		{"show 15 --json ref,state", "show --json ref,state 15"},
		{"show 15 -R octo/other", "show -R octo/other 15"},
		{"stop 16 -R octo/other", "stop -R octo/other 16"},
		{"log 15 --limit 1 --json", "log --json --limit 1 15"},
	} {
		w := newWorld(t)
		w.item("octo/repo#15", nil)
		code := w.run(strings.Fields(c[0])...)
		out, said := w.out.String(), w.err.String()
		if again := w.run(strings.Fields(c[1])...); again != code || w.out.String() != out || w.err.String() != said {
			t.Errorf("%s: %d %q %q; %s: %d %q %q", c[0], code, out, said, c[1], again, w.out.String(), w.err.String())
		}
	}
}

// A full disk on output is an error; a reader that left is not worth a word.
func TestOutputFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	r, left, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer left.Close()
	leaves(t, func(name string, _ *cli.Command, want called) {
		for _, call := range want.prints {
			t.Run(call, func(t *testing.T) { printsInto(t, call, full, left) })
		}
	})
}

func printsInto(t *testing.T, call string, full, left *os.File) {
	for _, out := range []*os.File{full, left} {
		w := newWorld(t)
		w.item("octo/repo#15", nil)
		w.write("state/log/events.jsonl", `{"at":"2026-08-07T10:00:00Z","what":"delivered","item":"github:octo/repo#15"}`+"\n")
		w.write("body.json", "{}")
		args := strings.Fields("gh-loop " + strings.ReplaceAll(call, "BODY", filepath.Join(w.home, "body.json")))
		e := w.env()
		e.out = out
		code := e.run(context.Background(), args)
		said := strings.Contains(w.err.String(), "no space left")
		if code != exitFailed || said != (out == full) {
			t.Errorf("%s: exit %d, said %q", out.Name(), code, w.err.String())
		}
	}
}

// Ctrl-C ends every command, and what it leaves is whole.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	leaves(t, func(name string, c *cli.Command, want called) {
		if len(c.Commands) > 0 || name == "pick" || name == "attach" || name == "demo" {
			return
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.item("octo/repo#15", nil)
			args := append([]string{"gh-loop"}, strings.Fields(name)...)
			if want.need > 0 {
				args = append(args, "15")
			}
			e := w.env()
			e.in, _ = os.Open(os.DevNull)
			code := e.run(ctx, args)
			if code != exitOK && code != exitFailed && code != exitUsage && code != exitSignal {
				t.Errorf("exit %d: %s", code, w.err.String())
			}
			for _, f := range w.files() {
				if strings.Contains(f, ".tmp") {
					t.Errorf("left %s", f)
				}
			}
			w.err = bytes.Buffer{}
			if w.run("list", "--json", "ref"); w.err.Len() > 0 {
				t.Errorf("afterwards: %s", w.err.String())
			}
		})
	})
}
