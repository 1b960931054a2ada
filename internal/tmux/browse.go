package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Browse has the server open a web address in the user's browser, with the
// environment of a session ($N, or "" for any): a popup has none of its own.
func (s Server) Browse(ctx context.Context, session, url string) error {
	line := `b=${GH_BROWSER:-${BROWSER:-$(command -v xdg-open || command -v open || command -v wslview)}}; ` +
		`[ -n "$b" ] && $b ` + shell(url) + ` >/dev/null 2>&1 || tmux display-message "gh-loop: no browser opened: set BROWSER in tmux's environment"`
	run := []string{"run-shell", "-b"}
	if sessionID.MatchString(session) {
		run = append(run, "-t", session+":")
	}
	_, err := s.do(ctx, append(run, Literal(line)))
	return err
}

// Has says whether a program is on PATH.
func Has(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// Feed runs a program of PATH on this terminal and gives it to read what
// lines says. The two start together: making the lines takes as long as the
// program takes to draw its first. It gives the program's exit status.
func Feed(name string, args, env []string, lines func() (string, error)) (int, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%q cannot be run: %w", name, err)
	}
	text, wrong := lines()
	if wrong != nil {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it puts the terminal right
	}
	_, _ = io.WriteString(in, text) // it may have ended already
	_ = in.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case wrong != nil:
		return 0, wrong
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Become replaces this program by another one of PATH. It returns only if that
// fails.
func Become(name string, args, env []string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%q is not installed: %w", name, errors.Unwrap(err))
	}
	return syscall.Exec(path, append([]string{name}, args...), env)
}
