package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Ask asks one host about what is watched there. It may give both what was seen
// and the error that cut it short.
type Ask func(ctx context.Context, host string, ws []event.Watched) ([]event.Seen, error)

// Synced is what one round did.
type Synced struct {
	Watched int // how many things were asked about
	Found   int // how many events that gave
	Hidden  []work.Ref
}

// Sync asks GitHub once what is new about the live items that refs name, or
// all, and hands every event that it finds to lanes, as a webhook would. A
// position moves on only when everything before it is in the inbox, so that
// whatever happens nothing is missed. Rounds of several processes follow each
// other.
func (d *Loop) Sync(ctx context.Context, refs []work.Ref, ask Ask, lanes *Lanes) (Synced, error) {
	var out Synced
	unlock, err := d.Store.LockRound(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	ws, err := d.watched(refs)
	errs := []error{err}
	given := map[string]func() error{}
	for range 3 { // what a round finds on an item is asked about in the same call
		var linked []event.Watched
		for _, host := range hosts(ws) {
			of := slices.DeleteFunc(slices.Clone(ws), func(w event.Watched) bool { return w.Ref.Host != host })
			out.Watched += len(of)
			seen, err := ask(ctx, host, of)
			r := taking{Loop: d, ctx: ctx, lanes: lanes, out: &out, given: given}
			errs = append(errs, err, r.all(seen))
			if err == nil {
				linked = append(linked, r.linked...)
			}
		}
		if ws = linked; len(ws) == 0 {
			break
		}
	}
	return out, errors.Join(errs...)
}

func hosts(ws []event.Watched) []string {
	var out []string
	for _, w := range ws {
		if !slices.Contains(out, w.Ref.Host) {
			out = append(out, w.Ref.Host)
		}
	}
	return out
}

// watched gives what is to be asked about: every live item, paused ones too,
// and every pull request on its record, ended ones too, as it may reopen. A ref
// that is on no live record is asked about when it is named.
func (d *Loop) watched(refs []work.Ref) ([]event.Watched, error) {
	records, damaged, err := d.Store.Live()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, b := range damaged {
		errs = append(errs, b)
	}
	var out []event.Watched
	for _, ref := range refs {
		if !slices.ContainsFunc(records, func(r *work.Record) bool { return r.At(ref) != nil }) {
			r, err := d.Store.FindClosed(ref)
			if err != nil {
				r = &work.Record{Session: work.Session{Ref: ref}}
			}
			records = append(records, r)
		}
	}
	for _, r := range records {
		if len(refs) > 0 && !slices.ContainsFunc(refs, func(ref work.Ref) bool { return r.At(ref) != nil }) {
			continue
		}
		ws, err := d.watchedOf(r)
		out, errs = append(out, ws...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// watchedOf fails where it is not known how far GitHub was read: taking that
// for the first sight would lose what came since.
func (d *Loop) watchedOf(r *work.Record) ([]event.Watched, error) {
	facts, err := d.Store.Portable(r.Ref)
	if err != nil {
		return nil, err
	}
	read := func(ref work.Ref) (p event.Position, err error) {
		if raw, ok := facts.Read[ref.Key()]; ok {
			err = json.Unmarshal(raw, &p)
		}
		return p, err
	}
	item, err := read(r.Ref)
	var back string
	_ = json.Unmarshal(facts.Read[cameBack], &back)
	var out []event.Watched
	for _, s := range r.Endpoints() {
		at, perr := read(s.Ref)
		if err != nil || perr != nil {
			return nil, fmt.Errorf("how far %s was read cannot be told: %w; mend its file in portable/, or remove it and everything there counts as read", r.Ref, errors.Join(err, perr))
		}
		w := event.Watched{Item: r.Ref, Ref: s.Ref, NodeID: s.NodeID, Read: at, Since: item.Since, Birth: max(s.CreatedAt, back)}
		w.ByHand = s.Linkage != nil && s.Linkage.Source == work.FromPerson
		if s.Tree != "" && s.Live() {
			if branch := tree.Head(s.Tree); branch != "" && !tree.Own(branch) && (s.Head == nil || s.Head.Branch != branch) {
				w.Branch = branch
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// itemsAtOnce is how many items are dealt with beside each other: most of the
// time each waits for the disk.
const itemsAtOnce = 4

// taking takes what one host answered.
type taking struct {
	*Loop
	ctx   context.Context
	lanes *Lanes

	mu     sync.Mutex // of what follows
	out    *Synced
	given  map[string]func() error // by delivery: a thing on two records is told once
	linked []event.Watched
}

func (t *taking) all(seen []event.Seen) error {
	var errs []error
	var all sync.WaitGroup
	places := make(chan struct{}, itemsAtOnce)
	for len(seen) > 0 {
		n := 1
		for n < len(seen) && seen[n].Item.Same(seen[0].Item) {
			n++
		}
		of := seen[:n]
		seen = seen[n:]
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			err := t.item(of)
			t.mu.Lock()
			defer t.mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// item takes what was seen about the things on one record.
func (t *taking) item(seen []event.Seen) error {
	r, err := t.learn(seen)
	if err != nil {
		return err
	}
	read := map[string]event.Position{}
	for _, s := range seen {
		if s.Hidden {
			t.mu.Lock()
			t.out.Hidden = append(t.out.Hidden, s.Ref)
			t.mu.Unlock()
			continue
		}
		if r != nil {
			t.link(r, s)
		}
		if err = t.take(s); err != nil {
			break
		}
		if !same(s.Read, s.Next) {
			read[s.Ref.Key()] = s.Next
		}
	}
	if r == nil || len(read) == 0 {
		return err
	}
	_, perr := t.Store.ChangePortable(t.ctx, r.Ref, func(f *store.Facts) error {
		for key, p := range read {
			b, err := json.Marshal(p)
			if err != nil {
				return err
			}
			if f.Read == nil {
				f.Read = map[string]json.RawMessage{}
			}
			f.Read[key] = b
		}
		return nil
	})
	return errors.Join(err, perr)
}

func same(a, b event.Position) bool {
	return slices.Equal(a.Seen, b.Seen) && a.Print == b.Print && a.Since == b.Since && a.Floor == b.Floor && a.State == b.State && a.Head == b.Head && a.Checks == b.Checks
}

// take hands the events of one thing over, oldest first.
func (t *taking) take(s event.Seen) error {
	for _, f := range s.Found {
		if f.Past {
			e, err := event.Read(f.Body, f.Name, f.Delivery)
			if err != nil {
				continue
			}
			if verb, _ := t.Settings.Order(e); verb == "" {
				continue
			}
		}
		if err := t.give(f)(); err != nil {
			return fmt.Errorf("%s: %w", s.Ref, err)
		}
	}
	return nil
}

// give hands an event over, for whoever calls it first; all hear how it went.
func (t *taking) give(f event.Found) func() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given[f.Delivery] == nil {
		t.out.Found++
		t.given[f.Delivery] = sync.OnceValue(func() error { return t.lanes.Take(t.ctx, f.Name, f.Delivery, f.Body) })
	}
	return t.given[f.Delivery]
}

// learn writes down what things are called now, their ids and their heads, and
// gives the item's record: nil if it has none.
func (t *taking) learn(seen []event.Seen) (*work.Record, error) {
	item := seen[0].Item
	apply := func(r *work.Record) (changed bool) {
		for _, s := range seen {
			if at := r.At(s.Ref); at != nil && s.Thing.NodeID != "" {
				changed = know(at, s.Thing) || changed
			}
		}
		return changed
	}
	r, err := t.Store.Find(item)
	if errors.Is(err, store.ErrNotFound) {
		r, err = t.Store.FindClosed(item)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || !apply(r) {
		return r, err
	}
	return t.Store.Change(t.ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, store.ErrNotFound
		}
		apply(r)
		return r, nil
	})
}

// know notes what GitHub says of a session's issue or pull request, and says
// whether that is new.
func know(s *work.Session, g event.Thing) bool {
	before := *s
	s.NodeID, s.Title = g.NodeID, event.Line(g.Title, 300)
	if s.MovedTo = (work.Ref{}); !g.Ref.Same(s.Ref) {
		s.MovedTo = g.Ref
	}
	if g.Head != nil && (s.Head == nil || *s.Head != *g.Head) {
		s.Head = g.Head
	}
	return s.NodeID != before.NodeID || s.Title != before.Title || s.MovedTo != before.MovedTo || s.Head != before.Head
}

// link records what GitHub says about which pull request delivers which item,
// in both directions: pull requests that close the item or have a head of ours,
// and other items that a listed pull request names (decision D6: both get it).
func (t *taking) link(r *work.Record, s event.Seen) {
	for _, pr := range s.Thing.Pulls {
		if pr.State == "OPEN" && r.At(pr.Ref) == nil && r.Live() {
			t.record(r.Ref, pr.Thing, pr.Source, s.Since)
		}
	}
	for _, named := range s.Thing.Refs {
		if named.Ref.Same(r.Ref) || named.Ref.Same(s.Thing.Ref) || s.Thing.State != "OPEN" {
			continue
		}
		if other, err := t.Store.Find(named.Ref); err == nil && other.At(s.Ref) == nil && other.At(s.Thing.Ref) == nil {
			t.record(other.Ref, s.Thing, loop.Strongest([]event.Named{named}, named.Ref), "")
		}
	}
}

func (t *taking) record(item work.Ref, pr event.Thing, source work.Source, since string) {
	at, isNew := t.at(), false
	_, err := t.Store.Change(t.ctx, item, func(r *work.Record) (*work.Record, error) {
		if r == nil || !r.Live() {
			return nil, nil
		}
		s := &work.Session{Ref: pr.Ref, Harness: r.Harness, Status: work.Active, CreatedAt: at, Linkage: &work.Linkage{Source: source, At: at}}
		know(s, pr)
		var err error
		if isNew, err = r.Link(s); err != nil || !isNew {
			return nil, err
		}
		return r, nil
	})
	line := journal.Line{What: "linked", Item: item.String(), Endpoint: pr.Ref.String(), Reason: string(source)}
	if err != nil {
		line.What, line.Reason, line.Message = "error", "", "the pull request could not be recorded: "+err.Error()
	}
	if err != nil || isNew {
		t.note(line)
	}
	if isNew {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.linked = append(t.linked, event.Watched{Item: item, Ref: pr.Ref, NodeID: pr.NodeID, Since: since, Birth: at})
	}
}

// cameBack stands among the positions of an item, for when it did.
const cameBack = "since"

// readAnew forgets how far GitHub was read about an item that ended and came
// back: what was said meanwhile is for its session to read.
func (d *Loop) readAnew(ctx context.Context, item work.Ref) {
	_, err := d.Store.ChangePortable(ctx, item, func(f *store.Facts) error {
		at, err := json.Marshal(d.at())
		if len(f.Read) > 0 {
			f.Read = map[string]json.RawMessage{cameBack: at}
		}
		return err
	})
	if err != nil {
		d.note(journal.Line{What: "error", Item: item.String(), Message: "what was said while it was closed may come as news: " + err.Error()})
	}
}
