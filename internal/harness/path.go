package harness

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LookIn looks a program up as exec.LookPath does, on a PATH that is not this
// process's own, such as a tmux server's. A relative directory counts for nothing.
func LookIn(path string) func(program string) (string, error) {
	return func(program string) (string, error) {
		if strings.ContainsRune(program, filepath.Separator) {
			return program, runnable(program)
		}
		for _, dir := range filepath.SplitList(path) {
			if full := filepath.Join(dir, program); filepath.IsAbs(dir) && runnable(full) == nil {
				return full, nil
			}
		}
		return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
	}
}

func runnable(file string) error {
	fi, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case !fi.Mode().IsRegular() || fi.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%q: %w", file, fs.ErrPermission)
	}
	return nil
}
