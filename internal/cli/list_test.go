package cli

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/text"

	"github.com/gh-loop/gh-loop/internal/work"
)

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\`)

func titled(title string) func(*work.Record) { return func(r *work.Record) { r.Title = title } }

func (w *world) items() {
	w.item("octo/repo#10", titled("日本語の題名がここにとても長く続いていくので切られるはずの題名がここにあります"))
	w.item("octo/repo#2", titled("שלום עולם"))
	w.item("Octo/repo#9", titled("evil \x1b]0;owned\x07\u202etxt.exe"))
	w.item("octo/api#1", func(r *work.Record) {
		r.Title, r.LastEventAt, r.Status = strings.Repeat("long ", 40), work.Stamp(w.at.Add(-3*time.Hour)), work.Paused
		for _, n := range []int64{12, 3} {
			pr := &work.Session{Ref: refOf(fmt.Sprintf("github:octo/lib#%d", n)), Status: work.Active, Title: "a part"}
			if n == 3 {
				pr.Close(work.ByEvent)
			}
			_, _ = r.Link(pr)
		}
	})
}

// What people see: the order in which they count, a letter for each state, no
// line longer than the terminal, and nothing of a stranger's that moves it.
func TestList(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Setenv("GH_FORCE_TTY", fmt.Sprint(width))
			w := newWorld(t)
			w.vars["TMUX"] = "x" // which takes links
			w.items()
			if code := w.run("list"); code != exitOK {
				t.Fatal(w.err.String())
			}
			shown := escapes.ReplaceAllString(w.out.String(), "")
			if strings.ContainsAny(shown, "\x1b\x07\u202e") || !strings.Contains(w.out.String(), "\x1b]8;;https://github.com/octo/repo/issues/2\x1b\\octo/repo#2\x1b]8") {
				t.Errorf("controls, or no links: %q", w.out.String())
			}
			lines := strings.Split(strings.TrimSpace(shown), "\n")
			var refs []string
			for _, l := range lines[1:] {
				refs = append(refs, strings.Fields(l)[0])
			}
			if want := []string{"octo/api#1", "octo/lib#3", "octo/lib#12", "octo/repo#2", "Octo/repo#9", "octo/repo#10"}; !slices.Equal(refs, want) {
				t.Errorf("order %q", refs)
			}
			for _, l := range lines {
				if n := text.DisplayWidth(strings.TrimRight(l, " ")); width >= 80 && n > width+2 { // isolates count as one and show as none
					t.Errorf("%d columns: %q", n, l)
				}
			}
			for _, want := range []string{"P paused", "C closed", "- none", "3h ago"} {
				if !strings.Contains(shown, want) {
					t.Errorf("no %q in\n%s", want, shown)
				}
			}
			if strings.Contains(lines[0], "SESSION") != (width >= 100) {
				t.Errorf("header %q", lines[0])
			}
		})
	}
}

// In a pipe: tabs, whole titles, exact times, bare words, no colour.
func TestListPiped(t *testing.T) {
	w := newWorld(t)
	w.items()
	if code := w.run("list"); code != exitOK {
		t.Fatal(w.err.String())
	}
	first, _, _ := strings.Cut(w.out.String(), "\n")
	f := strings.Split(first, "\t")
	if len(f) != 6 || f[0] != "octo/api#1" || f[1] != "paused" || f[3] != "2026-08-07T09:00:00Z" || len(f[5]) < 190 || strings.Contains(w.out.String(), "\x1b") {
		t.Errorf("got %q", f)
	}
}

// The words for a wrong --json are gh's.
func TestJSONFields(t *testing.T) {
	w := newWorld(t)
	w.items()
	for _, c := range []struct {
		args, says string
	}{
		{"list --json", "Specify one or more comma-separated fields for `--json`:\n  ref\n  url"},
		{"list --json --jq .", "Specify one or more comma-separated fields for `--json`:"},
		{"show 2 --json", "Specify one or more comma-separated fields for `--json`:"},
		{"list --json nosuch", "Unknown JSON field: \"nosuch\"\nAvailable fields:\n  ref\n"},
		{"list --jq .", "cannot use `--jq` without specifying `--json`"},
		{"list -t x", "cannot use `--template` without specifying `--json`"},
	} {
		if code := w.run(strings.Fields(c.args)...); code != exitUsage || !strings.HasPrefix(w.err.String(), c.says) {
			t.Errorf("%s: exit %d, %q", c.args, code, w.err.String())
		}
	}
	if code := w.run("list", "--json", "ref", "--jq", ".[1].ref"); code != exitOK || w.out.String() != "github:octo/repo#2\n" {
		t.Errorf("exit %d, %q %s", code, w.out.String(), w.err.String())
	}
}

func TestLog(t *testing.T) {
	w := newWorld(t)
	line := func(hours int, what, rest string) string {
		return fmt.Sprintf(`{"at":%q,"what":%q,"item":"github:octo/repo#15"%s}`+"\n", w.at.Add(-time.Duration(hours)*time.Hour).Format(time.RFC3339), what, rest)
	}
	w.write("state/log/events.jsonl.1", line(50, "spawned", `,"endpoint":"github:octo/repo#15"`))
	w.write("state/log/events.jsonl", line(30, "delivered", `,"endpoint":"github:octo/repo#16","event":"issue_comment","how":"pasted"`)+"damaged\n"+
		line(1, "held", `,"endpoint":"github:octo/repo#16","reason":"harness-waiting","message":"a\nb\u001b[31m"`))
	for args, want := range map[string]string{
		"log":                      "spawned delivered held",
		"log 16":                   "delivered held",
		"log --since 31h":          "delivered held",
		"log --since 2d":           "delivered held",
		"log --since 2026-08-07":   "held",
		"log --fate held":          "held",
		"log -L 1":                 "held",
		"log 15 --fate delivered":  "delivered",
		"log octo/other#1":         "",
		"log --since 1m":           "",
		"log --fate settled -L 0":  "",
		"log --since 2w":           "!",
		"log --fate lost":          "!",
		"log --since -3h":          "!",
		"log --limit -1":           "!",
		"log --since 2026-08-07 x": "!",
	} {
		code := w.run(strings.Fields(args)...)
		if want == "!" {
			if code != exitUsage {
				t.Errorf("%s: exit %d", args, code)
			}
			continue
		}
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(w.out.String()), "\n") {
			if f := strings.Fields(l); len(f) > 1 {
				got = append(got, f[1])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q (%s)", args, got, want, w.err.String())
		}
	}
	w.run("log", "-L", "1")
	if got := w.out.String(); got != "2026-08-07T11:00:00Z  held        octo/repo#16 (of octo/repo#15)  harness-waiting  a b[31m\n" {
		t.Errorf("got %q", got)
	}
}

// What the shells are offered.
func TestCandidates(t *testing.T) {
	w := newWorld(t)
	w.items()
	w.write("config.toml", "harness.mine.start = [\"mine\", \"{prompt}\"]\n")
	w.run("__complete", "show", "octo/api#1")
	if want := "octo/api#1\t" + strings.Repeat("long ", 12)[:59] + "…\n"; w.out.String() != want {
		t.Errorf("%q, want %q", w.out.String(), want)
	}
	for words, want := range map[string]string{
		"sh":                       "show",
		"show |":                   "octo/api#1 octo/lib#12 octo/repo#2 Octo/repo#9 octo/repo#10",
		"show 1":                   "1 12 10",
		"show octo/r":              "octo/repo#2 Octo/repo#9 octo/repo#10",
		"show 15 |":                "",
		"show -R x octo/a":         "octo/api#1",
		"list --json re":           "ref",
		"list --json ref,st":       "ref,status ref,state",
		"start --harness m":        "mine",
		"start --harness=e":        "--harness=echo",
		"start --harness = e":      "echo",
		"link 3 --to octo/":        "octo/api#1 octo/repo#2 Octo/repo#9 octo/repo#10",
		"log --fa":                 "--fate",
		"log --fate d":             "delivered",
		"tmux l":                   "load",
		"completion |":             "bash zsh fish",
		"jump n":                   "next",
		"nosuch |":                 "",
		"show --json ref,state 10": "10",
	} {
		args := strings.Fields(words)
		if args[len(args)-1] == "|" {
			args[len(args)-1] = ""
		}
		if code := w.run(append([]string{"__complete"}, args...)...); code != exitOK {
			t.Errorf("%s: exit %d %s", words, code, w.err.String())
		}
		var got []string
		for l := range strings.Lines(w.out.String()) {
			word, _, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}

// The scripts complete in real shells, also behind gh loop.
func TestShells(t *testing.T) {
	w := newWorld(t)
	w.items()
	for shell, script := range map[string]string{
		"bash": `source <(gh-loop completion bash)
