package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// The checks of tmux and of the sessions in it.

func (x *exam) tmux() finding {
	if x.tmuxErr != nil {
		return wrong("install tmux 3.2 or newer and see that it is first on PATH", "%s", x.tmuxErr)
	}
	found, _ := x.path("tmux")
	return fine("tmux %s, %s", x.version, found)
}

// trap is what a tmux does wrong from one version to another (exclusive).
type trap struct {
	from, to int // 100 * major + minor; 0 is no bound
	what     string
}

var minor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([0-9]+)\.([0-9]+)`) })

func (x *exam) traps() finding {
	if x.tmuxErr != nil {
		return pass("no tmux")
	}
	m := minor().FindStringSubmatch(x.version)
	if m == nil {
		return fine("a development version")
	}
	major, _ := strconv.Atoi(m[1])
	n, _ := strconv.Atoi(m[2])
	var known []string
	for _, t := range []trap{
		{0, 304, "a paste into a dead pane ends the server (never done here)"},
		{0, 307, "an end-of-paste inside a text ends the paste (taken out here)"},
		{0, 307, "does not tell when a program is ready (watched for here)"},
		{304, 306, "prints control characters as octal numbers"},
		{307, 0, "an agent that only a read-only client shows takes no keys by send-keys (not used here)"},
	} {
		if v := 100*major + n; v >= t.from && (t.to == 0 || v < t.to) {
			known = append(known, t.what)
		}
	}
	return fine("known of %s: %s", x.version, strings.Join(known, "; "))
}

func (x *exam) serverAnswers() finding {
	switch a := x.ours(); {
	case x.tmuxErr != nil:
		return pass("no tmux")
	case errors.Is(a.err, tmux.ErrNoServer):
		return fine("none runs on %s; the first session starts it", x.d.Socket)
	case a.err != nil:
		return wrong("look at it by hand: tmux -S "+x.d.Socket+" ls; while it is silent, events are held and nothing is started", "%s", a.err)
	default:
		return fine("%d panes on %s", len(a.panes), x.d.Socket)
	}
}

func (x *exam) upgrade() finding {
	v := x.ours().version
	if v == "" {
		return pass("no server runs")
	}
	if v != x.version {
		return warn("end tmux when it suits you, then: gh loop restore", "the server is tmux %s, the program is %s: after an upgrade the two may not understand each other", v, x.version)
	}
	return fine("server and program are both %s", v)
}

// twoServers looks beside the socket in force for others that have our sessions.
func (x *exam) twoServers() finding {
	dir := filepath.Dir(x.d.Socket)
	names, _ := os.ReadDir(dir)
	var others []string
	for _, n := range names {
		socket := filepath.Join(dir, n.Name())
		if n.Type()&os.ModeSocket == 0 || socket == x.d.Socket || len(others) > 8 {
			continue
		}
		x.ask(socket)
		if slices.ContainsFunc(x.servers[socket].panes, func(p tmux.Pane) bool { return p.Token != "" }) {
			others = append(others, socket)
		}
	}
	if len(others) > 0 {
		return warn("name the one that is meant: routing.tmux.socket = \"PATH\"", "sessions of ours are on other servers as well: %s", list(others))
	}
	return fine("one")
}

func (x *exam) sockets() finding {
	other := map[string]string{}
	x.each(func(_ *work.Record, s *work.Session) {
		if s.Tmux != nil && s.Tmux.Socket != x.d.Socket {
			other[s.Tmux.Socket] = s.Tmux.Socket
		}
	})
	if len(other) > 0 {
		return warn("run gh loop from that server, or name it: routing.tmux.socket = \"PATH\"", "records have sessions on another socket than %s: %s", x.d.Socket, list(values(other)))
	}
	return fine("all sessions are on %s", x.d.Socket)
}

func (x *exam) plugin() finding {
	if x.ours().err != nil {
		return pass("no server runs")
	}
	_, loaded, err := x.server(x.d.Socket).Wiped(x.ctx)
	switch {
	case err != nil:
		return wrong("gh loop tmux unload, then gh loop tmux load", "%s", err)
	case !loaded:
		return warn("gh loop tmux load; to have it at each start, put run-shell 'gh-loop tmux load' at the end of tmux.conf", "keys and hooks are not loaded").by(x.load)
	}
	return fine("keys and hooks are loaded")
}

func (x *exam) pluginVersion() finding {
	a := x.ours()
	switch {
	case a.bin == "":
		return pass("not loaded")
	case !exists(a.bin):
		return wrong("set -gu @loop-bin, then gh loop tmux load", "keys and hooks call %s, which is gone", a.bin)
	case a.loaded != "" && a.loaded != pluginVersion():
		return warn("gh loop tmux load", "what is loaded in tmux is of another version than this program").by(x.load)
	case !sameProgram(a.bin, x.d.Bin):
		return warn("set -gu @loop-bin in tmux, then gh loop tmux load", "keys and hooks call another build than this one: %s", a.bin)
	}
	return fine("keys and hooks call %s", a.bin)
}

func (x *exam) hooks() finding {
	if x.ours().bin == "" {
		return pass("not loaded")
	}
	wiped, _, err := x.server(x.d.Socket).Wiped(x.ctx)
	if err != nil {
		return wrong("gh loop tmux load", "%s", err)
	}
	if len(wiped) > 0 {
		return wrong("gh loop tmux load now; and in tmux.conf load gh-loop after the line that sets this hook, or set it with an index: set-hook -g 'NAME[1]' …",
			"wiped by a later set-hook: %s", list(wiped)).by(x.load)
	}
	return fine("in place")
}

func (x *exam) load() error {
	_, err := x.server(x.d.Socket).Load(x.ctx, x.env.tmuxPlugin(x.d.Bin))
	return err
}

// pathInTmux: what a hook delivers or brings back, it does with the server's PATH.
func (x *exam) pathInTmux() finding {
	a := x.ours()
	if a.env == "" {
		return pass("no server runs")
	}
	look, missing := harness.LookIn(a.env), map[string]string{}
	need := []string{"tmux", "git"}
	if h, ok := x.d.Harnesses[x.d.Config.Routing.DefaultHarness]; ok && len(h.Start) > 0 {
		need = append(need, h.Start[0])
	}
	x.each(func(_ *work.Record, s *work.Session) {
		if h, ok := x.d.Harnesses[s.Harness]; ok && len(h.Start) > 0 {
			need = append(need, h.Start[0])
		}
	})
	for _, p := range need {
		if _, here := x.path(p); here != nil {
			continue // missing everywhere: another check says so
		}
		if _, err := look(p); err != nil {
			missing[p] = p
		}
	}
	if len(missing) > 0 {
		return warn("tmux set-environment -g PATH \"$PATH\", and the same in the file that tmux is started from", "not found with the PATH that hooks in tmux have: %s", list(values(missing)))
	}
	return fine("hooks in tmux find what they need")
}

func (x *exam) sessions() finding {
	var dead []string
	n := 0
	x.each(func(_ *work.Record, s *work.Session) {
		if s.Tmux == nil {
			return
		}
		n++
		a := x.servers[s.Tmux.Socket]
		if a.err != nil && !errors.Is(a.err, tmux.ErrNoServer) {
			return
		}
		if !slices.ContainsFunc(a.panes, func(p tmux.Pane) bool {
			return !p.Dead && p.Token != "" && (p.Token == s.Tmux.Token || p.Token == s.Tmux.Next)
		}) {
			dead = append(dead, s.Ref.Short())
		}
	})
	if len(dead) > 0 {
		return warn("gh loop restore (or wait: the next event brings each back)", "%d of %d conversations have no running session: %s", len(dead), n, list(dead))
	}
	return fine("all %d conversations have one", n)
}

// orphans are panes that carry our token and are in no record.
func (x *exam) orphans() finding {
	known := map[string]bool{}
	for _, r := range append(slices.Clone(x.live), x.ended...) {
		for _, s := range r.Endpoints() {
			if s.Tmux != nil {
				known[s.Tmux.Token], known[s.Tmux.Next] = true, true
			}
		}
	}
	var lost []string
	for _, a := range x.servers {
		for _, p := range a.panes {
			if p.Token != "" && !known[p.Token] {
				lost = append(lost, p.Name+" ("+p.Pane+", "+shortRef(p.Ref)+")")
			}
		}
	}
	if len(x.damaged) > 0 && len(lost) > 0 {
		return warn("mend the damaged records first: these may be theirs", "in no record that can be read: %s", list(lost))
	}
	if len(lost) > 0 {
		return warn("look at it, then end it (tmux kill-session -t NAME), or take it over: gh loop register REF --pane %N", "sessions of ours that are in no record: %s", list(lost))
	}
	return fine("none")
}

// claims finds pull requests that two records list.
func (x *exam) claims() finding {
	owner, twice := map[string]work.Ref{}, map[string]string{}
	for _, r := range x.live {
		for _, pr := range r.PullRequests() {
			if first, ok := owner[pr.Ref.Key()]; ok && pr.Live() {
				twice[pr.Ref.Key()] = pr.Ref.Short() + " (" + first.Short() + " and " + r.Ref.Short() + ")"
			} else if pr.Live() {
				owner[pr.Ref.Key()] = r.Ref
			}
		}
	}
	if len(twice) > 0 {
		return warn("gh loop unlink PR --from REF, unless both are meant", "two items have the same pull request, and both get its events: %s", list(values(twice)))
	}
	return fine("each pull request delivers one item")
}
