package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/work"
)

// The checks of what is installed and set up.

func (x *exam) program() finding {
	found, err := x.path("gh-loop")
	switch {
	case err != nil:
		return warn("put its directory on PATH, or run ./install.sh", "gh-loop %s is %s, and no gh-loop is on PATH: scripts and harness hooks call it", Version, x.d.Bin)
	case !sameProgram(found, x.d.Bin):
		return warn("remove one of them", "gh-loop %s is %s, and PATH has another one first: %s", Version, x.d.Bin, found)
	}
	return fine("gh-loop %s, %s", Version, x.d.Bin)
}

// sameProgram says whether two paths are one file, or copies of it.
func sameProgram(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	if err != nil || err2 != nil {
		return false
	}
	if os.SameFile(x, y) {
		return true
	}
	if x.Size() != y.Size() {
		return false
	}
	one, err := os.ReadFile(a)
	two, err2 := os.ReadFile(b)
	return err == nil && err2 == nil && string(one) == string(two)
}

func (x *exam) gh() finding {
	if found, err := x.path("gh"); err == nil {
		return fine("%s", found)
	}
	return warn("install GitHub's command line from https://cli.github.com, or set GH_TOKEN", "gh is not on PATH; gh-loop works without it: say gh-loop for gh loop, and only GH_TOKEN signs in")
}

func (x *exam) extension() finding {
	data := x.getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(x.home(), ".local", "share")
	}
	dir := filepath.Join(data, "gh", "extensions", "gh-loop")
	program := filepath.Join(dir, "gh-loop")
	switch _, err := os.Lstat(dir); {
	case err != nil:
		return pass("gh loop is not installed; gh-loop does the same")
	case !exists(dir):
		return wrong("gh extension remove loop, then install it again", "gh loop points to a directory that is gone")
	case !exists(program):
		return wrong("run ./install.sh in "+dir, "gh loop has no program in %s", dir)
	case !sameProgram(program, x.d.Bin):
		return warn("gh extension upgrade loop, or ./install.sh", "gh loop runs another build than this one: %s", program)
	}
	return fine("gh loop runs this program")
}

// hosts are those that live records need, the default one first.
func (x *exam) hosts() []string {
	hosts, seen := []string{""}, map[string]bool{"": true}
	x.each(func(_ *work.Record, s *work.Session) {
		if h := strings.ToLower(s.Ref.Host); !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
		}
	})
	return hosts
}

func (x *exam) signIn() finding {
	for _, h := range x.hosts() {
		if _, err := github.Dial(h, x.now); err != nil {
			return warn("gh auth login (only what asks GitHub needs it: sync, why, titles)", "%s", err)
		}
	}
	if login := github.Logins()[""]; login != "" {
		return fine("signed in as %s", login)
	}
	return fine("there is a token")
}

func (x *exam) token() finding {
	if !x.online {
		return pass("not asked; --online asks GitHub whether it takes the token")
	}
	c, err := github.Dial("", x.now)
	if err != nil {
		return wrong("gh auth login", "%s", err)
	}
	scopes, err := c.Scopes(x.ctx)
	switch {
	case err != nil:
		return wrong("gh auth status shows which token it is; gh auth login makes a new one", "%s", err)
	case scopes == "":
		return fine("GitHub takes the token, and does not list what it is for: a fine-grained one has to reach your repositories")
	case !strings.Contains(" "+strings.ReplaceAll(scopes, ",", " ")+" ", " repo "):
		return warn("gh auth refresh --scopes repo", "the token's scopes are %s: private repositories are not seen", scopes)
	}
	return fine("scopes: %s", scopes)
}

// unread is why checks are passed over that the defaults, which stand in for a
// configuration with mistakes, would fail.
const unread = "the configuration has mistakes"

