package tmux

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// What differs between versions of tmux is here.
//
//   - Below 3.2 there is no -N, no run-shell -C or -d, no new-session -e: a
//     clear word, and nothing else.
//   - Up to 3.3a a paste into a dead pane ends the server
//     (https://github.com/tmux/tmux/issues/3830): every paste is guarded in
//     its own queue.
//   - Up to 3.6 "." and ":" in a session's name become "_"; 3.7 keeps them
//     and does not find them again: names are checked before.
//   - Up to 3.6 nothing tells whether a program asked for bracketed paste; 3.7
//     has bracket_paste_flag. Its presence tells 3.7 from older ones inside a
//     command queue, which the version's text ("next-3.9", "master") cannot.
//   - From 3.7 on paste-buffer makes control characters visible unless it is
//     given -S, which older ones refuse.
//   - 3.8 has no pane_pid for a dead pane, older ones a stale one: it is used
//     of live panes only.
const (
	readyFormat = "#{?#{||:#{==:#{@loop_ready},1},#{&&:#{==:#{@loop_ready},},#{==:#{bracket_paste_flag},1}}},1," +
		"#{?#{||:#{==:#{@loop_ready},asked},#{&&:#{==:#{@loop_ready},hook},#{==:#{bracket_paste_flag},1}}},asked,}}"
	hasPasteS = "#{!=:#{bracket_paste_flag},}"
)

// Version asks the program for its version, such as "3.3a". It needs no server.
func (s Server) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	out, err := s.command(ctx, []string{"-V"}).Output()
	name, version, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return "", s.unknown([]string{"-V"}, -1, "", err)
	case err != nil || name != "tmux" || version == "":
		return "", s.unknown([]string{"-V"}, 0, string(out), fmt.Errorf("%q is not tmux", s.bin()))
	}
	return brief(version), nil
}

// OldError says that tmux is older than what gh-loop works with.
type OldError struct{ Version string }

// Error says what to install.
func (e *OldError) Error() string {
	return fmt.Sprintf("tmux %s is too old; install tmux 3.2 or newer", e.Version)
}

// misfit is why a program cannot understand us, nil for a tmux that can. It is
// asked when a command was refused: what an old one says to words that it
// does not know is no answer to anything.
func (s Server) misfit(ctx context.Context) error {
	version, err := s.Version(ctx)
	var unknown *UnknownError
	switch {
	case errors.As(err, &unknown):
		return unknown.Err
	case err != nil:
		return err
	}
	return Supported(version)
}

// Supported is nil for versions that gh-loop works with: 3.2 or newer. One that
// is older is an *OldError.
func Supported(version string) error {
	if version == "master" || strings.HasPrefix(version, "openbsd-") {
		return nil
	}
	m := numbers().FindStringSubmatch(version)
	if m == nil {
		return fmt.Errorf("tmux calls itself %q, which is no version; tmux 3.2 or newer is needed", version)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 3 || major == 3 && minor < 2 {
		return &OldError{version}
	}
	return nil
}

var numbers = pattern(`^(?:next-)?([0-9]{1,4})\.([0-9]{1,4})`)
