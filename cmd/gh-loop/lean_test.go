package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// lean is how the program is built for use.
const lean = "-tags nethttpomithttp2 -gcflags all=-l -ldflags"

// buildAsInstalled makes the program as users get it: what is measured or
// counted is that. Who measures much has made it already (GH_LOOP_BENCH_BIN).
func buildAsInstalled(t testing.TB, bin string) {
	t.Helper()
	if made := os.Getenv("GH_LOOP_BENCH_BIN"); made != "" {
		b, err := os.ReadFile(made)
		if err == nil {
			err = os.WriteFile(bin, b, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false"}, strings.Fields(lean)...), "-s -w", "-o", bin, ".")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A hook pays at each start for whatever is linked in. No package prepares
// what only other commands need, and the program stays under 12 MB.
func TestLeanStart(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, script := range []string{"install.sh", filepath.Join(".github", "build-dist.sh")} {
		b, err := os.ReadFile(filepath.Join(root, script))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(strings.ReplaceAll(string(b), "\\\n", " ")), " "); !strings.Contains(text, lean) {
			t.Errorf("%s does not build with %s", script, lean)
		}
	}
	bin := filepath.Join(t.TempDir(), "gh-loop")
	buildAsInstalled(t, bin)
	st, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() >= 12e6 {
		t.Errorf("the program has %d bytes, want under 12 MB", st.Size())
	}
	cmd := exec.Command(bin, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, line := range strings.Split(string(trace), "\n") {
		f := strings.Fields(line) // init NAME @T ms, T ms clock, N bytes, N allocs
		if len(f) < 10 || f[0] != "init" {
			continue
		}
		n, err := strconv.Atoi(f[len(f)-2])
		if err != nil {
			t.Fatal(line)
		}
		sum += n
		if ours := strings.HasPrefix(f[1], "github.com/gh-loop/"); ours && n > 40 {
			t.Errorf("%s makes %d allocations before main: prepare that when it is needed", f[1], n)
		}
		for _, other := range []string{"Masterminds", "lipgloss", "charmbracelet/ultraviolet", "text/template/parse"} {
			if strings.Contains(f[1], other) && n > 40 {
				t.Errorf("%s is linked in and makes %d allocations before main", f[1], n)
			}
		}
	}
	if sum == 0 || sum > 3500 {
		t.Errorf("%d allocations before main, want 3,500 at most: see GODEBUG=inittrace=1", sum)
	}
}
