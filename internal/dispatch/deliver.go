package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// deliver hands an event to one endpoint, or to the item's own session where
// the pull request cannot have one (rules 32, 34 and 35).
func (d *Loop) deliver(ctx context.Context, item, endpoint work.Ref, e event.Event, again bool) loop.Outcome {
	out, fallback := d.attempt(ctx, item, endpoint, e, again)
	if !fallback {
		return out
	}
	why := out
	out, _ = d.attempt(ctx, item, item, e, again)
	if out.Fate != loop.Delivered {
		return out
	}
	out.How, out.Reason, out.Message = loop.Fallback, why.Reason, why.Message
	if _, err := d.change(ctx, item, endpoint, func(s *work.Session) { s.Note(e.Delivery, e.Key, d.Now()) }); err != nil {
		out.Message = strings.TrimSpace(out.Message + "; " + err.Error())
	}
	return out
}

// attempt delivers under the endpoint's lock. fallback says that the event
// should go to the item's session instead, for the outcome's reason.
func (d *Loop) attempt(ctx context.Context, item, endpoint work.Ref, e event.Event, again bool) (out loop.Outcome, fallback bool) {
	out = loop.Outcome{Item: item, Endpoint: endpoint}
	unlock, err := d.reach(ctx, endpoint, again)
	if errors.Is(err, store.ErrLocked) { // its tree is being made, for one
		return held(out, loop.HarnessWaiting, err), false
	}
	if err != nil {
		return held(out, loop.TmuxSilent, err), false
	}
	defer unlock()
	r, err := d.Store.Find(item)
	switch {
	case errors.Is(err, store.ErrNotFound) && d.ended(item): // since it was chosen
		out.Fate, out.Reason = loop.Settled, loop.ClosedItem
		return out, false
	case err != nil:
		return held(out, loop.RecordDamaged, err), false
	}
	s := r.At(endpoint)
	switch {
	case s == nil || !s.Live(): // ended since it was chosen
		out.Reason = loop.ClosedEndpoint
		return out, !endpoint.Same(item)
	case loop.Seen(r, s, e):
		out.Fate, out.Reason = loop.Settled, loop.Duplicate
		return out, false
	}
	a := act{Loop: d, ctx: ctx, rec: r, s: s, out: out, again: again, news: news{
		id: e.Delivery, key: e.Key, kind: e.Name,
		text:  func(nonce string) string { return e.Message(endpoint, nonce) },
		learn: func(s *work.Session) { loop.Learn(s, e) },

		unasked: e.Kind == event.Check,
	}}
	fallback = a.run()
	return a.out, fallback
}

// reach locks an endpoint. What was held before is not waited for long, unless
// nobody waits for us: whoever has the endpoint takes it up afterwards.
func (d *Loop) reach(ctx context.Context, endpoint work.Ref, again bool) (unlock func(), err error) {
	if again && !d.unwatched {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s is busy: %w", endpoint.Short(), store.ErrLocked))
		defer cancel()
	}
	return d.Store.LockEndpoint(ctx, endpoint)
}

func held(out loop.Outcome, r loop.Reason, err error) loop.Outcome {
	out.Fate, out.Reason = loop.Held, r
	if err != nil {
		out.Message = err.Error()
	}
	return out
}

// news is what is handed over: an event, or the prompt of a start.
type news struct {
	id, key, kind string
	text          func(nonce string) string // "" starts without a prompt
	seen          string                    // what the text ends with, if not with the nonce
	learn         func(*work.Session)       // notes what the news tell of the session's subject
	unasked       bool                      // nobody who may speak stands behind them
}

func (n news) name() string {
	if n.id != "" {
		return n.id
	}
	return n.key
}

// act is one attempt to hand news to one endpoint whose lock is held.
type act struct {
	*Loop
	ctx  context.Context
	rec  *work.Record
	s    *work.Session
	news news
	out  loop.Outcome

	again bool          // the news were held before: an earlier try may have typed them
	told  *tmux.Listing // what the server said of all its panes, while that holds of this endpoint
	quiet bool          // whoever runs this tells the rings
	gate  chan struct{} // bounds how many sessions are made at once

	from  string // the clone that a fresh item's tree is made from, "" where it works
	nonce string // of the text that a start hands over
}

