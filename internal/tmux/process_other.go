//go:build !linux && !darwin

package tmux

import "errors"

// Elsewhere the process table is not read: a process that exists may be any,
// and only the first process of a pane is known.

func lookProcess(int) (process, error) { return process{}, errors.ErrUnsupported }

func processes() []process { return nil }