COMP_WORDS=(gh loop show octo/a) COMP_CWORD=3; _gh_with_loop; echo "${COMPREPLY[@]}"
COMP_WORDS=(gh-loop show octo/repo#1) COMP_CWORD=2; _gh_loop; echo "${COMPREPLY[@]}"`,
		"fish": `gh-loop completion fish | source; complete -C 'gh loop show octo/a' | cut -f1; complete -C 'gh-loop show octo/repo#1' | cut -f1`,
		"zsh": `compdef() { :; }; _describe() { print -- ${found%%:*}; }; source <(gh-loop completion zsh)
words=(gh loop show octo/a); CURRENT=4; _gh_with_loop; words=(gh-loop show 'octo/repo#1'); CURRENT=3; _gh_loop`,
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("not here")
			}
			c := exec.Command(path, "-c", script)
			for k, v := range w.vars {
				c.Env = append(c.Env, k+"="+v)
			}
			out, err := c.CombinedOutput()
			if string(out) != "octo/api#1\nocto/repo#10\n" {
				t.Errorf("%v: %q", err, out)
			}
		})
	}
}

// The manual has every command and is sound to its formatter.
func TestManual(t *testing.T) {
	w := newWorld(t)
	w.run("man")
	page := w.out.String()
	for _, c := range w.env().root("").Commands {
		if has := regexp.MustCompile(`(?m)^\.SS ` + c.Name + `\b( |$)`).MatchString(page); has == c.Hidden {
			t.Errorf("%s is there: %t", c.Name, has)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff here")
	}
	c := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8")
	c.Stdin = strings.NewReader(page)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
