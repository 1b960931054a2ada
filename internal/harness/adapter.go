// Package harness knows the coding agents: the argument lists that start and
// resume each, and what it needs to be typed at.
package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Adapter is one harness as data.
type Adapter struct {
	Name        string
	Start       []string      // argument list of a new conversation; placeholders as in Values
	Resume      []string      // argument list that continues one; empty when it cannot
	SubmitDelay time.Duration // between the text, once it is seen, and Return
	Since       string        // the version that all this was taken from; "" if that is not known, or not ours to say
	Folded      string        // regular expression of what stands in the composer for a long paste that is not shown; "" if it always is
	Composer    string        // regular expression seen below the text before Return; "": the text's last words; "none": nothing
}

// Values fill the placeholders {id}, {prompt}, {ref}, {item} and {cwd}.
type Values struct{ ID, Prompt, Ref, Item, Cwd string }

// TakesID says whether a new conversation gets the id that we chose. A harness
// that chooses its own cannot be resumed until that one is known.
func (a Adapter) TakesID() bool { return uses(a.Start, "{id}") }

// Resumable says whether a conversation can be continued by its id.
func (a Adapter) Resumable() bool { return uses(a.Resume, "{id}") }

func uses(list []string, placeholder string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, placeholder) })
}

// StartArgs is the argument list of a new conversation, the program first.
// Each placeholder is replaced once: what a value contains stays as it is. An
// empty prompt takes the element with it that is only for the prompt.
func (a Adapter) StartArgs(v Values) ([]string, error) { return a.fill("start", a.Start, v) }

// ResumeArgs is the argument list that continues conversation v.ID.
func (a Adapter) ResumeArgs(v Values) ([]string, error) {
	if len(a.Resume) == 0 {
		return nil, fmt.Errorf("harness %q cannot resume a conversation: give it harness.%s.resume in the configuration", a.Name, a.Name)
	}
	return a.fill("resume", a.Resume, v)
}

func (a Adapter) fill(which string, list []string, v Values) ([]string, error) {
	if len(list) == 0 || list[0] == "" {
		return nil, fmt.Errorf("harness %q names no program: give it harness.%s.%s in the configuration", a.Name, a.Name, which)
	}
	if uses(list, "{id}") && !work.UsableID(v.ID) {
		return nil, fmt.Errorf("conversation id %q cannot be given to harness %q: it begins with a letter or digit, and has at most 128 of letters, digits, '.', '_' and '-'", v.ID, a.Name)
	}
	r := strings.NewReplacer("{id}", v.ID, "{prompt}", v.Prompt, "{ref}", v.Ref, "{item}", v.Item, "{cwd}", v.Cwd)
	out := make([]string, 0, len(list))
	for _, element := range list {
		if v.Prompt == "" && promptOnly(element) {
			continue
		}
		arg := r.Replace(element)
		if strings.ContainsRune(arg, 0) {
			return nil, fmt.Errorf("argument %d of harness %q contains a NUL character, which no program can be given: take it out of the prompt or path", len(out), a.Name)
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(element, "-") {
			arg = " " + arg // a value must not be taken for a flag
		}
		out = append(out, arg)
	}
	return out, nil
}

// promptOnly says whether an element is {prompt}, or a flag whose value is.
func promptOnly(element string) bool {
	flag, ok := strings.CutSuffix(element, "{prompt}")
	return ok && (flag == "" || strings.HasPrefix(flag, "-") && strings.HasSuffix(flag, "="))
}

// Present is Installed on our own PATH.
func (a Adapter) Present() error { return a.Installed(exec.LookPath) }

// Installed says what is missing to run the harness. lookPath is exec.LookPath,
// or one that knows another PATH.
func (a Adapter) Installed(lookPath func(string) (string, error)) error {
	if len(a.Start) == 0 || a.Start[0] == "" {
		return fmt.Errorf("harness %q names no program: give it harness.%s.start in the configuration", a.Name, a.Name)
	}
	_, err := lookPath(a.Start[0])
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("harness %q is not installed: there is no program %q on PATH; install it, choose another with --harness, or set harness.%s.start in the configuration", a.Name, a.Start[0], a.Name)
	}
	return fmt.Errorf("harness %q cannot be run: %w; check harness.%s.start in the configuration", a.Name, err, a.Name)
}

// IsShell says whether a program is a command interpreter. A shell is never a
// harness: what is typed at it is executed. A path, a login shell's dash and
// ".exe" are seen through.
func IsShell(program string) bool {
	name := strings.ToLower(strings.TrimPrefix(filepath.Base(program), "-"))
	switch strings.TrimSuffix(name, ".exe") {
	case "sh", "bash", "rbash", "zsh", "fish", "dash", "ash", "ksh", "ksh93", "mksh", "csh", "tcsh",
		"nu", "elvish", "xonsh", "pwsh", "powershell", "cmd", "busybox":
		return true
	}
	return false
}
