package harness

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Tell starts a program of the user's that tells them of an agent that waits,
// and does not wait for it. {ref} and {item} in its arguments are replaced.
func Tell(argv []string, v Values) error {
	r := strings.NewReplacer("{ref}", v.Ref, "{item}", v.Item)
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = r.Replace(a)
	}
	return Detach(args)
}

// Detach starts a program that outlives us and has nothing of ours: no
// terminal, no standard files, no session.
func Detach(argv []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Ring writes to a terminal without ever waiting for it: one that was stopped
// (Ctrl-S) would keep an agent's hook.
func Ring(tty, text string) error {
	f, err := os.OpenFile(tty, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = syscall.Write(int(f.Fd()), []byte(text))
	return err
}
