package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// exam is what the checks look at, gathered once.
type exam struct {
	*env
	ctx          context.Context
	online, play bool

	d       *dispatch.Loop // with the defaults, if the configuration cannot be read
	confErr error
	medium  func(dir string) (store.Medium, error)
	path    func(program string) (string, error)
	version string // of the tmux program
	tmuxErr error

	live, ended []*work.Record
	damaged     []*store.DamagedError
	storeErr    error

	servers map[string]answer // by socket: the one in force, and those in the records
}

// answer is what a tmux server said of itself.
type answer struct {
	panes                     []tmux.Pane
	err                       error
	version, bin, loaded, env string // of the server; the plugin's program and version; PATH
}

// examine gathers. It asks nobody but tmux, and changes nothing.
func (e *env) examine(ctx context.Context) (*exam, error) {
	x := &exam{env: e, ctx: ctx, medium: store.MediumOf, path: harness.LookIn(e.getenv("PATH")), servers: map[string]answer{}}
	conf, err := config.Load(e.getenv, e.home())
	if err != nil {
		conf, x.confErr = config.Default(), err
	}
	if x.d, err = e.with(conf); err != nil {
		return nil, err
	}
	x.version, x.tmuxErr = tmux.Server{Timeout: x.d.Timeout}.Version(ctx)
	if x.tmuxErr == nil {
		x.tmuxErr = tmux.Supported(x.version)
	}
	x.live, x.damaged, x.storeErr = x.d.Store.Live()
	if x.storeErr == nil {
		var more []*store.DamagedError
		x.ended, more, x.storeErr = x.d.Store.Closed()
		x.damaged = append(x.damaged, more...)
	}
	x.ask(x.d.Socket)
	x.each(func(_ *work.Record, s *work.Session) {
		if s.Tmux != nil {
			x.ask(s.Tmux.Socket)
		}
	})
	return x, nil
}

// each visits every endpoint that is live.
func (x *exam) each(fn func(*work.Record, *work.Session)) {
	for _, r := range x.live {
		for _, s := range r.Endpoints() {
			if s.Live() {
				fn(r, s)
			}
		}
	}
}

func (x *exam) server(socket string) tmux.Server {
	bound := 2 * time.Second
	if x.d.Timeout > 0 {
		bound = x.d.Timeout
	}
	return tmux.Server{Socket: socket, Timeout: bound}
}

func (x *exam) ask(socket string) {
	if _, asked := x.servers[socket]; asked || socket == "" {
		return
	}
	s := x.server(socket)
	var a answer
	if a.panes, a.err = s.Panes(x.ctx); a.err == nil {
		out, err := s.Run(x.ctx, nil, "display-message", "-p", "#{version}\t#{@loop-version}\t#{@loop-bin}", ";", "show-environment", "-g", "PATH")
		said, path, _ := strings.Cut(out, "\n")
		if f := strings.SplitN(said, "\t", 3); len(f) == 3 {
			a.version, a.loaded, a.bin = f[0], f[1], f[2]
			a.env, _ = strings.CutPrefix(strings.TrimSpace(path), "PATH=")
		} else {
			a.err = err
		}
	}
	x.servers[socket] = a
}

// ours is the answer of the server where new sessions go.
func (x *exam) ours() answer { return x.servers[x.d.Socket] }

// plain makes text fit to be shown and to be posted: no control characters,
// and nobody's home directory.
func (x *exam) plain(text string) string {
	return strings.Join(strings.Fields(clean(x.homely(text))), " ")
}

// list names some of many.
func list(all []string) string {
	const most = 4
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:most], ", ") + ", …"
}

// checks are all of them, in the order in which people read them.
func checks() []check {
	all := []check{
		{"program", (*exam).program},
		{"gh", (*exam).gh},
		{"gh extension", (*exam).extension},
		{"sign-in", (*exam).signIn},
		{"token", (*exam).token},
		{"who may", (*exam).whoMay},
		{"configuration", (*exam).configuration},
		{"config permissions", (*exam).configMode},
		{"clones", (*exam).clones},
		{"agent", (*exam).agent},
		{"agents of records", (*exam).agents},
		{"agents' hooks", (*exam).agentHooks},
		{"git", (*exam).git},
		{"locale", (*exam).locale},
		{"clock", (*exam).clock},
		{"tmux", (*exam).tmux},
		{"tmux traps", (*exam).traps},
		{"tmux server", (*exam).serverAnswers},
		{"tmux upgrade", (*exam).upgrade},
		{"two servers", (*exam).twoServers},
		{"sockets", (*exam).sockets},
		{"plugin", (*exam).plugin},
		{"plugin version", (*exam).pluginVersion},
		{"hooks", (*exam).hooks},
		{"path in tmux", (*exam).pathInTmux},
		{"sessions", (*exam).sessions},
		{"orphan sessions", (*exam).orphans},
		{"claims", (*exam).claims},
		{"state directory", (*exam).stateDir},
		{"state disk", (*exam).stateDisk},
		{"disk space", (*exam).space},
		{"permissions", (*exam).permissions},
		{"records", (*exam).records},
		{"strays", (*exam).strays},
		{"entries", (*exam).entries},
		{"directories", (*exam).directories},
		{"trees", (*exam).trees},
		{"locks", (*exam).locks},
		{"leftovers", (*exam).leftovers},
		{"inbox", (*exam).inbox},
		{"set aside", (*exam).setAside},
		{"event log", (*exam).eventLog},
	}
	return append(all, plays()...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
