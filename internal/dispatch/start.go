package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// StartRequest is what somebody asks for with start. Empty fields keep what
// the record says, or the configured default for a new one.
type StartRequest struct {
	Ref     work.Ref
	Harness string
	Cwd     string // absolute: where it works from now on
	Here    string // absolute: where a new item works
	Prompt  string // told in any case
	Opening string // told only to a session that has to be opened
	Mode    work.Mode
	Tree    bool // a new item works in a tree of its own, made from Here
	NoSpawn bool
}

// Started is what became of a start.
type Started struct {
	Record *work.Record
	New    bool
	loop.Outcome
}

// Start makes an item's record and session, or brings back what the ref has:
// paused becomes active, dead is respawned, closed is reopened. A pull request
// that an item's record lists is brought back there, and never becomes an item
// itself. That somebody started it is remembered.
func (d *Loop) Start(ctx context.Context, q StartRequest) (Started, error) {
	item, known, err := d.startsOn(q.Ref)
	if err == nil && !known && !q.NoSpawn {
		err = d.installed(cmp.Or(q.Harness, d.Config.Routing.DefaultHarness))
	}
	if err != nil {
		return Started{}, err
	}
	if err := d.remember(ctx, q.Ref, loop.Start); err != nil {
		return Started{}, err
	}
	return d.start(ctx, item, q)
}

// installed refuses an agent that a new item cannot be started with, while
// there is nothing yet that would stay behind.
func (d *Loop) installed(harness string) error {
	a, ok := d.Harnesses[harness]
	if !ok {
		return d.unknownHarness(harness)
	}
	return a.Present()
}

// startsOn finds the item on whose record a ref is started: the one live
// record that lists it, else its own. known says whether there is one.
func (d *Loop) startsOn(ref work.Ref) (item work.Ref, known bool, err error) {
	if _, err := d.Store.Find(ref); !errors.Is(err, store.ErrNotFound) {
		return ref, true, nil //nolint:nilerr // a damaged record is refused by the change
	}
	listing, _, err := d.Store.Listing(ref)
	switch {
	case err != nil:
		return ref, false, err
	case len(listing) > 1:
		return ref, true, fmt.Errorf("%s is on the records of %s and %s: unlink it from one of them first", ref, listing[0].Ref, listing[1].Ref)
	case len(listing) == 1:
		return listing[0].Ref, true, nil
	}
	return ref, false, nil
}

func (d *Loop) start(ctx context.Context, item work.Ref, q StartRequest) (Started, error) {
	var out Started
	ended := false
	if q.Harness != "" {
		if _, ok := d.Harnesses[q.Harness]; !ok {
			return out, d.unknownHarness(q.Harness)
		}
	}
	r, err := d.Store.Change(ctx, item, func(r *work.Record) (*work.Record, error) {
		if out.New = r == nil; out.New {
			r = &work.Record{Session: work.Session{Ref: item, Harness: d.Config.Routing.DefaultHarness, Cwd: q.Here, Status: work.Active, CreatedAt: d.at()}}
		}
		ended = !r.Live()
		return r, d.bring(r, q, out.New)
	})
	if err != nil {
		return out, err
	}
	if ended {
		d.readAnew(ctx, item)
	}
	out.Record = r
	out.Item, out.Endpoint, out.TmuxTarget = r.Ref, q.Ref, r.At(q.Ref).TmuxTarget
	if q.NoSpawn || !loop.Endpoint(r, q.Ref, d.Settings).Ref.Same(q.Ref) {
		return out, nil
	}
	if err := d.launch(ctx, r, q, &out); err != nil {
		return out, err
	}
	d.announce(ctx, out.Outcome)
	if out.Record, err = d.Store.Find(r.Ref); err != nil {
		return out, err
	}
	return out, nil
}

func (d *Loop) unknownHarness(name string) error {
	known := strings.Join(slices.Sorted(maps.Keys(d.Harnesses)), ", ")
	return fmt.Errorf("harness %q is not known: use one of %s, or add [harness.%s] to the configuration", name, known, name)
}

// bring changes a record as a start asks, and makes the endpoint live.
func (d *Loop) bring(r *work.Record, q StartRequest, isNew bool) error {
	s := r.At(q.Ref)
	if s == nil {
		return d.notHere(q.Ref)
	}
	loop.Obey(r, q.Ref, loop.Start)
	if q.Harness != "" && q.Harness != s.Harness {
		if !isNew && s.HarnessSessionID != "" {
			s.SetConversation("") // another program cannot resume it
		}
		s.Harness = q.Harness
	}
	if _, ok := d.Harnesses[s.Harness]; !ok && s.Harness != "" {
		return d.unknownHarness(s.Harness)
	}
	switch {
	case q.Tree:
		return d.bringTree(r, s, q.Mode, isNew)
	case q.Cwd != "":
		s.Cwd, s.Tree = q.Cwd, ""
	}
	if q.Mode != "" {
		r.SessionPerPr = q.Mode
	}
	return nil
}

