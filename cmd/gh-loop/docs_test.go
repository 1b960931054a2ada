package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocs runs what the pages say. A block marked "console" has commands
// behind "$ ", and below each what it prints: "…" stands for any text in a line, a
// line with nothing else for any lines. A page's blocks run in order, in one
// world, as somebody would who reads on. A comment "<!-- test: WORDS -->" before a
// block is a line of a script (testdata/README.md) that readers need not see.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if readme := "../../README.md"; exists(readme) {
		pages = append(pages, readme)
	}
	for _, p := range pages {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if script := scriptOf(string(b)); script != "" {
			name := "docs_" + strings.ReplaceAll(strings.TrimSuffix(filepath.Base(p), ".md"), "-", "_") + ".txtar"
			if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmds := commands()
	cmds["shows"] = shows
	testscript.Run(t, testscript.Params{Dir: dir, Cmds: cmds, Setup: func(env *testscript.Env) error {
		if err := newWorld(env, bin); err != nil {
			return err
		}
		for k, v := range map[string]string{"XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "GH_LOOP_CONFIG": "", "GH_LOOP_STATE_DIR": "",
			"GH_FORCE_TTY": "100", "NO_COLOR": "1", "FORCE_HYPERLINK": "0", "LANG": "C.UTF-8", "GH_REPO": ""} {
			env.Setenv(k, v)
		}
		return os.MkdirAll(filepath.Join(env.WorkDir, "home", "src", "repo"), 0o700)
	}})
}

var (
	consoleBlock = regexp.MustCompile("(?ms)(?:^<!-- test: ([^\n]*) -->$)|(?:^```console\n(.*?)^```$)")
	promptLine   = regexp.MustCompile(`(?m)^\$ `)
)

// Every link of a page leads to a file that is there, and to a heading in it.
func TestLinks(t *testing.T) {
	var pages []string
	for _, dir := range []string{"../../docs/*.md", "../../*.md", "../../testdata/*.md"} {
		found, err := filepath.Glob(dir)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(b), ""), -1) {
			path, heading, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(path, "://") {
				continue
			}
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			text, err := os.ReadFile(to)
			if st, serr := os.Stat(to); serr != nil || err != nil && !st.IsDir() {
				t.Errorf("%s: %s: %v", page, m[0], serr)
			} else if heading != "" && !headings(string(text))[heading] {
				t.Errorf("%s: %s: there is no such heading", page, m[0])
			}
		}
	}
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	title     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// headings are a page's, as GitHub makes anchors of them.
func headings(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range title.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		all[strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// scriptOf makes a script of a page, "" if there is nothing to run.
func scriptOf(page string) string {
	var script, files strings.Builder
	n := 0
	for _, m := range consoleBlock.FindAllStringSubmatch(page, -1) {
		if m[1] != "" {
			fmt.Fprintln(&script, m[1])
			continue
		}
		for _, call := range promptLine.Split(m[2], -1)[1:] {
			n++
			fmt.Fprintf(&script, "shows call%d\n", n)
			fmt.Fprintf(&files, "-- call%d --\n%s", n, call)
		}
	}
	if n == 0 {
		return ""
	}
	return script.String() + files.String()
}

// shows runs one command and compares what it prints: shows FILE.
func shows(ts *testscript.TestScript, _ bool, args []string) {
	call := ts.ReadFile(args[0])
	line, want, _ := strings.Cut(call, "\n")
	for strings.Contains(line, "<<'END'") && !strings.HasSuffix(line, "\nEND") { // a document is given to it
		next, rest, more := strings.Cut(want, "\n")
		if line, want = line+"\n"+strings.TrimPrefix(next, "> "), rest; !more {
			break
		}
	}
	c := exec.Command("bash", "-c", "gh() { [[ $1 == loop ]] && shift && gh-loop \"$@\"; }\ncd ~/src/repo\n"+line)
	for _, k := range []string{"HOME", "PATH", "TMUX_TMPDIR", "GH_CONFIG_DIR", "GH_TOKEN", "GH_FORCE_TTY", "NO_COLOR", "FORCE_HYPERLINK", "LANG", "TESTSCRIPT_COMMAND"} {
		if v := ts.Getenv(k); v != "" {
			c.Env = append(c.Env, k+"="+v)
		}
	}
	got, err := c.CombinedOutput()
	if err != nil && !strings.Contains(want, "…exit ") {
		ts.Logf("%s: %v", line, err)
	}
	if !pattern(want).MatchString(trimmed(string(got))) {
		ts.Fatalf("$ %s\nprints\n%s\nand not\n%s", line, got, want)
	}
}

// pattern makes a regular expression of what a page shows.
func pattern(want string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(trimmed(want)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`)
	}
	return regexp.MustCompile(`\A` + b.String() + `\z`)
}

// trimmed is a text without blanks at the ends of its lines and empty ones at its end.
func trimmed(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
