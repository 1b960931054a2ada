package config

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/work"
)

var (
	user        = pattern(`^(app/)?[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)
	harnessName = pattern(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

// pattern is compiled when it is needed first: most configurations have few lines.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// isUser says whether a text is a login, in any form that GitHub gives it, or
// the one group that we know.
func isUser(s string) bool { return s == "@collaborators" || user().MatchString(s) }

// repos reads [workspace.repos].
func (r *reader) repos(c *Config, at toml.Key, table map[string]any) {
	c.Workspace.Repos = map[string]string{}
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := append(slices.Clone(at), name)
		repo, err := work.ParseRepo(name)
		if err != nil {
			r.wrong(key, "%s, such as \"octo/lib\" = \"~/src/lib\"", err)
			continue
		}
		folded := strings.ToLower(repo.String())
		if other, ok := first[folded]; ok {
			r.wrong(key, "it is %q once more: keep one of them", other)
			continue
		}
		first[folded] = name
		text, ok := table[name].(string)
		dir := expand(text, r.home)
		if !ok || !plain(text) || !filepath.IsAbs(dir) {
			r.wrong(key, "%s stands where there should be the absolute path of a clone, such as \"~/src/%s\"", kind(table[name]), repo.Name)
			continue
		}
		c.Workspace.Repos[repo.String()] = dir
	}
}

// harnesses reads [harness.NAME].
func (r *reader) harnesses(c *Config, at toml.Key, table map[string]any) {
	c.Harnesses = map[string]HarnessEntry{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := append(slices.Clone(at), name)
		inner, ok := table[name].(map[string]any)
		if !ok {
			r.wrong(key, "%s stands where there should be a table: write [%s] on a line of its own, and start = [\"program\"] below it", kind(table[name]), key)
			continue
		}
		if !harnessName().MatchString(name) || len(name) > 64 {
			r.wrong(key, "a harness is named with letters, digits, '_' and '-', such as [harness.mine]")
			continue
		}
		var e HarnessEntry
		for _, s := range e.settings(key) {
			r.settings[s.key.String()] = s
		}
		r.table(c, key, inner)
		c.Harnesses[name] = e
		_, said := inner["start"]
		if _, builtin := harness.Builtin("")[name]; !builtin && !said {
			r.wrong(key, "start is missing: name the program and its arguments, such as start = [\"%s\", \"{prompt}\"]", name)
		}
	}
}

func (e *HarnessEntry) settings(at toml.Key) []setting {
	key := func(name string) toml.Key { return append(slices.Clone(at), name) }
	return []setting{
		{key("start"), &e.Start, `a list of texts, the program first, such as ["claude", "--session-id", "{id}", "{prompt}"]`, nil},
		{key("resume"), &e.Resume, `a list of texts, the program first, such as ["claude", "--resume", "{id}", "{prompt}"]`, nil},
		{key("submitDelayMillis"), &e.SubmitDelayMillis, "a whole number of milliseconds from 0 to 60000, such as 150",
			func() bool { return *e.SubmitDelayMillis >= 0 && *e.SubmitDelayMillis <= 60000 }},
		{key("composer"), &e.Composer, `a regular expression, "" or "none"`, func() bool { _, err := regexp.Compile(*e.Composer); return err == nil }},
	}
}

// check looks at what only the whole file can tell.
func (r *reader) check(c *Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Harnesses)) {
		e := c.Harnesses[name]
		r.program(toml.Key{"harness", name, "start"}, e.Start)
		if len(e.Resume) > 0 {
			r.program(toml.Key{"harness", name, "resume"}, e.Resume)
		}
	}
	all := c.Adapters("")
	if _, ok := all[c.Routing.DefaultHarness]; !ok && c.Routing.DefaultHarness != "" {
		r.wrong(toml.Key{"routing", "defaultHarness"}, "there is no harness %q: write one of %s, or add [harness.%s]", c.Routing.DefaultHarness, strings.Join(slices.Sorted(maps.Keys(all)), ", "), c.Routing.DefaultHarness)
	}
	if c.Routing.SpawnOnUnmatched == "labeled" && c.Routing.AutoExecuteLabel == "" {
		r.wrong(toml.Key{"routing", "autoExecuteLabel"}, "it is empty while spawnOnUnmatched is \"labeled\": name the label")
	}
	r.keywords(c.Routing.Control.Keywords)
}

// keywords refuses two words that are one: nobody could say which is meant.
func (r *reader) keywords(k Keywords) {
	first := map[string]string{}
	for _, w := range []struct{ name, word string }{{"start", k.Start}, {"stop", k.Stop}, {"pause", k.Pause}, {"resume", k.Resume}, {"cleanup", k.Cleanup}} {
		folded := strings.Join(strings.Fields(strings.ToLower(w.word)), " ")
		if other, ok := first[folded]; ok && folded != "" {
			r.wrong(toml.Key{"routing", "control", "keywords", w.name}, "%q is the word of %s already: choose another, or \"\" to turn it off", w.word, other)
		}
		first[folded] = w.name
	}
}

// program refuses a list that names none, and shells.
func (r *reader) program(key toml.Key, list []string) {
	switch {
	case list == nil:
	case len(list) == 0 || strings.TrimSpace(list[0]) == "":
		r.wrong(key, "the program is missing: it is the first of the list, such as [\"claude\", \"{prompt}\"]")
	case strings.Contains(list[0], "{"):
		r.wrong(key, "%q is no program: a placeholder may stand in the arguments only", list[0])
	case harness.IsShell(list[0]):
		r.wrong(key, "%q is a shell, and what is typed at a shell is executed: name the agent's own program, or a script of yours that ends in exec AGENT", list[0])
	}
}
