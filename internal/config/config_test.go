package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/gh-loop/gh-loop/internal/work"
)

const contract = `[routing]
authorizedUsers = ["octocat", "@collaborators"]
spawnOnUnmatched = "never"            # never | labeled | always
autoExecuteLabel = "loop: auto-execute"
defaultHarness = "claude"

[routing.control]
requireStartCommand = true
keywords = { start = "loop start", stop = "loop stop", pause = "loop pause", resume = "loop resume", cleanup = "loop cleanup" }

[routing.tmux]
sessionPerPr = true                   # true = "always" | "cross-repository" | false = "never"
keepSessionOnClose = true
killHarnessOnClose = true
harnessKillGraceSeconds = 5
resumeOnRespawn = true
resumeProbeSeconds = 2
socket = ""

[workspace]
root = ""
copy = []                             # files that a fresh tree gets, such as ".env"
link = []                             # the same, as links: what is large
setup = []                            # what is run in it, such as ["make", "deps"]
setupSeconds = 600
[workspace.repos]
"octo/lib" = "~/src/lib"

[harness.claude]
start  = ["claude", "--session-id", "{id}", "{prompt}"]
resume = ["claude", "--resume", "{id}", "{prompt}"]
submitDelayMillis = 150
composer = ""
`

// The contract's example is the default, but for the names that only it has.
func TestContractExampleIsDefault(t *testing.T) {
	c, err := Parse("config.toml", contract, "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Workspace.Repos["octo/lib"]; got != "/home/me/src/lib" {
		t.Errorf("clone of octo/lib is %q", got)
	}
	if got, want := c.Adapters("x"), Default().Adapters("x"); !reflect.DeepEqual(got, want) {
		t.Errorf("adapters are\n%v\nwant\n%v", got, want)
	}
	want := Default()
	want.Routing.AuthorizedUsers = []string{"octocat", "@collaborators"}
	if !reflect.DeepEqual(c.Routing, want.Routing) {
		t.Errorf("routing is\n%+v\nwant\n%+v", c.Routing, want.Routing)
	}
}

