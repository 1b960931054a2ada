package tmux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// DefaultSocket names the server that we are called from ($TMUX), else the
// user's default one. A TMUX that tmux cannot have written is passed over; so
// is a TMUX_TMPDIR that is no directory, as tmux itself does.
func DefaultSocket(getenv func(string) string) string {
	if f := strings.Split(getenv("TMUX"), ","); len(f) >= 3 {
		socket := strings.Join(f[:len(f)-2], ",") // a path may have commas
		_, err := strconv.Atoi(f[len(f)-2])
		if err == nil && filepath.IsAbs(socket) && clean(socket) == socket {
			return socket
		}
	}
	dir := getenv("TMUX_TMPDIR")
	if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
		dir = "/tmp"
	}
	return filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), "default")
}

// ErrNoSocket says that something else stands where a server's socket would:
// tmux would delete it to make room.
var ErrNoSocket = errors.New("it is no socket")

// Usable says whether a server may be started on a socket's path: nothing, or
// a socket, stands there.
func Usable(socket string) error {
	if !filepath.IsAbs(socket) {
		return fmt.Errorf("tmux socket %q: the path is not absolute", socket)
	}
	switch fi, err := os.Stat(socket); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("tmux socket %q: %w", socket, ErrNoSocket)
	}
	return nil
}

// makeHome makes the socket's directory, as tmux does for its default socket
// and not for one that -S names. Only we may enter it.
func (s Server) makeHome() error {
	if err := Usable(s.Socket); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(s.Socket), 0o700)
}
