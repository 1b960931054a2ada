package tmux

import (
	"time"

	"golang.org/x/sys/unix"
)

const zombieState = 5 // SZOMB in sys/proc.h

func lookProcess(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return fromKinfo(k), nil
}

func fromKinfo(k *unix.KinfoProc) process {
	p := process{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid),
		name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
		zombie: k.Proc.P_stat == zombieState,
		start:  time.Unix(k.Proc.P_starttime.Sec, int64(k.Proc.P_starttime.Usec)*1000),
	}
	p.session, _ = unix.Getsid(p.pid)
	return p
}

// processes is the whole table.
func processes() []process {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	all := make([]process, 0, len(table))
	for i := range table {
		all = append(all, fromKinfo(&table[i]))
	}
	return all
}
