package cli

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// The scripts ask the program itself what could come next, so that they know
// what is worked on at this moment.
var (
	//go:embed completion.bash
	bashCompletion string
	//go:embed completion.zsh
	zshCompletion string
	//go:embed completion.fish
	fishCompletion string
)

func (e *env) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print completion for a shell: bash, zsh or fish", ArgsUsage: "SHELL",
		Description: "It completes refs of live items, agents and fields, for gh-loop and gh loop.\nIn the shell's start file: eval \"$(gh-loop completion bash)\";\n" +
			"in config.fish: gh-loop completion fish | source\n\n" +
			"Examples:\n  gh loop completion bash >> ~/.bash_completion\n  gh loop completion zsh > ~/.zfunc/_gh-loop",
		Action: func(_ context.Context, c *cli.Command) error {
			args, err := exactly(c, "SHELL")
			if err != nil {
				return err
			}
			script, ok := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[args[0]]
			if !ok {
				return usagef(c, "%q is not bash, zsh or fish", args[0])
			}
			_, err = fmt.Fprint(e.out, script)
			return err
		},
	}
}

// completeCommand is what the scripts call with the words so far, the last one
// being written. It prints candidates, each with a TAB and what it is.
func (e *env) completeCommand() *cli.Command {
	return &cli.Command{
		Name: "__complete", Hidden: true, SkipFlagParsing: true, Usage: "what could come next",
		Action: func(_ context.Context, c *cli.Command) error {
			for _, w := range e.candidates(e.root(""), c.Args().Slice()) {
				if _, err := fmt.Fprintln(e.out, w); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// candidates never fails: what cannot be read has nothing to offer.
func (e *env) candidates(at *cli.Command, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	done, word := words[:len(words)-1], words[len(words)-1]
	n, value := 0, cli.Flag(nil)
	for _, w := range done {
		switch {
		case w == "=": // bash takes --flag=value apart
		case value != nil:
			value = nil
		case strings.HasPrefix(w, "-") && !strings.Contains(w, "="):
			value = valued(at, w)
		case !strings.HasPrefix(w, "-") && n == 0 && at.Command(w) != nil:
			at = at.Command(w)
		case !strings.HasPrefix(w, "-"):
			n++
		}
	}
	if word == "=" {
		word = ""
	}
	if name, v, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "--") {
		var all []string
		for _, x := range starting(v, e.valuesOf(at, name[2:], v)) {
			all = append(all, name+"="+x)
		}
		return all
	}
	switch {
	case value != nil:
		return starting(word, e.valuesOf(at, value.Names()[0], word))
	case strings.HasPrefix(word, "-"):
		return starting(word, flagWords(at))
	case len(at.Commands) > 0 && n == 0:
		return starting(word, commandWords(at))
	}
	return starting(word, e.argumentsOf(at, n, word))
}

func starting(word string, all []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(strings.ToLower(s), strings.ToLower(word)) })
}

// described keeps what is said short: shells cut the word itself to make room.
func described(word, what string) string {
	const most = 60
	what = strings.Join(strings.Fields(clean(what)), " ")
	if runes := []rune(what); len(runes) > most {
		what = string(runes[:most-1]) + "…"
	}
	if what == "" {
		return word
	}
	return word + "\t" + what
}

func commandWords(at *cli.Command) (all []string) {
	for _, c := range at.Commands {
		if !c.Hidden {
			all = append(all, described(c.Name, c.Usage))
		}
	}
	return all
}

func flagWords(at *cli.Command) (all []string) {
	for _, f := range at.Flags {
		usage := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			usage = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		for _, name := range f.Names() {
			if len(name) > 1 {
				all = append(all, described("--"+name, usage))
			}
		}
	}
	return append(all, described("--help", "show help"))
}

// valued gives the flag that a word is, if it wants a value.
func valued(at *cli.Command, word string) cli.Flag {
	name := strings.TrimLeft(word, "-")
	for _, f := range at.Flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() && slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func (e *env) valuesOf(at *cli.Command, flag, word string) []string {
	switch flag {
	case "json":
		return fieldLists(word)
	case "harness":
		conf, err := config.Load(e.getenv, e.home())
		if err != nil {
			conf = config.Default()
		}
		return slices.Sorted(maps.Keys(conf.Adapters("gh-loop")))
	case "to", "from":
		return e.liveRefs(word, false)
	case "session-per-pr":
		return []string{"always", "cross-repository", "never"}
	case "fate":
		return slices.Clone(fates)
	case "since":
		return []string{"1h", "1d", "7d"}
	}
	return nil
}

// fieldLists continues a comma-separated list with each field that is not in it.
func fieldLists(word string) (all []string) {
	before := word[:strings.LastIndexByte(word, ',')+1]
	have := strings.Split(before, ",")
	for _, f := range rowFields {
		if !slices.Contains(have, f) {
			all = append(all, before+f)
		}
	}
	return all
}

func (e *env) argumentsOf(at *cli.Command, n int, word string) []string {
	several := strings.Contains(at.ArgsUsage, "…") || strings.Contains(at.ArgsUsage, "...")
	switch {
	case n > 0 && !several:
		return nil
	case at.Name == "completion":
		return []string{"bash", "zsh", "fish"}
	case at.Name == "jump":
		return append([]string{"item\tup to the item", "next", "prev", "last\twhere this client was", "waiting\tto one that asks something"}, e.liveRefs(word, true)...)
	case at.Name == "unlink":
		return e.liveRefs(word, true)
	case strings.Contains(at.ArgsUsage, "REF") || strings.Contains(at.ArgsUsage, "PR"):
		return e.liveRefs(word, true)
	}
	return nil
}

// liveRefs are those of live items, and of their pull requests where these can
// be meant: in full, or as numbers if a number was begun.
func (e *env) liveRefs(word string, withPRs bool) []string {
	s := store.Store{Dir: config.StateDir(e.getenv, e.home())}
	records, _, err := s.Live()
	if err != nil {
		return nil
	}
	var live []*work.Session
	for _, r := range records {
		for _, x := range r.Endpoints() {
			if x.Live() && (withPRs || x.Ref.Same(r.Ref)) {
				live = append(live, x)
			}
		}
	}
	slices.SortFunc(live, func(a, b *work.Session) int { return byRef(a.Ref, b.Ref) })
	_, err = strconv.Atoi(word)
	var all []string
	for _, x := range live {
		name := x.Ref.Short()
		if err == nil {
			name = strconv.FormatInt(x.Ref.Number, 10)
		}
		all = append(all, described(name, screen{}.title(x.Title)))
	}
	return slices.Compact(all)
}