// run hands the news over in the way that the session's state asks for.
// It reports whether the item's session should get them instead.
func (a *act) run() (fallback bool) {
	h := a.s.Tmux
	if h == nil {
		return a.open(nil)
	}
	if h.Next == "" && h.Ready && h.Pane != "" && h.Program == "" {
		if a.paste(*h, true, "") != tmux.Refused {
			return false
		}
	}
	return a.look()
}

// look asks tmux for the session's state and goes on from there (rules 38 to 40).
func (a *act) look() (fallback bool) {
	first := ""
	if a.s.Tmux.Next != "" {
		first = a.s.Tmux.First
	}
	state, pane, err := a.state()
	switch state {
	case tmux.Unknown:
		a.out = held(a.out, loop.TmuxSilent, err)
		return false
	case tmux.Absent, tmux.Dead:
		return a.open(pane)
	}
	if first != "" && first == a.news.name() && pane.Token == a.s.Tmux.Token {
		// The caller that began this spawn was killed before it could write
		// that its first prompt was this event.
		a.done(loop.Spawned)
		return false
	}
	a.typeAt(*pane)
	return false
}

// typeAt types at a live pane of ours that is not known to listen yet.
func (a *act) typeAt(pane tmux.Pane) {
	h := *a.s.Tmux
	brackets := pane.Ready || pane.Asked
	switch {
	case pane.State == "waiting": // rule 51
		a.out = held(a.out, loop.HarnessWaiting, errors.New("it asks its user something, and is not typed at until that is answered"))
		return
	case pane.InputOff:
		a.out = held(a.out, loop.HarnessWaiting, errors.New("the pane's input is off"))
		return
	case h.Program != "" && pane.Command != h.Program:
		a.out = held(a.out, loop.HarnessWaiting, errors.New("another program is in front in the pane"))
		return
	case a.starts(h, pane):
		a.out = held(a.out, loop.HarnessWaiting, errors.New("the harness does not listen yet"))
		a.comeBack()
		return
	case !brackets && pane.InMode:
		a.out = held(a.out, loop.HarnessWaiting, errors.New("somebody reads in the pane's copy mode"))
		return
	}
	h.Session, h.Pane, h.Socket, h.ServerPID, h.ServerStart = pane.Session, pane.Pane, pane.Socket, pane.Identity.PID, pane.Start
	h.Ready = brackets // a hook that did not come until now is not waited for any more
	a.s.Tmux = &h
	if a.paste(h, brackets, h.Program) == tmux.Refused {
		a.out = held(a.out, loop.HarnessWaiting, errors.New("the pane changed while it was looked at"))
	}
}

// starts says whether a live pane's harness may still be starting.
func (d *Loop) starts(h work.Handle, pane tmux.Pane) bool {
	return h.Program == "" && !pane.Ready && d.young(h)
}

func (d *Loop) young(h work.Handle) bool {
	at, err := time.Parse(time.RFC3339, h.At)
	return err == nil && d.Now().Sub(at) < slowStart
}

// comeBack sees to it that an event which is held for a harness that starts, or
// that shows what was typed late, is taken up then, whatever else happens.
func (a *act) comeBack() {
	if a.news.learn == nil || a.unwatched {
		return
	}
	if err := a.Background(a.rec.Ref, a.s.Ref); err != nil {
		a.out.Message += "; it is taken up by the next event: " + err.Error()
	}
}

// paste types the news at a pane, and says what came of it. Refused means that
// nothing was typed; everything else is settled in the outcome. A harness that
// is not known to take bracketed pastes gets them on one line, as a newline
// would submit.
func (a *act) paste(h work.Handle, bracketed bool, front string) tmux.Verdict {
	p := a.typing(h, bracketed, front)
	srv := a.server(h.Socket)
	verdict, err := tmux.Missing, error(nil)
	if a.again { // an earlier try may have typed it and not submitted it
		verdict, err = srv.Finish(a.ctx, p)
	}
	typed := verdict == tmux.Missing && err == nil
	if typed {
		verdict, err = srv.Deliver(a.ctx, p)
	}
	var unsure *tmux.DeliverError
	if errors.As(err, &unsure) && !unsure.MayBePasted && !errors.Is(err, context.DeadlineExceeded) {
		return tmux.Refused // nothing was typed, and tmux is not hung: its state tells what to do
	}
	switch {
	case err != nil:
		a.out = held(a.out, loop.TmuxSilent, err)
		return tmux.Unseen
	case verdict == tmux.Delivered:
		a.done(loop.Pasted)
	case verdict == tmux.Unseen:
		a.out = held(a.out, loop.HarnessWaiting, errors.New("the text was not seen in the composer, and so was not submitted"))
		if typed { // else whoever typed it comes back
			a.comeBack()
		}
	}
	return verdict
}

