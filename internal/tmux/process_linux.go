package tmux

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lookProcess reads /proc/PID/stat, see proc(5). Its clock is in hundredths
// of a second (USER_HZ) on every architecture that Go runs on.
func lookProcess(pid int) (process, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	left, right := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')') // the name may hold anything
	if left < 0 || right < left {
		return process{}, fmt.Errorf("/proc/%d/stat makes no sense", pid)
	}
	f := strings.Fields(string(stat[right+1:]))
	if len(f) < 20 {
		return process{}, fmt.Errorf("/proc/%d/stat is short", pid)
	}
	p := process{pid: pid, name: string(stat[left+1 : right]), zombie: f[0] == "Z" || f[0] == "X"}
	p.parent, _ = strconv.Atoi(f[1])
	p.session, _ = strconv.Atoi(f[3])
	if ticks, err := strconv.ParseInt(f[19], 10, 64); err == nil {
		if boot := bootTime(); boot != 0 {
			p.start = time.Unix(boot, 0).Add(time.Duration(ticks) * 10 * time.Millisecond)
		}
	}
	return p, nil
}

// bootTime is in seconds since 1970, as /proc/stat has it; 0 if it says none.
var bootTime = sync.OnceValue(func() int64 {
	stat, _ := os.ReadFile("/proc/stat")
	for l := range strings.Lines(string(stat)) {
		if v, ok := strings.CutPrefix(l, "btime "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			return n
		}
	}
	return 0
})

// processes is the whole table.
func processes() []process {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		if p, err := lookProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}