func TestValues(t *testing.T) {
	c, err := Parse("config.toml", `
routing.tmux.sessionPerPr = false
routing.tmux.resumeProbeSeconds = 0.5
routing.tmux.socket = "~/s"
routing.control.keywords.stop = ""
routing.maxSpawnsPerHour = 3
routing.announce = true
workspace.root = "~"
workspace.copy = [".env", "conf/local.toml"]
workspace.link = ["node_modules"]
workspace.setup = ["sh", "-c", "make deps"]
workspace.setupSeconds = 5
log.maxMegabytes = 1
[harness.mine]
start = ["/opt/mine", "{prompt}"]
submitDelayMillis = 0
composer = "none"
[harness.claude]
start = ["claude-2"]
[harness.codex]
submitDelayMillis = 10
`, "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	tm := c.Routing.Tmux
	if tm.SessionPerPr != work.Never || tm.ResumeProbeSeconds != 0.5 || tm.Socket != "/home/me/s" || c.Workspace.Root != "/home/me" || c.Routing.Control.Keywords.Stop != "" {
		t.Errorf("values are %+v", c)
	}
	if c.Routing.MaxSpawnsPerHour != 3 || !c.Routing.Announce || c.Log.MaxMegabytes != 1 {
		t.Errorf("values are %+v", c)
	}
	w := c.Workspace
	if len(w.Copy) != 2 || w.Copy[1] != "conf/local.toml" || w.Link[0] != "node_modules" || len(w.Setup) != 3 || w.SetupSeconds != 5 {
		t.Errorf("workspace is %+v", w)
	}
	all := c.Adapters("x")
	if a := all["mine"]; a.SubmitDelay != 0 || a.Composer != "none" || a.Resumable() {
		t.Errorf("own harness is %+v", a)
	}
	if a := all["claude"]; a.Resumable() || a.SubmitDelay != 150*time.Millisecond {
		t.Errorf("another program keeps the built-in's resume list: %+v", a)
	}
	if a := all["codex"]; a.Start[0] != "codex" || !a.Resumable() || a.SubmitDelay != 10*time.Millisecond {
		t.Errorf("codex is %+v", a)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[routing\n", "f:1: "},
		{"a = 1\na = 2\n", "f:2: "},
		{"\n[routing]\nSpawnOnUnmatched = \"never\"\n", "f:3: routing.SpawnOnUnmatched: there is no such key: upper and lower case count, write spawnOnUnmatched"},
		{"[Routing]\n", "f:1: Routing: there is no such key: upper and lower case count, write routing"},
		{"[routing.tmux]\nx = 1", "f:2: routing.tmux.x: there is no such key: in [routing.tmux] there are harnessKillGraceSeconds, keepSessionOnClose, killHarnessOnClose, resumeOnRespawn, resumeProbeSeconds, sessionPerPr, socket"},
		{"x = 1", "f:1: x: there is no such key: at the top there are harness, log, notify, routing, workspace"},
		{"routing = 5", "f:1: routing: 5 stands where there should be a table"},
		{"[[routing]]", "f:1: routing: a list of tables stands where"},
		{"[routing]\nspawnOnUnmatched = \"sometimes\"", `f:2: routing.spawnOnUnmatched: "sometimes" stands where there should be "never", "labeled" or "always"`},
		{"[routing]\nspawnOnUnmatched = true", `f:2: routing.spawnOnUnmatched: true stands where`},
		{"[routing]\nspawnOnUnmatched = \"labeled\"\nautoExecuteLabel = \"\"", "f:3: routing.autoExecuteLabel: it is empty"},
		{"[routing]\nauthorizedUsers = \"octocat\"", `f:2: routing.authorizedUsers: "octocat" stands where there should be a list`},
		{"[routing]\nauthorizedUsers = [\n  \"a\",\n 5]", `f:2: routing.authorizedUsers: `},
		{"[routing]\nauthorizedUsers = [\"@octocat\"]", `f:2: routing.authorizedUsers: ["@octocat"] stands where`},
		{"[routing]\ndefaultHarness = \"claud\"", `f:2: routing.defaultHarness: there is no harness "claud": write one of claude, codex, copilot, cursor, echo, gemini, opencode, or add [harness.claud]`},
		{"[routing.tmux]\nharnessKillGraceSeconds = -1", "f:2: routing.tmux.harnessKillGraceSeconds: -1 stands where there should be a whole number of seconds from 0 to 3600"},
		{"[routing]\nmaxSpawnsPerHour = -1", "f:2: routing.maxSpawnsPerHour: -1 stands where there should be a whole number of sessions from 0 to 10000"},
		{"[routing]\nannounce = 1", "f:2: routing.announce: 1 stands where there should be true or false"},
		{"[log]\nmaxMegabytes = 0", "f:2: log.maxMegabytes: 0 stands where there should be a whole number of megabytes from 1 to 10000"},
		{"[routing.tmux]\nharnessKillGraceSeconds = 9223372036854775807", "f:2: "},
		{"[routing.tmux]\nharnessKillGraceSeconds = 1.5", "f:2: "},
		{"[routing.tmux]\nresumeProbeSeconds = nan", "f:2: "},
		{"[routing.tmux]\nresumeProbeSeconds = -0.1", "f:2: "},
		{"[routing.tmux]\nsessionPerPr = \"sometimes\"", "f:2: routing.tmux.sessionPerPr: "},
		{"[routing.tmux]\nsocket = \"here\"", "f:2: routing.tmux.socket: "},
		{"[routing.control]\nkeywords = { start = \"go\", stop = \"GO\" }", `f:2: routing.control.keywords.stop: "GO" is the word of start already`},
		{"[workspace]\ncopy = [\"/etc/passwd\"]", "f:2: workspace.copy: "},
		{"[workspace]\nlink = [\"../secrets\"]", "f:2: workspace.link: "},
		{"[workspace]\ncopy = [\".\"]", "f:2: workspace.copy: "},
		{"[workspace]\ncopy = \".env\"", "f:2: workspace.copy: "},
		{"[workspace]\nsetup = \"make\"", "f:2: workspace.setup: "},
		{"[workspace]\nsetup = [\"\"]", "f:2: workspace.setup: "},
		{"[workspace]\nsetupSeconds = 0", "f:2: workspace.setupSeconds: "},
		{"[workspace.repos]\n\"octo\" = \"/x\"", `f:2: workspace.repos.octo: "octo" is not a repository`},
		{"[workspace.repos]\n\"octo/lib\" = \"src\"", `f:2: workspace.repos."octo/lib": "src" stands where there should be the absolute path`},
		{"[workspace.repos]\n\"octo/lib\" = \"/a\"\n\"Octo/Lib\" = \"/b\"", `it is "Octo/Lib" once more`},
		{"notify = \"ring\"", `f:1: notify: "ring" stands where there should be "bell", "osc", a command`},
		{"notify = []", "f:1: notify: [] stands where"},
		{"notify = [\"\"]", "f:1: notify: "},
		{"notify = true", "f:1: notify: true stands where"},
		{"[harness.mine]\n", "f:1: harness.mine: start is missing"},
		{"[harness.mine]\nstart = \"x\"", "f:2: harness.mine.start: \"x\" stands where there should be a list"},
		{"[harness.mine]\nstart = []", "f:2: harness.mine.start: the program is missing"},
		{"[harness.mine]\nstart = [\"\"]", "f:2: harness.mine.start: the program is missing"},
		{"[harness.mine]\nstart = [\"/bin/bash\", \"-c\", \"claude\"]", `f:2: harness.mine.start: "/bin/bash" is a shell`},
		{"[harness.claude]\nresume = [\"zsh\"]", `f:2: harness.claude.resume: "zsh" is a shell`},
		{"[harness.claude]\nstart = [\"{prompt}\"]", `f:2: harness.claude.start: "{prompt}" is no program`},
		{"[harness.claude]\nstart = []", "f:2: harness.claude.start: the program is missing"},
		{"[harness.claude]\ncomposer = \"(\"", `f:2: harness.claude.composer: "(" stands where there should be a regular expression`},
		{"[harness.claude]\nsubmitDelayMillis = \"1\"", `f:2: harness.claude.submitDelayMillis: "1" stands where`},
		{"[harness]\nclaude = 1", `f:2: harness.claude: 1 stands where there should be a table`},
		{"[harness.\"a b\"]\nstart = [\"x\"]", `f:1: harness."a b": a harness is named with`},
	} {
		_, err := Parse("f", c.text, "/home/me")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n gives %v\n want  %s", c.text, err, c.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n is one mistake, and told as\n%v", c.text, err)
		}
	}
}

