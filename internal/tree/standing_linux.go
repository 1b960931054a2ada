package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// standing names the processes that have their working directory in a tree,
// ourselves left out.
func standing(path string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	path = resolved(path)
	var who []string
	for _, l := range links {
		at, err := os.Readlink(l)
		if err != nil || at != path && !strings.HasPrefix(at, path+"/") || strings.HasSuffix(at, " (deleted)") {
			continue
		}
		pid := strings.Split(l, "/")[2]
		if pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		who = append(who, fmt.Sprintf("process %s (%s)", pid, lastWords(string(name))))
	}
	return who
}
