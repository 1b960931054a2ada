package dispatch

import (
	"context"
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

	mu    sync.Mutex
	tell  sync.Mutex
	queue []*lane
	ours  map[uint64]bool
	free  int
	left  bool
	ended bool
	quiet *sync.Cond // the queue is empty, or shrank after the end
}

type lane struct {
	*Accepted
	keys    []string
	running bool
}

// Bounds of Lanes: how many events are handled at a time, most of which wait
// for tmux, and how many are kept in memory; further ones stay in the inbox.
const (
	lanesBeside = 8
	lanesWait   = 256
)

// NewLanes handles what is given to Add until ctx ends. told hears of each
// event that was handled, from one goroutine at a time.
func (d *Loop) NewLanes(ctx context.Context, told func(Result)) *Lanes {
	l := &Lanes{loop: d, ctx: ctx, told: told, ours: map[uint64]bool{}, free: lanesBeside}
	l.quiet = sync.NewCond(&l.mu)
	return l
}

// Add has an accepted event handled, soon and in its turn.
func (l *Lanes) Add(a *Accepted) {
	if a.ticket == nil {
		l.say(l.loop.result(a.event, a.out...))
		return
	}
	keys := l.loop.conversations(a.event)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || len(l.queue) >= lanesWait {
		a.ticket.Release()
		l.left = true
		return
	}
	l.ours[a.ticket.Seq] = true
	l.queue = append(l.queue, &lane{Accepted: a, keys: keys})
	l.start()
}

// start begins what nothing before it keeps waiting. mu is held.
func (l *Lanes) start() {
	before := map[string]bool{}
	for _, q := range l.queue {
		if l.free == 0 || l.ended {
			return
		}
		if !q.running && !slices.ContainsFunc(q.keys, func(k string) bool { return before[k] }) {
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

// Left says whether events stayed in the inbox because there were too many,
// since it was last asked.
func (l *Lanes) Left() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left
	l.left = false
	return left
}

// Wait returns when everything given so far was handled.
func (l *Lanes) Wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 {
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
