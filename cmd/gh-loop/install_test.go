package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// place is a machine on which install.sh is run: a home, a checkout, and of
// gh-loop, gh and agents nothing.
type place struct {
	*testing.T
	home, checkout, socket string
	env                    []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	short, err := os.MkdirTemp("/tmp", "gl")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(short, "tmux")
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
		_ = os.RemoveAll(short)
	})
	p := &place{T: t, home: filepath.Join(t.TempDir(), "a home"), socket: socket}
	p.checkout = filepath.Join(p.home, "src", "gh-loop")
	p.copyTracked()
	// The machine's own programs but gh, which would take the extension.
	bin := filepath.Join(p.home, "bin of the machine")
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		names, _ := os.ReadDir(dir)
		for _, n := range names {
			if name := n.Name(); !strings.HasPrefix(name, "gh") {
				_ = os.MkdirAll(bin, 0o700)
				_ = os.Symlink(filepath.Join(dir, name), filepath.Join(bin, name)) // the first of a name counts
			}
		}
	}
	p.env = []string{"HOME=" + p.home, "PATH=" + filepath.Join(p.home, ".local", "bin") + ":" + bin, "TMUX_TMPDIR=" + short, "LANG=C.UTF-8"}
	for _, k := range []string{"GOCACHE", "GOMODCACHE", "GOENV", "GOPROXY", "GOTOOLCHAIN", "GOROOT"} {
		out, err := exec.Command("go", "env", k).Output()
		if err != nil {
			t.Fatal(err)
		}
		p.env = append(p.env, k+"="+strings.TrimSpace(string(out)))
	}
	p.write(".config/gh-loop/config.toml", "routing.authorizedUsers = [\"octocat\"]\nrouting.tmux.socket = \""+socket+"\"\n")
	return p
}

// copyTracked makes the checkout: what git would give somebody who clones.
func (p *place) copyTracked() {
	p.Helper()
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		p.Skipf("this is no checkout: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			continue // removed, and not committed yet
		}
		p.write(filepath.Join("src", "gh-loop", name), string(b))
		if strings.HasSuffix(name, ".sh") {
			_ = os.Chmod(filepath.Join(p.checkout, name), 0o700)
		}
	}
}

func (p *place) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// do runs a shell command in the checkout and gives what it said.
func (p *place) do(command string) string {
	p.Helper()
	c := exec.Command("bash", "-c", command)
	c.Dir, c.Env = p.checkout, p.env
	out, err := c.CombinedOutput()
	if err != nil {
		p.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// files are all that the home has, but for what is the machine's and Go's own.
func (p *place) files() (all []string) {
	_ = filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if path == filepath.Join(p.home, "bin of the machine") || path == filepath.Join(p.home, ".config", "go") {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(p.home, path)
			all = append(all, rel)
		}
		return nil
	})
	return all
}

func (p *place) says(said string, want ...string) {
	p.Helper()
	for _, w := range want {
		if !strings.Contains(said, w) {
			p.Errorf("it does not say %q:\n%s", w, said)
		}
	}
}

// What install.sh laid, --uninstall takes back, with what the program wrote into
// agents' settings and tmux since. Records and configuration stay, and it says
// where they are. Twice is once.
func TestUninstall(t *testing.T) {
	p := newPlace(t)
	const mine = `{"model": "opus", "hooks": {"Stop": []}}`
	p.write(".claude/settings.json", mine)
	before := p.files()
	p.says(p.do("./install.sh"), "installed  "+p.home+"/.local/bin/gh-loop", "gh         is not here, so call gh-loop itself")
	p.do("tmux -f /dev/null -S '" + p.socket + "' new-session -d -s mine 'sleep 600' && gh-loop start octo/repo#15 --harness echo && gh-loop tmux load")
	p.do("gh-loop hooks install claude && gh-loop hooks install opencode && CODEX_HOME=\"$HOME/of codex\" gh-loop hooks install codex")

	said := p.do("./install.sh --uninstall")
	p.says(said, "removed    "+p.home+"/.local/bin/gh-loop", p.home+"/.claude/settings.json is written", p.home+"/of codex/hooks.json is removed",
		"kept       the records, in "+p.home+"/.local/state/gh-loop", "configuration, in "+p.home+"/.config/gh-loop/config.toml", "line with gh-loop in tmux.conf")
	if keys := p.do("tmux -S '" + p.socket + "' list-keys; tmux -S '" + p.socket + "' show-hooks -g; tmux -S '" + p.socket + "' show-options -g"); strings.Contains(keys, "loop") {
		t.Errorf("tmux still has %s", keys)
	}
	p.do("tmux -S '" + p.socket + "' has-session -t =loop-github-octo-repo-15")
	if b, err := os.ReadFile(filepath.Join(p.home, ".claude/settings.json")); string(b) != mine {
		t.Errorf("the agent's settings are %s, %v", b, err)
	}
	for _, f := range p.files() {
		if !slices.Contains(before, f) && !strings.HasPrefix(f, ".local/state/gh-loop/") {
			t.Errorf("it left %s", f)
		}
	}
	if _, err := os.Stat(filepath.Join(p.home, ".local/state/gh-loop/local/github-octo-repo-15.json")); err != nil {
		t.Error(err)
	}
	again := p.do("./install.sh --uninstall")
	if p.says(again, "kept       the records"); strings.Contains(again, "removed") {
		t.Errorf("the second time: %s", again)
	}
}

// Hooks that cannot be taken out are named, also where the program is gone, and
// neither they nor a stranger's gh-loop keep the rest from going.
func TestUninstallHindered(t *testing.T) {
	p := newPlace(t)
	p.write(".local/state/gh-loop/hooks/claude.json", `{"path":"/elsewhere/settings.json","inserts":[]}`)
	p.write(".local/state/gh-loop/hooks/codex.json", `{"path":"/where \"quoted\"/hooks.json","inserts":[{"text":"\"path\""}]}`)
	p.write("bin/gh-loop", "#!/bin/sh\necho a stranger\n")
	p.write("src/gh-loop/gh-loop", "github.com/gh-loop/gh-loop/internal/cli")
	said := p.do("./install.sh --uninstall")
	p.says(said, "kept       hooks in agents' settings", "           /elsewhere/settings.json\n           /where \\\"quoted\\\"/hooks.json\n", "kept       the records")
	all := p.files()
	if !slices.Contains(all, "bin/gh-loop") || slices.Contains(all, "src/gh-loop/gh-loop") {
		t.Errorf("afterwards there are %q", all)
	}
}
