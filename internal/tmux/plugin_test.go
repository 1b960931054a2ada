package tmux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	conf "github.com/gh-loop/gh-loop/tmux.conf.d"
)

var plugin = Plugin{Bin: "/opt/gh loop/gh-loop", Hooks: conf.Hooks, Keys: conf.Keys, Status: conf.Status}

// user starts a server with a configuration that somebody wrote.
func user(t *testing.T, s Server, config string) {
	t.Helper()
	if err := s.makeHome(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tmux.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(s.bin(), "-u", "-S", s.Socket, "-f", file, "new-session", "-d", "--", "sleep", "1000").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// everything is what the plugin could have changed, as tmux prints it.
func everything(t *testing.T, s Server) string {
	t.Helper()
	var all []string
	for _, words := range [][]string{
		{"list-keys"}, {"list-keys", "-N"}, {"list-keys", "-N", "-T", "root"}, {"show-hooks", "-g"}, {"show-hooks", "-gw"},
		{"show-options", "-g"}, {"show-options", "-gw"}, {"show-options", "-s"}, {"show-environment", "-g"},
	} {
		out, _ := s.Run(t.Context(), nil, words...)
		all = append(all, strings.Join(words, " ")+"\n"+out)
	}
	return strings.Join(all, "\n")
}

func load(t *testing.T, s Server) []string {
	t.Helper()
	did, err := s.Load(t.Context(), plugin)
	if err != nil {
		t.Fatal(err)
	}
	return did.Said
}

func unload(t *testing.T, s Server) {
	t.Helper()
	if err := s.Unload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// differs tells the first lines in which two texts differ.
func differs(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s: line %d is\n%s\nand should be\n%s", what, i, a, b)
		}
	}
}

const busyUser = `
bind-key -N "my note: it's \"quoted\" \$HOME" -T prefix G display-message "it's \"\$mine\" #{q:x} ; ~ {"
bind-key -r -T prefix N if-shell -F '#{x}' { display-message a ; display-message "b;" } { run-shell "echo 'c' \\; d" }
bind-key -n M-n send-keys -l ";"
bind-key -n M-p command-prompt -p "it's,two" "rename-window '%%' ; display-message \"%1\""
bind-key -T mine x display-message x
bind-key -T prefix \; display-message semicolon
bind-key -T prefix '#' display-message hash
set-hook -g session-closed 'display-message "mine #{hook_session}"'
set-hook -g 'session-closed[8171]' 'display-message before'
set-hook -g 'pane-died[9000]' 'display-message "it''s after"'
set-option -g @mine "a \"b\" \$c #{d}"
set-option -g @loopy yes
set-option -g status-right "#{E:@loop-status} mine"
`

const asks = `
set-option -g @loop-key-prefix G
set-option -g @loop-key-next "root M-n"
set-option -g @loop-key-prev "root M-p"
set-option -g @loop-key-waiting "prefix N"
set-option -g @loop-key-last off
set-option -g @loop-key-menu ''
set-option -g @loop-key-tree "prefix ;"
set-option -g @loop-key-pick é
`

// Rule 56: reload changes nothing, unload restores.
func TestLoadAndUnload(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		for name, config := range map[string]string{"plain": "", "busy": busyUser, "asks": busyUser + asks} {
			t.Run(name, func(t *testing.T) {
				s := fresh(t, s.Bin)
				user(t, s, config)
				before := everything(t, s)
				load(t, s)
				once := everything(t, s)
				if once == before {
					t.Fatal("nothing was loaded")
				}
				more := 1
				if name == "asks" {
					more = 9
				}
				for range more {
					load(t, s)
				}
				differs(t, "after more loads", everything(t, s), once)
				run(t, s, "set-option", "-g", "@loop_held", "3")
				unload(t, s)
				differs(t, "after unloading", everything(t, s), before)
				unload(t, s)
				differs(t, "after unloading twice", everything(t, s), before)
			})
		}
	})
}

