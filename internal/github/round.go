package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Round asks once about everything that is watched on the client's host, in
// two steps: for the prints of all, and for the details of those that changed.
// The answer holds what was seen, in the order of ws, also when an error cut
// the round short; what is missing is asked for by the next one. progress hears
// how many of how many things were read.
func (c *Client) Round(ctx context.Context, ws []event.Watched, progress func(done, of int)) ([]event.Seen, error) {
	r := round{Client: c, ctx: ctx, patience: 3, progress: progress, things: map[string]*thing{}}
	for _, w := range ws {
		r.add(w)
	}
	err := r.prints()
	if err == nil {
		err = r.details(r.changed())
	}
	var out []event.Seen
	for _, w := range ws {
		if s, ok := r.seen(w); ok {
			out = append(out, s)
		}
	}
	return out, err
}

type round struct {
	*Client
	ctx      context.Context
	patience int // how many answers that make no sense are asked for again
	progress func(done, of int)
	things   map[string]*thing
	order    []*thing
	branches []target
	pulls    map[string][]*node // open ones with a head that was looked for, by "repository branch"
	skew     time.Duration
}

// thing is one issue or pull request, however many records it is on.
type thing struct {
	key     string
	id      string
	ref     work.Ref
	watched []event.Watched
	print   *node // what the first step answered
	node    *node // the second
	at      time.Time
	hidden  bool
}

func (r *round) add(w event.Watched) {
	if w.Branch != "" {
		t := target{w.Ref, w.Branch}
		if !slices.Contains(r.branches, t) {
			r.branches = append(r.branches, t)
		}
	}
	t := r.things[thingKey(w)]
	if t == nil {
		t = &thing{key: thingKey(w), id: w.NodeID, ref: w.Ref}
		r.things[t.key] = t
		r.order = append(r.order, t)
	}
	t.watched = append(t.watched, w)
}

func thingKey(w event.Watched) string {
	if w.NodeID != "" {
		return w.NodeID
	}
	return w.Ref.Key()
}

// prints is the first step.
func (r *round) prints() error {
	r.pulls = map[string][]*node{}
	for batch := range slices.Chunk(r.order, printsAtOnce) {
		branches := r.branches
		r.branches = nil
		if err := r.printsOf(batch, branches); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) printsOf(batch []*thing, branches []target) error {
	var byID, byName []*thing
	for _, t := range batch {
		if t.id != "" {
			byID = append(byID, t)
		} else {
			byName = append(byName, t)
		}
	}
	var ids [][]string
	var named []target
	for list := range slices.Chunk(byID, idsAtOnce) {
		ids = append(ids, idsOf(list))
	}
	for _, t := range byName {
		named = append(named, target{ref: t.ref})
	}
	query, vars := printQuery(ids, named, branches)
	a, err := r.ask(r.ctx, query, vars)
	if r.again(err) {
		if half := len(batch) / 2; half > 0 {
			return errors.Join(r.printsOf(batch[:half], branches), r.printsOf(batch[half:], nil))
		}
		return r.printsOf(batch, branches)
	}
	if err != nil {
		return err
	}
	r.clock(a)
	for i, list := range ids {
		r.fill(a, fmt.Sprintf("n%d", i), byID[i*idsAtOnce:i*idsAtOnce+len(list)], func(t *thing, n *node) { t.print = n })
	}
	for i, t := range byName {
		r.fillNamed(a, fmt.Sprintf("r%d", i), t)
	}
	for i, b := range branches {
		r.fillBranch(a, fmt.Sprintf("b%d", i), b)
	}
	return nil
}

func idsOf(list []*thing) []string {
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.id
	}
	return ids
}

// again says whether to ask once more, after an answer that was none for a
// reason that may pass. What was too much at once is asked in halves.
func (r *round) again(err error) bool {
	var bad *AnswerError
	if !errors.As(err, &bad) || !bad.Temporary || r.patience == 0 {
		return false
	}
	r.patience--
	select {
	case <-r.ctx.Done():
		return false
	case <-time.After(300 * time.Millisecond):
		return true
	}
}

// clock learns how much our clock is ahead of the host's.
func (r *round) clock(a answer) {
	if !a.At.IsZero() {
		r.skew = r.Now().Sub(a.At)
		if r.skew.Abs() < 2*time.Second {
			r.skew = 0
		}
	}
}

// fill reads the nodes that an alias answered for a list of things. A node that
// is not there says nothing, unless GitHub says of it that it is not there.
func (r *round) fill(a answer, alias string, list []*thing, put func(*thing, *node)) {
	var raw []json.RawMessage
	_ = json.Unmarshal(a.Data[alias], &raw)
	for i, t := range list {
		if i < len(raw) {
			if n := readNode(raw[i]); n != nil {
				t.id, t.at = n.ID, a.At
				n.Partial = n.Partial || a.partial(alias, i)
				put(t, n)
				continue
			}
		}
		t.hidden = a.denies(alias, i)
	}
}

