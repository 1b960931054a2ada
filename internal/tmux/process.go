package tmux

import (
	"errors"
	"strings"
	"syscall"
	"time"
)

// process is one row of the machine's process table.
type process struct {
	pid, parent, session int
	name                 string
	start                time.Time
	zombie               bool
}

// gone says whether a process has certainly ended: it does not exist, or is a
// zombie, which some tmux servers leave of a pane that died.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	p, err := lookProcess(pid)
	return err == nil && p.zombie
}

// clockSlop is how far a process's start may lie from a server's start_time
// before it is taken for another process.
const clockSlop = 10 * time.Second

// stillServer says whether the process may still be the server that recorded
// this pid and start. In doubt it is.
func stillServer(pid int, start int64) bool {
	if pid <= 1 || gone(pid) {
		return false
	}
	p, err := lookProcess(pid)
	if err != nil {
		return true
	}
	if !strings.Contains(p.name, "tmux") {
		return false
	}
	off := p.start.Sub(time.Unix(start, 0)).Abs()
	return p.start.IsZero() || start == 0 || off <= clockSlop
}