func (x *exam) whoMay() finding {
	if x.confErr != nil {
		return pass(unread)
	}
	if users := x.d.Settings.Users; len(users) > 0 {
		return fine("%s", strings.Join(users, ", "))
	}
	var you []string
	for _, h := range x.hosts() {
		login := x.d.Settings.Logins[h]
		if login == "" {
			return wrong(`routing.authorizedUsers = ["YOUR-LOGIN"] in the configuration, or gh auth login`,
				"nobody is named, and gh's files do not say who you are on %s: every comment from there is refused", cmp.Or(h, work.DefaultHost))
		}
		you = append(you, login)
	}
	return fine("nobody is named, so only you: %s", strings.Join(you, ", "))
}

func (x *exam) configuration() finding {
	if x.confErr != nil {
		return wrong("mend it: until then nothing runs, and hooks do nothing", "%s", strings.ReplaceAll(x.confErr.Error(), "\n", "; "))
	}
	if x.d.Config.Path == "" {
		return fine("none; the defaults hold")
	}
	return fine("%s", x.d.Config.Path)
}

// configMode: whoever writes the configuration chooses the programs that run.
func (x *exam) configMode() finding {
	path, _ := config.Path(x.getenv, x.home())
	for _, p := range []string{path, filepath.Dir(path)} {
		fi, err := os.Stat(p)
		if err != nil || fi.Mode().Perm()&0o022 == 0 || fi.Mode()&os.ModeSticky != 0 {
			continue
		}
		return wrong("chmod go-w "+p, "%s can be written by others, who could have any program run", p).by(func() error { return os.Chmod(p, fi.Mode().Perm()&^0o022) })
	}
	return fine("only you can write it")
}

func (x *exam) clones() finding {
	if x.confErr != nil {
		return pass(unread)
	}
	var gone []string
	for repo, dir := range x.d.Config.Workspace.Repos {
		if !exists(filepath.Join(dir, ".git")) && !exists(filepath.Join(dir, "HEAD")) {
			gone = append(gone, repo+" = "+dir)
		}
	}
	if len(gone) > 0 {
		return wrong("clone it there, or correct [workspace.repos]", "no clone: %s", list(gone))
	}
	return fine("%d named in [workspace.repos]", len(x.d.Config.Workspace.Repos))
}

func (x *exam) agent() finding {
	if x.confErr != nil {
		return pass(unread)
	}
	name := x.d.Config.Routing.DefaultHarness
	a, known := x.d.Harnesses[name]
	if !known {
		return wrong("correct routing.defaultHarness", "the default agent %q is not described anywhere", name)
	}
	if err := a.Installed(x.path); err != nil {
		return warn("install it, or choose another with routing.defaultHarness", "%s", err)
	}
	if harness.IsShell(a.Start[0]) {
		return wrong("name an agent: what is typed at a shell is executed", "the default agent %q is the shell %s", name, a.Start[0])
	}
	if a.Since == "" {
		return fine("%s", name)
	}
	path, err := x.path(a.Start[0])
	if err != nil {
		return fine("%s", name)
	}
	version, err := a.Outdated(x.ctx, path)
	if err != nil {
		return warn("update it, or say in harness."+name+".start and .resume what it takes", "%s", err)
	}
	return fine("%s", strings.TrimSpace(name+" "+version))
}

func (x *exam) agents() finding {
	if x.confErr != nil {
		return pass(unread)
	}
	missing, n := map[string]string{}, 0
	x.each(func(_ *work.Record, s *work.Session) {
		n++
		if s.Harness == "" {
			return
		}
		if a, known := x.d.Harnesses[s.Harness]; !known {
			missing[s.Harness] = s.Harness + " (not described)"
		} else if a.Installed(x.path) != nil {
			missing[s.Harness] = s.Harness + " (not installed)"
		}
	})
	if len(missing) > 0 {
		return wrong("install it, or describe it as [harness.NAME] in the configuration", "conversations cannot be brought back: %s", list(values(missing)))
	}
	return fine("%d conversations, each can be brought back", n)
}