// Every mistake of a file is told at once, in the file's order, at its line.
func TestAllErrors(t *testing.T) {
	_, err := Parse("f", "routing.tmux = {\n  socket = 5, sessionPerPr = 1}\n\n[workspace] # here\n\"root\" = \"\"\"\n[x]\n\"\"\"\n\nnope = '''\n# [\n'''\n[harness . claude]\ncomposer\t= 1", "/h")
	if err == nil {
		t.Fatal("no error")
	}
	var lines []string
	for _, line := range strings.Split(err.Error(), "\n") {
		lines = append(lines, strings.Join(strings.SplitN(line, ":", 4)[:3], ":"))
	}
	want := []string{"f:1: routing.tmux.sessionPerPr", "f:1: routing.tmux.socket", "f:5: workspace.root", "f:9: workspace.nope", "f:13: harness.claude.composer"}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("errors stand at %q, want %q\n%v", lines, want, err)
	}
	var one *Error
	if !errors.As(err, &one) {
		t.Error("the errors are no Error")
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{}
	load := func() (Config, error) { return Load(func(k string) string { return env[k] }, home) }
	if c, err := load(); err != nil || c.Path != "" || c.Routing.DefaultHarness != "claude" {
		t.Errorf("without a file: %+v, %v", c, err)
	}
	write := func(path, harness string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("routing.defaultHarness = \""+harness+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	xdg, named := filepath.Join(home, "xdg"), filepath.Join(home, "named.toml")
	write(filepath.Join(home, ".config/gh-loop/config.toml"), "gemini")
	write(filepath.Join(xdg, "gh-loop/config.toml"), "codex")
	for _, step := range []struct{ key, value, want string }{
		{"", "", "gemini"}, {"XDG_CONFIG_HOME", "relative", "gemini"}, {"XDG_CONFIG_HOME", xdg, "codex"},
	} {
		env[step.key] = step.value
		if c, err := load(); err != nil || c.Routing.DefaultHarness != step.want {
			t.Errorf("%s=%s: %q, %v", step.key, step.value, c.Routing.DefaultHarness, err)
		}
	}
	env["GH_LOOP_CONFIG"] = named
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "GH_LOOP_CONFIG names") {
		t.Errorf("a missing named file: %v", err)
	}
	if c, err := (func() (Config, error) { write(named, "echo"); return load() })(); err != nil || c.Path != named || c.Routing.DefaultHarness != "echo" {
		t.Errorf("named file: %+v, %v", c, err)
	}
	env["GH_LOOP_CONFIG"] = home
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a directory: %v", err)
	}
}

