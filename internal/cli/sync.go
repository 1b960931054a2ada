package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/github"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

func (e *env) syncCommand() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "ask GitHub what is new, and bring it to the conversations", ArgsUsage: "[REF…]",
		Description: "What was there before an item was first asked about counts as read.\n\nExamples:\n  gh loop sync\n  gh loop sync 15 --json\n  gh loop sync --watch",
		Flags: []cli.Flag{
			repoFlag(),
			&cli.GenericFlag{Name: "watch", Value: &interval{}, HideDefault: true, Usage: "go on asking, every 30s; --watch=5m says how often"},
			&cli.BoolFlag{Name: "json", Usage: "print one line of JSON for each event"},
		},
		Action: e.sync,
	}
}

// interval is the value of --watch, which may be left out.
type interval struct{ time.Duration }

func (i *interval) Set(s string) error {
	if s == "true" {
		i.Duration = 30 * time.Second
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second {
		return fmt.Errorf("%q is not a time of a second or more, such as 30s or 5m", s)
	}
	i.Duration = d
	return nil
}

func (i *interval) Get() any         { return i.Duration }
func (i *interval) String() string   { return "" }
func (i *interval) IsBoolFlag() bool { return true }

func (e *env) sync(ctx context.Context, c *cli.Command) error {
	var refs []work.Ref
	for _, arg := range c.Args().Slice() {
		ref, err := e.ref(c, arg)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	s := &syncing{env: e, d: d, refs: refs, json: c.Bool("json"), hosts: map[string]*github.Client{}, said: map[string]string{}}
	if every, _ := c.Value("watch").(time.Duration); every > 0 {
		return s.watch(ctx, every)
	}
	s.lanes = d.NewLanes(context.WithoutCancel(ctx), func(r dispatch.Result) { s.unheard(e.tell(c, r)) })
	out, err := s.round(ctx)
	d.Drain(ctx)
	for _, ref := range out.Hidden {
		fmt.Fprintln(e.err, hidden(ref))
	}
	if err == nil && out.Found == 0 && !s.json {
		fmt.Fprintf(e.err, "Nothing new on %d issues and pull requests.\n", out.Watched)
	}
	return errors.Join(err, s.err)
}

func hidden(ref work.Ref) string {
	return ref.Short() + ": GitHub shows it to nobody like us: it was deleted, or the token may not see it; its record stays as it is"
}

// syncing is a sync in progress.
type syncing struct {
	*env
	d     *dispatch.Loop
	refs  []work.Ref
	json  bool
	lanes *dispatch.Lanes
	hosts map[string]*github.Client
	said  map[string]string // what is wrong and was told, by what it is about
	err   error             // of printing
}

// round asks once, and returns when what was found is handled.
func (s *syncing) round(ctx context.Context) (dispatch.Synced, error) {
	out, err := s.d.Sync(ctx, s.refs, s.ask, s.lanes)
	s.lanes.Wait(ctx)
	if ctx.Err() != nil { // what was begun is finished, the rest waits on disk
		s.lanes.End()
	}
	return out, err
}

// ask asks one host, within what is left of its budget.
func (s *syncing) ask(ctx context.Context, host string, ws []event.Watched) ([]event.Seen, error) {
	budgets := map[string]*github.Budget{}
	s.d.Store.Asked(&budgets)
	if budgets[host] == nil {
		budgets[host] = &github.Budget{}
	}
	c := s.hosts[host]
	if c == nil {
		var err error
		if c, err = github.Dial(host, s.now); err != nil {
			return nil, err
		}
		s.hosts[host] = c
	}
	c.Budget = budgets[host]
	progress, done := s.progress()
	seen, err := c.Round(ctx, ws, progress)
	done()
	s.signedIn(host, c.Viewer())
	return seen, errors.Join(err, s.d.Store.SetAsked(budgets))
}

// signedIn notes whom a host takes us for, where gh's files do not tell, as
// with a token in the environment.
func (s *syncing) signedIn(host, login string) {
	host = strings.ToLower(host)
	if login == "" || s.d.Settings.Logins[host] != "" {
		return
	}
	logins := maps.Clone(s.d.Settings.Logins)
	if logins == nil {
		logins = map[string]string{}
	}
	logins[host] = login
	s.d.Settings.Logins = logins
}

// progress shows on a terminal how far a round is that takes longer than a second.
func (s *syncing) progress() (step func(done, of int), end func()) {
	screen, ok := s.env.err.(*folding) // only a terminal is folded
	if !ok {
		return func(int, int) {}, func() {}
	}
	f := screen.to
	began, shown := s.now(), false
	step = func(done, of int) {
		if shown = shown || s.now().Sub(began) > time.Second; shown {
			fmt.Fprintf(f, "\rReading what changed: %d of %d…\x1b[K", done, of)
		}
	}
	return step, func() {
		if shown {
			fmt.Fprint(f, "\r\x1b[K")
		}
	}
}

// watch asks again and again. Of several at once one asks, and the others stand
// by.
func (s *syncing) watch(ctx context.Context, every time.Duration) error {
	s.lanes = s.d.NewLanes(context.WithoutCancel(ctx), s.tellWatching)
	defer s.lanes.End()
	for n := 0; ; n++ {
		unlock, err := s.d.Store.TryLockWatch()
		if err == nil {
			defer unlock()
			break
		}
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		if n == 0 {
			s.line("another gh loop sync --watch asks already; this one stands by")
		}
		if !pause(ctx, every) {
			return nil
		}
	}
	s.line(fmt.Sprintf("asking every %v; Ctrl-C ends it", every))
	for {
		out, err := s.round(ctx)
		if ctx.Err() != nil || s.err != nil {
			return s.err
		}
		s.d.Drain(ctx)
		wait, err := s.report(out, err)
		if err = errors.Join(err, s.err); err != nil {
			return err
		}
		if !pause(ctx, max(every, wait)) {
			return nil
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// report tells what is wrong once, and once when it is over. wait is how long
// the host wants to be left alone; an error ends the watch.
func (s *syncing) report(out dispatch.Synced, err error) (wait time.Duration, fatal error) {
	now := map[string]string{} // what is wrong, by what is said when it is over
	for _, ref := range out.Hidden {
		now[ref.Short()+" is shown again"] = hidden(ref)
	}
	for _, err := range each(err) {
		var signIn *github.SignInError
		var offline *github.OfflineError
		var limit *github.LimitError
		switch {
		case errors.As(err, &signIn):
			return 0, err
		case errors.As(err, &offline):
			now[offline.Host+" is reached again"] = err.Error()
		case errors.As(err, &limit):
			now["the pause that "+limit.Host+" asked for is over"] = err.Error()
			wait = max(wait, limit.Until.Sub(s.now()))
		default:
			now["over: "+err.Error()] = err.Error()
		}
	}
	for key, text := range now {
		if s.said[key] == "" {
			s.line(text)
		}
	}
	for key := range s.said {
		if now[key] == "" {
			s.line(key)
		}
	}
	s.said = now
	return wait, nil
}

// each gives the errors that were joined, one by one.
func each(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, err := range joined.Unwrap() {
		out = append(out, each(err)...)
	}
	return out
}

// unheard keeps why something could not be printed. That is said once.
func (s *syncing) unheard(err error) {
	if s.err == nil {
		s.err = err
	}
}

// stamped prints a line of what goes on, with its time. The error says that nobody
// reads any more.
func (e *env) stamped(text string) error {
	if _, err := fmt.Fprintf(e.err, "%s  %s\n", e.now().Format("15:04:05"), clean(text)); errors.Is(err, syscall.EPIPE) {
		return err
	}
	return nil
}

func (s *syncing) line(text string) {
	if err := s.stamped(text); err != nil {
		s.unheard(err)
	}
}

// tellWatching leaves out what came before by another way.
func (s *syncing) tellWatching(r dispatch.Result) {
	if s.json {
		s.unheard(s.printResult(r))
		return
	}
	for _, o := range r.Outcomes {
		if o.Reason != loop.Duplicate {
			s.line(outcomeLine(r, o))
		}
	}
}
