package harness

import (
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const id = "0f1c2d3e-0000-4000-8000-000000000001"

func TestArguments(t *testing.T) {
	all := Builtin("/opt/gh-loop")
	mine := Adapter{Name: "mine", Start: []string{"mine", "--at={cwd}", "{item}/{ref}", "-p", "{prompt}", "{id}{id}"}}
	v := Values{ID: id, Prompt: "look at {id}\n", Ref: "R", Item: "I", Cwd: "/w"}
	for _, c := range []struct {
		name string
		got  func() ([]string, error)
		want []string
	}{
		{"placeholders in a value stay", func() ([]string, error) { return all["claude"].StartArgs(v) }, []string{"claude", "--session-id", id, "look at {id}\n"}},
		{"resume", func() ([]string, error) { return all["claude"].ResumeArgs(v) }, []string{"claude", "--resume", id, "look at {id}\n"}},
		{"no prompt", func() ([]string, error) { return all["claude"].StartArgs(Values{ID: id}) }, []string{"claude", "--session-id", id}},
		{"no prompt behind a flag", func() ([]string, error) { return all["opencode"].StartArgs(Values{}) }, []string{"opencode"}},
		{"a flag's value", func() ([]string, error) { return all["copilot"].StartArgs(Values{ID: id, Prompt: "-x"}) }, []string{"copilot", "--session-id=" + id, "--interactive=-x"}},
		{"a prompt is no flag", func() ([]string, error) { return all["codex"].StartArgs(Values{Prompt: "--yolo"}) }, []string{"codex", " --yolo"}},
		{"the binary is the echo agent", func() ([]string, error) { return all["echo"].ResumeArgs(v) }, []string{"/opt/gh-loop", "echo", "--resume", id, "look at {id}\n"}},
		{"inside elements", func() ([]string, error) { return mine.StartArgs(v) }, []string{"mine", "--at=/w", "I/R", "-p", "look at {id}\n", id + id}},
	} {
		if got, err := c.got(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestArgumentErrors(t *testing.T) {
	all := Builtin("gh-loop")
	for want, call := range map[string]func() ([]string, error){
		`conversation id "-x" cannot be given`: func() ([]string, error) { return all["claude"].StartArgs(Values{ID: "-x"}) },
		`conversation id "" cannot be given`:   func() ([]string, error) { return all["codex"].ResumeArgs(Values{}) },
		"contains a NUL":                       func() ([]string, error) { return all["codex"].StartArgs(Values{Prompt: "a\x00"}) },
		"names no program":                     func() ([]string, error) { return Adapter{Name: "x"}.StartArgs(Values{}) },
		"cannot resume":                        func() ([]string, error) { return Adapter{Name: "x", Start: []string{"x"}}.ResumeArgs(Values{}) },
	} {
		if got, err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

// Rule 14, and that no value becomes a flag of a built-in harness.
func TestNoValueBecomesAFlag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := Values{ID: rapid.String().Draw(t, "id"), Prompt: rapid.String().Draw(t, "prompt")}
		for name, a := range Builtin("gh-loop") {
			for _, list := range [][]string{a.Start, a.Resume} {
				args, err := a.fill("start", list, v)
				if err != nil {
					continue
				}
				for i, arg := range args {
					if strings.HasPrefix(arg, "-") && !strings.HasPrefix(list[i], "-") {
						t.Fatalf("%s: %q", name, args)
					}
				}
			}
		}
	})
}

func TestWhoTakesOurID(t *testing.T) {
	for name, a := range Builtin("gh-loop") {
		if want := name == "claude" || name == "gemini" || name == "copilot" || name == "echo"; a.TakesID() != want || !a.Resumable() || a.Name != name {
			t.Errorf("%s: takes our id: %v, resumable: %v", a.Name, a.TakesID(), a.Resumable())
		}
	}
}

// What stood in each composer in place of a long paste, read off the screens.
func TestFolded(t *testing.T) {
	all := Builtin("gh-loop")
	for shown, name := range map[string]string{
		"❯ [Pasted text #3 +4096 lines]": "claude", "› [Pasted Content 5012 chars]": "codex", " > [Pasted Text: 200 lines]": "gemini", "[Pasted ~201 lines]": "opencode",
		"❯ [Paste #1 - 201 lines]": "copilot", "❯ [Saved pasted content to workspace (100.0 KB) id=1]": "copilot",
	} {
		if !regexp.MustCompile(all[name].Folded).MatchString(shown) {
			t.Errorf("%s does not know %q", name, shown)
		}
	}
}

func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	a := Adapter{Name: "mine", Start: []string{"surely-not-there"}}
	err := a.Installed(exec.LookPath)
	if err == nil || !strings.Contains(err.Error(), `no program "surely-not-there" on PATH; install it`) {
		t.Error(err)
	}
	a.Start[0] = dir
	if err := a.Installed(exec.LookPath); err == nil || !strings.Contains(err.Error(), "harness.mine.start") {
		t.Error(err)
	}
	a.Start[0] = "git"
	if err := a.Installed(exec.LookPath); err != nil {
		t.Error(err)
	}
}

func TestIsShell(t *testing.T) {
	for program, want := range map[string]bool{
		"sh": true, "/bin/bash": true, "-zsh": true, "fish": true, "DASH": true, "ksh": true, "csh": true, "tcsh": true, "nu": true, "pwsh": true, "pwsh.exe": true, "../x/sh": true,
		"claude": false, "codex": false, "bash-agent": false, "": false, "node": false,
	} {
		if IsShell(program) != want {
			t.Errorf("%q: %v", program, !want)
		}
	}
}
