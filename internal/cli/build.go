package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/config"
	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// build reads the configuration and puts together what a command works with.
func (e *env) build() (*dispatch.Loop, error) {
	conf, err := config.Load(e.getenv, e.home())
	if err != nil {
		return nil, err
	}
	return e.with(conf)
}

// with is build for a configuration that was read.
func (e *env) with(conf config.Config) (*dispatch.Loop, error) {
	bin, err := e.bin()
	if err != nil {
		return nil, err
	}
	state := config.StateDir(e.getenv, e.home())
	socket := conf.Routing.Tmux.Socket
	if socket == "" {
		socket = tmux.DefaultSocket(e.getenv)
	}
	bound, _ := time.ParseDuration(e.getenv("GH_LOOP_TMUX_TIMEOUT")) // for tests; 0 is the default
	wait, _ := time.ParseDuration(e.getenv("GH_LOOP_LOCK_TIMEOUT"))  // the same
	return &dispatch.Loop{
		Store:     &store.Store{Dir: state, LockTimeout: wait, EndpointTimeout: wait},
		Log:       journal.Log{Path: filepath.Join(state, "log", "events.jsonl"), Now: e.now, MaxBytes: int64(conf.Log.MaxMegabytes) << 20},
		Config:    conf,
		Settings:  e.settings(conf),
		Harnesses: conf.Adapters(bin),
		Trees:     trees(conf.Workspace, state),
		Socket:    socket,
		Timeout:   bound,
		Bin:       bin,
		Now:       e.now,
		Gone:      e.gone(),
		Hooked:    e.hooked,
		NewID:     uuid.NewString,
		Comment:   github.Comment,
		Warn:      func(s string) { fmt.Fprintln(e.err, "gh loop: "+clean(s)) },
	}, nil
}

// hooked says whether an agent starts with our hooks in its settings, where that
// makes a difference (harness.Hooks.Late). Those of another version may not say
// when it has started.
func (e *env) hooked(name string) bool {
	h, _ := harness.HooksOf(name)
	if !h.Late {
		return false
	}
	text, err := readSettings(h.Path(e.getenv, e.home()))
	return err == nil && h.Current(string(text))
}

// trees are kept in the state directory unless the configuration says where.
func trees(w config.Workspace, state string) tree.Trees {
	t := tree.Trees{Root: w.Root, Fresh: tree.Fresh{
		Copy: w.Copy, Link: w.Link, Setup: w.Setup, Limit: time.Duration(w.SetupSeconds) * time.Second, Logs: filepath.Join(state, "log"),
	}}
	if t.Root == "" {
		t.Root = filepath.Join(state, "trees")
	}
	return t
}

// settings are the parts of the configuration that decide. Whom gh is signed
// in as is read from gh's own files, and only where nobody else is named.
func (e *env) settings(conf config.Config) loop.Settings {
	k := conf.Routing.Control.Keywords
	s := loop.Settings{
		Users: conf.Routing.AuthorizedUsers,
		Mode:  conf.Routing.Tmux.SessionPerPr,

		Starts:       conf.Routing.SpawnOnUnmatched,
		Label:        conf.Routing.AutoExecuteLabel,
		RequireStart: conf.Routing.Control.RequireStartCommand,
		Keywords: []loop.Keyword{
			{Verb: loop.Start, Phrase: k.Start}, {Verb: loop.Stop, Phrase: k.Stop}, {Verb: loop.Pause, Phrase: k.Pause},
			{Verb: loop.Resume, Phrase: k.Resume}, {Verb: loop.Cleanup, Phrase: k.Cleanup},
		},
	}
	if len(s.Users) == 0 {
		s.Logins = github.Logins()
	}
	return s
}

// goneBound is how long an event waits for GitHub to say whether what a branch
// names exists.
const goneBound = 3 * time.Second

// gone asks whether an issue exists. The hosts' tokens are looked up at the
// first question.
func (e *env) gone() func(context.Context, work.Ref) bool {
	var mu sync.Mutex
	hosts := map[string]*github.Client{}
	client := func(host string) *github.Client {
		mu.Lock()
		defer mu.Unlock()
		c, ok := hosts[host]
		if !ok {
			c, _ = github.Dial(host, e.now) // nobody to ask is no denial
			hosts[host] = c
		}
		return c
	}
	return func(ctx context.Context, ref work.Ref) bool {
		ctx, cancel := context.WithTimeout(ctx, goneBound)
		defer cancel()
		c := client(ref.Host)
		return c != nil && c.Gone(ctx, ref)
	}
}

// homely writes ~ for the home directory wherever a text names it.
func (e *env) homely(text string) string {
	home := e.home()
	if len(home) < 2 || !strings.Contains(text, home) {
		return text
	}
	return regexp.MustCompile(`(^|[^\w./~-])`+regexp.QuoteMeta(home)+`($|[^\w.-])`).ReplaceAllString(text, "${1}~${2}")
}

func (e *env) home() string {
	if h := e.getenv("HOME"); h != "" {
		return h
	}
	h, _ := os.UserHomeDir()
	return h
}

// bin is this program's absolute path, as tmux and hooks call it by pid-safe
// exec and not through gh.
func (e *env) bin() (string, error) {
	p, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program's own path cannot be found: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(p); err == nil {
		p = resolved
	}
	return p, nil
}

// repoFlag is -R as gh has it.
func repoFlag() cli.Flag {
	return &cli.StringFlag{Name: "repo", Aliases: []string{"R"}, Usage: "`REPO` of a bare number: [HOST/]OWNER/REPO"}
}

// loopAt is what a command works with that is about the thing in text.
func (e *env) loopAt(c *cli.Command, text string) (*dispatch.Loop, work.Ref, error) {
	ref, err := e.ref(c, text)
	if err != nil {
		return nil, work.Ref{}, err
	}
	d, err := e.build()
	return d, ref, err
}

// ref reads any form of a ref that people type.
func (e *env) ref(c *cli.Command, text string) (work.Ref, error) {
	r, err := work.ParseArg(text, func() (work.Repo, error) { return e.here(c) })
	if err != nil {
		var missing *github.NoRepoError
		if errors.As(err, &missing) {
			return work.Ref{}, err
		}
		return work.Ref{}, usagef(c, "%s", err)
	}
	return r, nil
}

func (e *env) here(c *cli.Command) (work.Repo, error) {
	if r := c.String("repo"); r != "" {
		repo, err := work.ParseRepo(r)
		if err != nil {
			return work.Repo{}, usagef(c, "--repo: %s", err)
		}
		return repo, nil
	}
	return github.Here()
}

// clean makes text from outside fit to be shown on a terminal.
func clean(s string) string { return strings.TrimRight(event.Clean(s), "\n") }