func (r *round) fillNamed(a answer, alias string, t *thing) {
	var repo struct {
		Thing json.RawMessage `json:"issueOrPullRequest"`
	}
	_ = json.Unmarshal(a.Data[alias], &repo)
	if n := readNode(repo.Thing); n != nil {
		t.id, t.at, t.print = n.ID, a.At, n
		n.Partial = n.Partial || a.partial(alias, "issueOrPullRequest")
		return
	}
	t.hidden = a.denies(alias) || a.denies(alias, "issueOrPullRequest")
}

func (r *round) fillBranch(a answer, alias string, b target) {
	var repo struct {
		Pulls struct {
			Nodes []json.RawMessage `json:"nodes"`
		} `json:"pullRequests"`
	}
	_ = json.Unmarshal(a.Data[alias], &repo)
	for _, raw := range repo.Pulls.Nodes {
		// A fork's branch and the default branch are named by anybody.
		if n := readNode(raw); n != nil && n.pull() && !n.Fork && n.Branch == b.branch && n.Branch != n.defaultBranch() {
			r.pulls[b.key()] = append(r.pulls[b.key()], n)
		}
	}
}

// partial says whether something below a path was not answered for a reason
// that may pass. What is forbidden stays so, and is as if it were not there.
func (a *answer) partial(path ...any) bool {
	for _, p := range a.Errors {
		last := ""
		if len(p.Path) > 0 {
			last = fmt.Sprint(p.Path[len(p.Path)-1])
		}
		if p.Type != "FORBIDDEN" && last != "databaseId" && (len(p.Path) == 0 || within(p.Path, path) && len(p.Path) > len(path)) {
			return true
		}
	}
	return false
}

// denies says whether GitHub states that there is nothing at a path.
func (a *answer) denies(path ...any) bool {
	for _, p := range a.Errors {
		if p.Type == "NOT_FOUND" && within(p.Path, path) && len(p.Path) == len(path) {
			return true
		}
	}
	return false
}

func within(path, prefix []any) bool {
	if len(path) < len(prefix) {
		return false
	}
	for i := range prefix {
		if fmt.Sprint(path[i]) != fmt.Sprint(prefix[i]) {
			return false
		}
	}
	return true
}

// changed gives the things of which somebody has not read what is there now.
func (r *round) changed() []*thing {
	var out []*thing
	for _, t := range r.order {
		if t.print == nil {
			continue
		}
		now := t.print.print(t.at)
		if slices.ContainsFunc(t.watched, func(w event.Watched) bool { return now == "" || w.Read.Print != now }) {
			out = append(out, t)
		}
	}
	return out
}

// details is the second step.
func (r *round) details(list []*thing) error {
	done := 0
	for batch := range slices.Chunk(list, detailsAtOnce) {
		if err := r.detailsOf(batch); err != nil {
			return err
		}
		done += len(batch)
		r.progress(done, len(list))
	}
	return nil
}

func (r *round) detailsOf(batch []*thing) error {
	a, err := r.ask(r.ctx, detailQuery, map[string]any{"ids": idsOf(batch)})
	if r.again(err) {
		if half := len(batch) / 2; half > 0 {
			return errors.Join(r.detailsOf(batch[:half]), r.detailsOf(batch[half:]))
		}
		return r.detailsOf(batch)
	}
	if err != nil {
		return err
	}
	r.clock(a)
	r.fill(a, "nodes", batch, func(t *thing, n *node) { t.node = n })
	for _, t := range batch {
		if t.node != nil {
			if err := r.further(t); err != nil {
				t.node = nil // half read is not read
				return err
			}
		}
	}
	return nil
}

// seen is what the round tells about one watched thing.
func (r *round) seen(w event.Watched) (event.Seen, bool) {
	t := r.things[thingKey(w)]
	s := event.Seen{Watched: w, Next: w.Read, Hidden: t.hidden}
	n := t.node
	if n == nil {
		n = t.print
	}
	if n == nil {
		return s, t.hidden
	}
	s.Thing = n.thing(r.host)
	for _, p := range r.pulls[target{w.Ref, w.Branch}.key()] {
		s.Thing.Pulls = append(s.Thing.Pulls, event.Linked{Thing: p.thing(r.host), Source: work.FromBranch, Created: p.CreatedAt})
	}
	if t.node != nil {
		s.Found, s.Next = t.node.news(w, r.host, t.at, r.skew)
	}
	return s, true
}

func (t target) key() string { return strings.ToLower(t.ref.Repository().String()) + " " + t.branch }
