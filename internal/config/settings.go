package config

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Setting is one line of the configuration in force.
type Setting struct {
	Key    string // as TOML writes it
	Value  string // as TOML writes it
	Source string // "default", or file:line
}

// Settings lists every key with its value and where that came from: the
// contract's order, then clones and harnesses by name.
func (c Config) Settings() []Setting {
	lines := keyLines(c.text)
	list := c.fixed()
	for _, repo := range slices.Sorted(maps.Keys(c.Workspace.Repos)) {
		path := c.Workspace.Repos[repo]
		list = append(list, setting{key: toml.Key{"workspace", "repos", repo}, at: &path})
	}
	all := c.Adapters("gh-loop")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		millis := int(a.SubmitDelay.Milliseconds())
		list = append(list,
			setting{key: toml.Key{"harness", name, "start"}, at: &a.Start},
			setting{key: toml.Key{"harness", name, "resume"}, at: &a.Resume},
			setting{key: toml.Key{"harness", name, "submitDelayMillis"}, at: &millis},
			setting{key: toml.Key{"harness", name, "composer"}, at: &a.Composer})
	}
	out := make([]Setting, len(list))
	for i, s := range list {
		out[i] = Setting{Key: s.key.String(), Value: s.toml(), Source: "default"}
		if line, ok := lines[out[i].Key]; ok {
			out[i].Source = fmt.Sprintf("%s:%d", c.Path, line)
		}
	}
	return out
}

// setting ties a key to its place in a Config.
type setting struct {
	key  toml.Key
	at   any    // pointer
	want string // what belongs there, with an example
	ok   func() bool
}

// fixed lists the keys whose names are ours, tied to c.
func (c *Config) fixed() []setting {
	r, k, t := &c.Routing, &c.Routing.Control.Keywords, &c.Routing.Tmux
	word := `the words of a comment, such as "loop start", or "" to turn it off`
	keyword := func(name string, at *string) setting {
		return setting{toml.Key{"routing", "control", "keywords", name}, at, word, func() bool { return *at == strings.TrimSpace(*at) }}
	}
	local := func(name string, at *[]string) setting {
		return setting{toml.Key{"workspace", name}, at, `a list of paths within a working tree, such as [".env"]`,
			func() bool {
				return !slices.ContainsFunc(*at, func(p string) bool { return !filepath.IsLocal(p) || filepath.Clean(p) == "." || !plain(p) })
			}}
	}
	flag := func(key toml.Key, at *bool) setting { return setting{key, at, "true or false", nil} }
	return []setting{
		{toml.Key{"routing", "authorizedUsers"}, &r.AuthorizedUsers, `a list of logins and "@collaborators", such as ["octocat", "@collaborators"]`,
			func() bool { return !slices.ContainsFunc(r.AuthorizedUsers, func(u string) bool { return !isUser(u) }) }},
		{toml.Key{"routing", "spawnOnUnmatched"}, &r.SpawnOnUnmatched, `"never", "labeled" or "always"`,
			func() bool { return slices.Contains([]string{"never", "labeled", "always"}, r.SpawnOnUnmatched) }},
		{toml.Key{"routing", "autoExecuteLabel"}, &r.AutoExecuteLabel, `a label, such as "loop: auto-execute"`, nil},
		{toml.Key{"routing", "maxSpawnsPerHour"}, &r.MaxSpawnsPerHour, "a whole number of sessions from 0 to 10000, such as 20",
			func() bool { return r.MaxSpawnsPerHour >= 0 && r.MaxSpawnsPerHour <= 10000 }},
		flag(toml.Key{"routing", "announce"}, &r.Announce),
		{toml.Key{"routing", "defaultHarness"}, &r.DefaultHarness, `the name of a harness, such as "claude"`, func() bool { return r.DefaultHarness != "" }},
		flag(toml.Key{"routing", "control", "requireStartCommand"}, &r.Control.RequireStartCommand),
		keyword("start", &k.Start), keyword("stop", &k.Stop), keyword("pause", &k.Pause), keyword("resume", &k.Resume), keyword("cleanup", &k.Cleanup),
		{toml.Key{"routing", "tmux", "sessionPerPr"}, &t.SessionPerPr, `true (as "always"), "cross-repository" or false (as "never")`, nil},
		flag(toml.Key{"routing", "tmux", "keepSessionOnClose"}, &t.KeepSessionOnClose),
		flag(toml.Key{"routing", "tmux", "killHarnessOnClose"}, &t.KillHarnessOnClose),
		{toml.Key{"routing", "tmux", "harnessKillGraceSeconds"}, &t.HarnessKillGraceSeconds, "a whole number of seconds from 0 to 3600, such as 5",
			func() bool { return t.HarnessKillGraceSeconds >= 0 && t.HarnessKillGraceSeconds <= 3600 }},
		flag(toml.Key{"routing", "tmux", "resumeOnRespawn"}, &t.ResumeOnRespawn),
		{toml.Key{"routing", "tmux", "resumeProbeSeconds"}, &t.ResumeProbeSeconds, "a number of seconds from 0 to 3600, such as 2 or 0.5",
			func() bool { return t.ResumeProbeSeconds >= 0 && t.ResumeProbeSeconds <= 3600 }},
		{toml.Key{"routing", "tmux", "socket"}, (*location)(&t.Socket), `the absolute path of a tmux socket, or ""`, nil},
		{toml.Key{"notify"}, &c.Notify, `"bell", "osc", a command such as ["notify-send", "{ref} waits for you"], or "" for not at all`, nil},
		{toml.Key{"workspace", "root"}, (*location)(&c.Workspace.Root), `the absolute path of a directory, such as "~/trees", or ""`, nil},
		local("copy", &c.Workspace.Copy), local("link", &c.Workspace.Link),
		{toml.Key{"workspace", "setup"}, &c.Workspace.Setup, `a list of texts, the program first, such as ["make", "deps"]`,
			func() bool { s := c.Workspace.Setup; return len(s) == 0 || strings.TrimSpace(s[0]) != "" }},
		{toml.Key{"workspace", "setupSeconds"}, &c.Workspace.SetupSeconds, "a whole number of seconds from 1 to 7200, such as 600",
			func() bool { return c.Workspace.SetupSeconds >= 1 && c.Workspace.SetupSeconds <= 7200 }},
		{toml.Key{"log", "maxMegabytes"}, &c.Log.MaxMegabytes, "a whole number of megabytes from 1 to 10000, such as 50",
			func() bool { return c.Log.MaxMegabytes >= 1 && c.Log.MaxMegabytes <= 10000 }},
	}
}