func (a *act) typing(h work.Handle, bracketed bool, front string) tmux.Paste {
	sum := sha256.Sum256([]byte(h.Token + a.news.name() + a.news.key))
	nonce := hex.EncodeToString(sum[:4])
	adapter := a.Harnesses[a.harnessName()]
	p := tmux.Paste{
		Target: target(a.rec.Ref, a.s.Ref, &h), Nonce: nonce, Text: a.news.text(nonce), Bracketed: bracketed,
		Delay: adapter.SubmitDelay, Front: front, Delivery: a.news.name(), At: a.Now(),
	}
	switch {
	case a.looking:
		p.Settles = followBound
	case !a.s.Ref.Same(a.Asked):
		p.Settles = settles
	}
	p.Patience = patience + time.Duration(len(p.Text))*showsByte
	if a.news.seen != "" {
		p.Nonce = a.news.seen
	}
	switch adapter.Composer {
	case "":
		if adapter.Folded != "" {
			p.Composer = regexp.MustCompile(adapter.Folded)
		}
	case "none":
		p.NoLook = true
	default:
		p.Composer = regexp.MustCompile(adapter.Composer)
	}
	if !bracketed {
		p.Text = strings.ReplaceAll(p.Text, "\n", " ⏎ ")
	}
	return p
}

func (a *act) harnessName() string {
	if a.s.Harness != "" {
		return a.s.Harness
	}
	return a.rec.Harness
}

func (a *act) adapter() (harness.Adapter, error) {
	h, ok := a.Harnesses[a.harnessName()]
	if !ok {
		return harness.Adapter{}, errors.New("harness " + a.harnessName() + " is not configured: add [harness." + a.harnessName() + "] to the configuration")
	}
	return h, nil
}

// done notes that the news arrived. What arrived and could not be noted is
// still delivered; at worst it comes once more.
func (a *act) done(how loop.How) {
	a.out.Fate, a.out.How = loop.Delivered, how
	a.out.TmuxTarget = a.s.TmuxTarget
	title := a.s.Title
	err := a.save(func(s *work.Session) {
		if a.news.learn != nil {
			s.Note(a.news.id, a.news.key, a.Now())
			a.news.learn(s)
		}
	})
	if err != nil {
		a.out.Message = "delivered, but not noted: " + err.Error()
	}
	if how == loop.Pasted && a.s.Title != title { // who spawns tells the ring anyway
		a.ring(a.ctx, a.rec.Ref)
	}
}

// save writes what this attempt learnt about the session's handle and
// conversation, together with fn's change, into the record.
func (a *act) save(fn func(*work.Session)) error {
	r, err := a.change(a.ctx, a.rec.Ref, a.s.Ref, func(s *work.Session) {
		if a.s.HarnessSessionID == "" && s.HarnessSessionID != "" && sameSpawn(s.Tmux, a.s.Tmux) {
			a.s.HarnessSessionID = s.HarnessSessionID // its harness's hook told it meanwhile
		}
		s.Tmux, s.TmuxTarget, s.Tree = a.s.Tmux, a.s.TmuxTarget, a.s.Tree
		s.Harness, s.Cwd, s.Declined, s.CreatedAt = a.s.Harness, a.s.Cwd, a.s.Declined, a.s.CreatedAt
		s.HarnessSessionID, s.FormerSessionIDs = a.s.HarnessSessionID, a.s.FormerSessionIDs
		fn(s)
	})
	if err != nil {
		return err
	}
	if s := r.At(a.s.Ref); s != nil {
		a.rec, a.s = r, s
	}
	return nil
}

// sameSpawn says whether two handles are of one start of a harness.
func sameSpawn(a, b *work.Handle) bool {
	if a == nil || b == nil {
		return false
	}
	last := func(h *work.Handle) string {
		if h.Next != "" {
			return h.Next
		}
		return h.Token
	}
	return last(a) == last(b)
}