// bringTree says on an item's record that it works in a tree of its own, which
// is made before its session is.
func (d *Loop) bringTree(r *work.Record, s *work.Session, m work.Mode, isNew bool) error {
	path, err := d.Trees.Path(s.Ref)
	if err != nil {
		return err
	}
	switch {
	case !s.Ref.Same(r.Ref):
		return fmt.Errorf("%s has a tree of its own without being told: start it without --tree", s.Ref.Short())
	case !isNew && s.Cwd != path && s.TmuxTarget != "":
		return fmt.Errorf("%s works in %q already, and its conversation belongs there: gh loop reset %s forgets that", s.Ref.Short(), s.Cwd, s.Ref.Short())
	}
	s.Cwd, s.Tree = path, path
	if m != "" {
		r.SessionPerPr = m
	}
	return nil
}

// launch sees to it that the endpoint's session lives.
func (d *Loop) launch(ctx context.Context, r *work.Record, q StartRequest, out *Started) error {
	unlock, err := d.lock(ctx, q.Ref)
	if err != nil {
		return err
	}
	defer unlock()
	if r, err = d.Store.Find(r.Ref); err != nil {
		return err
	}
	s := r.At(q.Ref)
	if s == nil {
		return d.notHere(q.Ref)
	}
	prompt := q.Prompt
	if prompt == "" {
		prompt = q.Opening
	}
	a := act{Loop: d, ctx: ctx, rec: r, s: s, out: out.Outcome, news: news{
		kind: "start", text: func(string) string { return prompt }, seen: lastWords(prompt),
	}}
	if q.Tree {
		a.from = q.Here
	}
	if q.Prompt == "" {
		a.revive()
	} else {
		a.run()
	}
	out.Outcome = a.out
	switch {
	case a.out.Fate == loop.Held, a.out.Fate == loop.Failed, a.out.Fate == "" && a.out.Reason != "":
		return fmt.Errorf("%s: %s", a.out.Reason, a.out.Message)
	}
	return nil
}

// lastWords are what a typed prompt is known by on the screen: its last 32
// characters, not counting the blanks between words.
func lastWords(prompt string) string {
	text := []rune(strings.Join(strings.Fields(event.Clean(prompt)), " "))
	from := len(text)
	for n := 0; from > 0 && n < 32; from-- {
		if text[from-1] != ' ' {
			n++
		}
	}
	return string(text[from:])
}

// revive brings a session back without telling its harness anything; one that
// lives is left alone.
func (a *act) revive() {
	state, pane, err := a.state()
	switch state {
	case tmux.Unknown:
		a.out = held(a.out, loop.TmuxSilent, err)
	case tmux.Live:
		a.out.Fate, a.out.TmuxTarget = loop.Settled, pane.Name
		if err := a.settle(); err != nil {
			a.out.Message = err.Error()
		}
	default:
		a.open(pane)
	}
}

// Link records that a pull request delivers an item. It reports whether that is new.
func (d *Loop) Link(ctx context.Context, pr, item work.Ref) (bool, error) {
	if pr.Same(item) {
		return false, fmt.Errorf("%s cannot deliver itself", pr)
	}
	isNew := false
	_, err := d.Store.Change(ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, d.notHere(item)
		}
		if !r.Live() {
			return nil, fmt.Errorf("%s has ended: gh loop start %s brings it back", item, item.Short())
		}
		at := d.at()
		var err error
		isNew, err = r.Link(&work.Session{Ref: pr, Harness: r.Harness, Status: work.Active, CreatedAt: at, Linkage: &work.Linkage{Source: work.FromPerson, At: at}})
		if s := r.PullRequest(pr); s != nil && s.Linkage != nil {
			s.Linkage.Stranger = false // a person says that it delivers the item
		}
		return r, err
	})
	if err == nil && isNew {
		d.note(journal.Line{What: "linked", Item: item.String(), Endpoint: pr.String(), Reason: string(work.FromPerson)})
	}
	return isNew, err
}

// Unlink takes a pull request off an item's record. Its session, if it has
// one, is closed as retention says.
func (d *Loop) Unlink(ctx context.Context, pr, item work.Ref) (bool, error) {
	if _, err := d.Store.Find(item); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return false, d.notHere(item)
		}
		return false, err
	}
	r, err := d.change(ctx, item, pr, func(s *work.Session) { s.Close(work.ByPerson) })
	if err != nil {
		return false, err
	}
	if r.PullRequest(pr) != nil {
		if err := d.end(ctx, item, pr, false); err != nil {
			return false, err
		}
		d.removeTrees(ctx, r, pr, false)
	}
	had := false
	_, err = d.Store.Change(ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, d.notHere(item)
		}
		if had = r.Unlink(pr); !had {
			return nil, nil
		}
		return r, nil
	})
	if err == nil && had {
		d.note(journal.Line{What: "unlinked", Item: item.String(), Endpoint: pr.String()})
		d.ring(ctx, item)
	}
	return had, err
}

// notHereError says that no record has a ref.
type notHereError struct{ ref work.Ref }

func (e *notHereError) Error() string {
	return fmt.Sprintf("%s is not worked on here: gh loop start %s begins, gh loop list shows what is", e.ref.Short(), e.ref.Short())
}

func (d *Loop) notHere(item work.Ref) error { return &notHereError{item} }

func isNotHere(err error) bool {
	var e *notHereError
	return errors.As(err, &e)
}
