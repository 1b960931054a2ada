package dispatch

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// Lanes handles accepted events beside each other, and those that may concern
// one conversation one after the other, in the order in which they were given
// (rule 37). Make it with NewLanes.
type Lanes struct {
	loop *Loop
	ctx  context.Context
	told func(Result)

	tell  sync.Mutex
	mu    sync.Mutex // of what follows
	queue []*lane    // in the order of arrival
	ours  map[uint64]bool
	taken uint64          // how often Take began
	under map[uint64]bool // which of these are under way
	free  int
	left  bool // something stayed in the inbox because there was too much
	ended bool
	quiet *sync.Cond // the queue shrank
}

// lane is an event that waits for its turn. What arrived before it may still be
// under way in another Take: of those that had begun by after, all must have
// ended before it is its turn.
type lane struct {
	*Accepted
	keys    []string
	after   uint64
	running bool
}

// Bounds of Lanes: how many events are handled at a time, most of which wait
// for tmux, and how many are kept in memory; further ones stay in the inbox.
const (
	lanesBeside = 8
	lanesWait   = 256
)

// NewLanes handles what is given to Take until End. What is under way is not
// broken off when the caller's own context ends: ctx should outlive it. told
// hears of each event that was handled, from one goroutine at a time.
func (d *Loop) NewLanes(ctx context.Context, told func(Result)) *Lanes {
	l := &Lanes{loop: d, ctx: ctx, told: told, ours: map[uint64]bool{}, under: map[uint64]bool{}, free: lanesBeside}
	l.quiet = sync.NewCond(&l.mu)
	return l
}

// Take accepts one webhook body, and has it handled soon and in its turn. The
// error is that of Accept: with none the event is ours, and on disk.
// Many may call it at once.
func (l *Lanes) Take(ctx context.Context, name, delivery string, body []byte) error {
	l.mu.Lock()
	l.taken++
	me := l.taken
	l.under[me] = true
	l.mu.Unlock()
	a, err := l.loop.Accept(ctx, name, delivery, body)
	var keys []string
	if err == nil && a.ticket != nil {
		keys = l.loop.conversations(a.event)
	}
	l.mu.Lock()
	delete(l.under, me)
	if keys != nil {
		l.add(a, keys)
	}
	l.start()
	l.mu.Unlock()
	if err == nil && a.ticket == nil {
		l.say(l.loop.result(a.event, a.out...))
	}
	return err
}

// add puts an event where it belongs in the order of arrival. mu is held.
func (l *Lanes) add(a *Accepted, keys []string) {
	if l.ended || len(l.queue) >= lanesWait {
		a.ticket.Release()
		l.left = true
		return
	}
	l.ours[a.ticket.Seq] = true
	at, _ := slices.BinarySearchFunc(l.queue, a.ticket.Seq, func(q *lane, seq uint64) int { return cmp.Compare(q.ticket.Seq, seq) })
	l.queue = slices.Insert(l.queue, at, &lane{Accepted: a, keys: keys, after: l.taken})
}

// start begins what nothing before it keeps waiting. mu is held.
func (l *Lanes) start() {
	before := map[string]bool{}
	first := uint64(math.MaxUint64)
	for n := range l.under {
		first = min(first, n)
	}
	for _, q := range l.queue {
		if l.free == 0 || l.ended {
			return
		}
		if !q.running && q.after < first && !slices.ContainsFunc(q.keys, func(k string) bool { return before[k] }) {
			q.running = true
			l.free--
			go l.run(q)
		}
		for _, k := range q.keys {
			before[k] = true
		}
	}
}

func (l *Lanes) run(q *lane) {
	r := l.loop.handleBeside(l.ctx, q.Accepted, func(seq uint64) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.ours[seq]
	})
	l.say(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(have *lane) bool { return have == q })
	delete(l.ours, q.ticket.Seq)
	l.free++
	l.start()
	l.quiet.Broadcast()
}

func (l *Lanes) say(r Result) {
	l.tell.Lock()
	defer l.tell.Unlock()
	l.told(r)
}

// Idle says whether there is nothing to do; left, whether something stayed in
// the inbox, for Drain, since that was last told.
func (l *Lanes) Idle() (idle, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		return false, false
	}
	left, l.left = l.left, false
	return true, left
}

// Wait returns when everything given so far was handled, or ctx ends.
func (l *Lanes) Wait(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.quiet.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 && ctx.Err() == nil {
		l.quiet.Wait()
	}
}

// End finishes what is being handled and leaves the rest in the inbox, for the
// next command that handles events.
func (l *Lanes) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.queue = slices.DeleteFunc(l.queue, func(q *lane) bool {
		if !q.running {
			q.ticket.Release()
			delete(l.ours, q.ticket.Seq)
		}
		return !q.running
	})
	for len(l.queue) > 0 {
		l.quiet.Wait()
	}
}