// agentHooks looks at the settings that the agents which are started here read.
func (x *exam) agentHooks() finding {
	if x.confErr != nil {
		return pass(unread)
	}
	var in []string
	names := map[string]bool{x.d.Config.Routing.DefaultHarness: true}
	x.each(func(_ *work.Record, s *work.Session) { names[s.Harness] = true })
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h, known := harness.HooksOf(name)
		if !known {
			continue
		}
		has, f := x.hooksOf(name, h)
		if f.Result != good {
			return f
		}
		if has {
			in = append(in, name)
		}
	}
	if len(in) == 0 {
		return fine("none; gh loop hooks install NAME lets an agent say when it waits for you")
	}
	return fine("%s", list(in))
}

// hooksOf looks at one agent's settings, where it reads them: what runs in tmux
// has the environment of tmux.
func (x *exam) hooksOf(name string, h harness.Hooks) (has bool, f finding) {
	here := h.Path(x.getenv, x.home())
	path := h.Path(x.inTmux, cmp.Or(x.inTmux("HOME"), x.home()))
	s, err := x.settingsIn(name, h, path)
	if err != nil {
		return false, warn("see to it that it is a file that you can read", "%s", err)
	}
	switch {
	case h.Current(s.text):
		return true, fine("")
	case h.In(s.text):
		cure := "gh loop hooks install " + name
		if _, _, _, err := s.install(); err != nil && h.Shape == harness.Plugin {
			cure = "remove it if nothing in it is yours, and then " + cure
		} else if err != nil {
			cure = "put in what gh loop hooks show " + name + " prints"
		}
		return true, warn(cure, "those of %s are of another version, or not whole: %s", name, path)
	case here != path:
		if text, err := readSettings(here); err == nil && h.In(string(text)) {
			return false, warn("set the variable in tmux as well (tmux set-environment -g), or install them with it as it is there",
				"those of %s are in %s, and in tmux, where it runs, it reads %s", name, here, path)
		}
	}
	return false, fine("")
}

// inTmux is a variable as programs in tmux are started with it; ours, where no
// server tells.
func (x *exam) inTmux(name string) string {
	if x.ours().err != nil || name == "" {
		return x.getenv(name)
	}
	out, err := x.server(x.d.Socket).Run(x.ctx, nil, "show-environment", "-g", name)
	value, is := strings.CutPrefix(strings.TrimSuffix(out, "\n"), name+"=")
	if err != nil || !is {
		return ""
	}
	return value
}

func (x *exam) git() finding {
	if found, err := x.path("git"); err == nil {
		return fine("%s", found)
	}
	return warn("install git", "git is not on PATH: a pull request gets no working tree, and so no session of its own")
}

func (x *exam) locale() finding {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := x.getenv(name); v != "" {
			u := strings.ToLower(strings.ReplaceAll(v, "-", ""))
			if strings.Contains(u, "utf8") {
				return fine("%s=%s", name, v)
			}
			return warn("export LANG=C.UTF-8", "%s=%s: tmux shows what is not ASCII as _", name, v)
		}
	}
	return warn("export LANG=C.UTF-8", "no locale is set: tmux shows what is not ASCII as _")
}

// clock looks for times that are not yet.
func (x *exam) clock() finding {
	late, now := time.Time{}, x.now()
	see := func(stamp string) {
		if at, err := time.Parse(time.RFC3339, stamp); err == nil && at.After(late) {
			late = at
		}
	}
	x.each(func(_ *work.Record, s *work.Session) { see(s.CreatedAt); see(s.LastEventAt) })
	_ = x.d.Log.Read(func(l journal.Line) bool { see(l.At); return true })
	if ahead := late.Sub(now); ahead > 2*time.Minute {
		return warn("set this machine's clock (timedatectl, or sntp)", "the newest time on record is %s ahead of the clock", ahead.Round(time.Minute))
	}
	return fine("%s", now.UTC().Format(time.RFC3339))
}
