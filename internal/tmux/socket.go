package tmux

import (
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

// makeHome makes the socket's directory, as tmux does for its default socket
// and not for one that -S names. Only we may enter it.
func (s Server) makeHome() error {
	return os.MkdirAll(filepath.Dir(s.Socket), 0o700)
}