// Rule 56: every key can be changed or turned off, none over one that exists
// unless asked.
func TestLoadKeys(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		user(t, s, busyUser)
		said := load(t, s)
		if len(said) != 1 || !strings.Contains(said[0], "G in table prefix is bound by you") || !strings.Contains(said[0], "@loop-key-prefix") {
			t.Errorf("said %q", said)
		}
		if got := run(t, s, "list-keys", "-T", "prefix", "G"); !strings.Contains(got, "mine") {
			t.Errorf("the user's key became %q", got)
		}
		for l := range strings.Lines(asks) {
			if f := strings.SplitN(strings.TrimSpace(l), " ", 4); len(f) == 4 {
				run(t, s, "set-option", "-g", f[2], Word(strings.Trim(f[3], `"'`)))
			}
		}
		if said := load(t, s); len(said) != 0 {
			t.Errorf("said %q", said)
		}
		for key, want := range map[string]string{
			"prefix G": "switch-client -T gh-loop", "root M-n": "@loop_next", "root M-p": "@loop_prev", "prefix N": "@loop-waiting",
			"prefix ;": "choose-tree", "gh-loop é": "pick", "gh-loop i": "@loop_parent", "mine x": "display-message x",
		} {
			table, name, _ := strings.Cut(key, " ")
			if got := run(t, s, "list-keys", "-T", table, Word(name)); !strings.Contains(got, want) {
				t.Errorf("%s is %q", key, got)
			}
		}
		for _, gone := range []string{"n", "p", "w", "l", "m", "t", "g"} {
			if got, err := s.Run(t.Context(), nil, "list-keys", "-T", "gh-loop", gone); err == nil {
				t.Errorf("%s is bound: %q", gone, got)
			}
		}
	})
}

// Options with nonsense in them: nothing is executed, a message says what.
func TestLoadNonsense(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		user(t, s, "")
		mark := filepath.Join(t.TempDir(), "ran")
		evil := []string{"a b c", "no such key", "C-", "nokey", "'; run-shell 'touch " + mark, "#(touch " + mark + ")", "x;", "\"} ; run-shell \"touch " + mark + "\" {", "bad;table n", "$(touch " + mark + ")"}
		for _, value := range evil {
			run(t, s, "set-option", "-g", "@loop-key-next", Word(value))
			said := load(t, s)
			if len(said) != 1 || !strings.HasPrefix(said[0], "@loop-key-next is ") {
				t.Errorf("of %q it said %q", value, said)
			}
			if keys := run(t, s, "list-keys", "-T", "gh-loop"); strings.Contains(keys, "@loop_next") || !strings.Contains(keys, "@loop_prev") {
				t.Errorf("%q: bound are %s", value, keys)
			}
		}
		for _, bin := range []string{"gh-loop", "/it's", "/a\"b", "/$HOME/x", "/#(x)", "/a\nb"} {
			run(t, s, "set-option", "-g", "@loop-bin", bin)
			if _, err := s.Load(t.Context(), plugin); err == nil || !strings.Contains(err.Error(), "cannot be called from tmux") {
				t.Errorf("@loop-bin %q: %v", bin, err)
			}
		}
		if exists(mark) {
			t.Error("an option was executed")
		}
	})
}

func TestLoadLeavesWhatTheUserChanges(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		user(t, s, "")
		load(t, s)
		run(t, s, "bind-key", "-T", "prefix", "G", "display-message", "mine now")
		run(t, s, "set-hook", "-g", "session-closed", "display-message mine")
		run(t, s, "set-option", "-g", "@loop-status", "mine")
		if hooks, loaded, err := s.Wiped(t.Context()); err != nil || !loaded || strings.Join(hooks, " ") != "session-closed[8172]" {
			t.Errorf("wiped are %q, %v, %v", hooks, loaded, err)
		}
		said := strings.Join(load(t, s), "\n")
		if !strings.Contains(said, "session-closed[8172] was wiped") || !strings.Contains(said, "bound by you") {
			t.Errorf("said %q", said)
		}
		if hooks, _, _ := s.Wiped(t.Context()); len(hooks) != 0 {
			t.Errorf("still wiped: %q", hooks)
		}
		unload(t, s)
		for want, words := range map[string][]string{
			"mine now":                               {"list-keys", "-T", "prefix", "G"},
			"session-closed[0] display-message mine": {"show-hooks", "-g"},
			"@loop-status mine":                      {"show-options", "-g"},
		} {
			if got := run(t, s, words...); !strings.Contains(got, want) {
				t.Errorf("%q is gone: %s", want, got)
			}
		}
		if got := everything(t, s); strings.Contains(got, "8172") || strings.Contains(got, undoOption) {
			t.Error("something of ours is left")
		}
	})
}

// A tmux that is too old refuses in words of its own; ours say the cure.
func TestTooOld(t *testing.T) {
	s := fresh(t, "tmux")
	user(t, s, "")
	s.Bin = fake(t, `[ "$1" = -V ] && echo tmux 3.1c && exit; echo 'unknown option -- N' >&2; exit 1`)
	for what, call := range map[string]func() error{
		"load":  func() error { _, err := s.Load(t.Context(), plugin); return err },
		"spawn": func() error { sp, _ := request(t, "loop-a"); _, err := s.Spawn(t.Context(), sp); return err },
	} {
		if err := call(); err == nil || !strings.HasSuffix(err.Error(), "tmux 3.1c is too old; install tmux 3.2 or newer") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
