package tmux

import (
	"context"
	"errors"
	"fmt"
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

// Become replaces this program by another one of PATH. It returns only if that
// fails.
func Become(name string, args, env []string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%q is not installed: %w", name, errors.Unwrap(err))
	}
	return syscall.Exec(path, append([]string{name}, args...), env)
}
