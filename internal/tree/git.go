package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

// git runs git in dir and gives its standard output. It asks nobody for a
// password: it has no terminal of its own, and a deadline.
func (t Trees) git(ctx context.Context, dir string, args ...string) (string, error) {
	limit := t.limit(args)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	program := t.Git
	if program == "" {
		program = "git"
	}
	// Housekeeping in the background would outlive us, and core.hooksPath may
	// name a directory of the branch itself: nobody has looked at its hooks.
	quiet := []string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}
	cmd := exec.CommandContext(ctx, program, append(quiet, args...)...)
	cmd.Dir, cmd.Env = dir, append(environment(), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	var out, words bytes.Buffer
	err := run(ctx, cmd, &out, &words)
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no program %q: install git", program)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("git %s did not end within %s", verb(args), limit)
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return out.String(), fmt.Errorf("git %s: %w: %s", verb(args), err, lastWords(words.String()))
}

// limit bounds a run of git: what brings objects or writes files may take longer.
func (t Trees) limit(args []string) time.Duration {
	if slices.Contains([]string{"fetch", "clone", "worktree", "submodule"}, verb(args)) {
		return or(t.Long, 10*time.Minute)
	}
	return or(t.Timeout, time.Minute)
}

// verb is what git is to do, after the settings for this one run.
func verb(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

func or(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

// run runs a program in a session of its own, and ends all of it when ctx does.
func run(ctx context.Context, cmd *exec.Cmd, out, words io.Writer) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// TERM lets git take its lock files away. What is left after that is killed.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	cmd.Stdout, cmd.Stderr = out, words
	err := cmd.Run()
	if err != nil && ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// environment is ours, without what points git at another repository.
func environment() []string {
	env := []string{}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_NAMESPACE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH", "GIT_CONFIG", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE":
			continue
		}
		env = append(env, e)
	}
	return env
}

// exit is the code with which git ended, -1 if it did not.
func exit(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}

// Patterns are compiled when they are needed first: most events touch no tree.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var secret = pattern(`://[^/@\s]*@`)

// lastWords is the end of what git said, fit for a line of a log.
func lastWords(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, secret().ReplaceAllString(s, "://"))
	words := []rune(strings.Join(strings.Fields(s), " "))
	return string(words[max(0, len(words)-300):])
}
