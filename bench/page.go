package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The marks that the table stands between.
const (
	begin = "<!-- go run ./bench writes from here -->\n"
	end   = "<!-- to here -->\n"
)

// checkout is the directory of go.mod.
func checkout() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("this is no checkout of gh-loop: run it in one")
	}
	return filepath.Dir(file), nil
}

// write puts a text between the marks of docs/performance.md.
func write(root, text string) error {
	path := filepath.Join(root, "docs", "performance.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%q has no lines %q and %q to write between", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}

// machine says in a sentence what was measured on, as far as it matters to the
// figures, and nothing that names it.
func machine() string {
	text := fmt.Sprintf("%d cores (%s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		text += ", " + model
	}
	text += ")"
	if memory := strings.Fields(field("/proc/meminfo", "MemTotal")); len(memory) > 0 {
		var kB int
		_, _ = fmt.Sscan(memory[0], &kB)
		text += fmt.Sprintf(", %d GB", (kB+1<<19)>>20)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		version, _, _ := strings.Cut(string(release), "-")
		text += ", Linux " + strings.TrimSpace(version)
	}
	text += ", " + runtime.Version()
	if out, err := exec.Command("tmux", "-V").Output(); err == nil {
		text += ", " + strings.TrimSpace(string(out))
	}
	return text + "."
}

func field(file, name string) string {
	b, _ := os.ReadFile(file)
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