// location is a string in which "~" is the home directory.
type location string

// set puts a value that TOML decoded in its place, or says why not.
func (s setting) set(v any, home string) (why string) {
	if s.assign(v, home) && (s.ok == nil || s.ok()) {
		return ""
	}
	return fmt.Sprintf("%s stands where there should be %s", kind(v), s.want)
}

func (s setting) assign(v any, home string) (ok bool) {
	switch at := s.at.(type) {
	case *bool:
		*at, ok = v.(bool)
	case *string:
		*at, ok = v.(string)
		ok = ok && plain(*at)
	case **string:
		var text string
		text, ok = v.(string)
		*at = &text
	case *location:
		var text string
		text, ok = v.(string)
		*at = location(expand(text, home))
		ok = ok && plain(text) && (text == "" || filepath.IsAbs(string(*at)))
	case *int:
		*at, ok = whole(v)
	case **int:
		var n int
		n, ok = whole(v)
		*at = &n
	case *float64:
		*at, ok = number(v)
	case *[]string:
		*at, ok = texts(v)
	case *Notify:
		word, isWord := v.(string)
		if at.Word = word; isWord {
			return word == "" || word == "bell" || word == "osc"
		}
		at.Command, ok = texts(v)
		ok = ok && len(at.Command) > 0 && at.Command[0] != ""
	case *work.Mode:
		var err error
		*at, err = work.ParseMode(fmt.Sprint(v))
		ok = err == nil
	}
	return ok
}

func whole(v any) (int, bool) {
	n, ok := v.(int64)
	if n > math.MaxInt32 || n < math.MinInt32 {
		return -1, ok // out of every range
	}
	return int(n), ok
}

func number(v any) (float64, bool) {
	if n, ok := v.(int64); ok {
		return float64(n), true
	}
	f, ok := v.(float64)
	return f, ok
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	out := make([]string, len(list))
	for i := range list {
		text, isText := list[i].(string)
		if ok = ok && isText && !strings.ContainsRune(text, 0); !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, ok
}

// plain says whether a text has no control characters.
func plain(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }

// expand puts the home directory in place of "~" and "~/".
func expand(p, home string) string {
	if home != "" && (p == "~" || strings.HasPrefix(p, "~/")) {
		return filepath.Join(home, p[1:])
	}
	if p == "" {
		return ""
	}
	return filepath.Clean(p)
}

// kind shows a decoded value to people: itself if it is short, else its type.
func kind(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.80q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case []any:
		if text, err := encode(v); err == nil && len(text) <= 80 {
			return text
		}
		return "a list"
	case []map[string]any:
		return "a list of tables"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

func (s setting) toml() string {
	if n, ok := s.at.(*Notify); ok {
		if len(n.Command) > 0 {
			return setting{at: &n.Command}.toml()
		}
		return setting{at: &n.Word}.toml()
	}
	if list, ok := s.at.(*[]string); ok && *list == nil {
		return "[]"
	}
	text, err := encode(s.at)
	if err != nil {
		panic(err) // every type that a setting has can be written
	}
	return text
}

// encode writes a value as TOML.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	if err := e.Encode(map[string]any{"v": v}); err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "v = ")), nil
}