func TestSettings(t *testing.T) {
	c, err := Parse("f", "[routing.tmux]\nsessionPerPr = false\n[workspace.repos]\n\"octo/lib\" = \"/l\"\n[harness.claude]\ncomposer = \"a\\\"b\"\n", "/h")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Setting{}
	for _, s := range c.Settings() {
		got[s.Key] = s
	}
	for _, want := range []Setting{
		{"routing.authorizedUsers", "[]", "default"},
		{"routing.tmux.sessionPerPr", `"never"`, "f:2"},
		{"routing.tmux.resumeProbeSeconds", "2.0", "default"},
		{"routing.control.keywords.start", `"loop start"`, "default"},
		{`workspace.repos."octo/lib"`, `"/l"`, "f:4"},
		{"harness.claude.composer", `"a\"b"`, "f:6"},
		{"harness.claude.submitDelayMillis", "150", "default"},
		{"harness.echo.resume", `["gh-loop", "echo", "--resume", "{id}", "{prompt}"]`, "default"},
	} {
		if got[want.Key] != want {
			t.Errorf("%+v, want %+v", got[want.Key], want)
		}
	}
}

// What Settings prints is a configuration file, and gives the same again.
func TestSettingsRoundTrip(t *testing.T) {
	c, err := Parse("f", contract, "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range c.Settings() {
		b.WriteString(s.Key + " = " + s.Value + "\n")
	}
	again, err := Parse("g", b.String(), "/elsewhere")
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if !reflect.DeepEqual(again.Routing, c.Routing) || !reflect.DeepEqual(again.Workspace, c.Workspace) {
		t.Errorf("again:\n%+v\nonce:\n%+v", again, c)
	}
}

func TestNotify(t *testing.T) {
	for text, want := range map[string]Notify{
		"": {}, "notify = \"\"": {}, "notify = \"bell\"": {Word: "bell"}, "notify = \"osc\"": {Word: "osc"},
		"notify = [\"notify-send\", \"{ref}\"]": {Command: []string{"notify-send", "{ref}"}},
	} {
		c, err := Parse("f", text, "/h")
		if err != nil || c.Notify.Word != want.Word || !slices.Equal(c.Notify.Command, want.Command) {
			t.Errorf("%s: %+v, %v", text, c.Notify, err)
		}
		for _, s := range c.Settings() {
			if again, err := Parse("g", s.Key+" = "+s.Value, "/h"); s.Key == "notify" && (err != nil || !reflect.DeepEqual(again.Notify, c.Notify)) {
				t.Errorf("%s gives %s, and that %+v, %v", text, s.Value, again.Notify, err)
			}
		}
	}
}

func TestStateDir(t *testing.T) {
	env := map[string]string{}
	get := func(k string) string { return env[k] }
	if got := StateDir(get, "/h"); got != "/h/.local/state/gh-loop" {
		t.Error(got)
	}
	env["XDG_STATE_HOME"] = "/x"
	if got := StateDir(get, "/h"); got != "/x/gh-loop" {
		t.Error(got)
	}
	env["GH_LOOP_STATE_DIR"] = "/s"
	if got := StateDir(get, "/h"); got != "/s" {
		t.Error(got)
	}
}

// Any text is a Config or an error that names a line of it; nothing panics.
func FuzzParse(f *testing.F) {
	f.Add(contract)
	f.Add("[routing]\nspawnOnUnmatched = 'x'\n[[harness.a]]\n")
	f.Add("workspace.repos = {\"a/b\" = \"\"\"\n#[\n\"\"\"}\nx = [1, {a = ']'}, # ]\n]")
	f.Add("\ufeff[harness.\"\\u0000\"]\nstart=['']")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f", text, "/h")
		if err == nil {
			for _, s := range c.Settings() {
				if strings.ContainsAny(s.Value, "\n") {
					t.Fatalf("%s = %q", s.Key, s.Value)
				}
			}
			return
		}
		var one *Error
		if !errors.As(err, &one) || one.Line < 1 || one.Line > strings.Count(text, "\n")+1 {
			t.Fatalf("%v stands on line %+v", err, one)
		}
	})
}

// Every key of any file that parses has a line, and no line is outside the file.
func FuzzKeyLines(f *testing.F) {
	f.Add(contract)
	f.Add("a.b = {\"c d\" = '''\n]\n''''}\n[ x . 'y' ] # [z]\nq = [ # \"\n1,\n]\n[[l]]\nk = \"\\\"\"\n[[l]]\nk=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		var into map[string]any
		md, err := toml.Decode(text, &into)
		if err != nil {
			return
		}
		lines := keyLines(text)
		for _, key := range md.Keys() {
			if line := lines[key.String()]; line < 1 || line > strings.Count(text, "\n")+1 {
				t.Fatalf("%s is on line %d", key, line)
			}
		}
	})
}
