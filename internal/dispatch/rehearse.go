package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/tmux"
)

// Played is one dangerous case of a delivery, played with the tmux that is
// installed. Err is nil if it went as it must.
type Played struct {
	Case string
	Err  error
}

// stage is a tmux server of its own with the echo agent in a pane.
type stage struct {
	tmux.Server
	dir   string
	agent tmux.Pane
	loop  *Loop
	told  int // messages that the agent has
}

type danger struct {
	name string
	play func(*stage, context.Context) error
}

func dangers() []danger {
	return []danger{
		{"hostile text", (*stage).hostile},
		{"long text", (*stage).long},
		{"copy mode", (*stage).copyMode},
		{"another pane in front", (*stage).inFront},
		{"dead pane", (*stage).deadPane},
		{"somebody else's pane", (*stage).stranger},
		{"pane without input", (*stage).inputOff},
		{"missing pane", (*stage).missing},
		{"nothing left behind", (*stage).tidy},
	}
}

// Cases names what Rehearse plays, in its order.
func Cases() []string {
	var names []string
	for _, c := range dangers() {
		names = append(names, c.name)
	}
	return names
}

// Rehearse plays the dangerous cases of a delivery on a throw-away server of
// the installed tmux, and takes everything away again. The user's own server,
// configuration and records are not touched. An error says that it could not
// be played at all.
func (d *Loop) Rehearse(ctx context.Context) (played []Played, err error) {
	dir, err := os.MkdirTemp("", "gl")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &stage{Server: tmux.Server{Socket: filepath.Join(dir, "s"), Conf: os.DevNull, Timeout: d.Timeout}, dir: dir, loop: d}
	defer func() { _, _ = s.Run(context.WithoutCancel(ctx), nil, "kill-server") }()
	agent, err := s.spawn(ctx, "agent", []string{d.Bin, "echo", "--session-id", "rehearsal", "begin"}, readyBound)
	switch {
	case err != nil:
		return nil, err
	case agent.Died:
		return nil, fmt.Errorf("%q does not run in a pane", d.Bin)
	}
	s.agent, s.told = agent.Pane, 1
	for _, c := range dangers() {
		if ctx.Err() != nil {
			return played, ctx.Err()
		}
		played = append(played, Played{c.name, c.play(s, ctx)})
	}
	return played, nil
}

func (s *stage) spawn(ctx context.Context, name string, argv []string, ready time.Duration) (tmux.Spawned, error) {
	sp := tmux.Spawn{
		Name: name, Title: "gh-loop doctor", Dir: s.dir, Argv: argv, Ref: "github:gh-loop/doctor#1", Item: "github:gh-loop/doctor#1",
		Role: "item", Token: tmux.Token(), Env: []string{"GH_LOOP_STATE_DIR=" + s.dir, "NO_COLOR=1"},
	}
	if ready > 0 {
		sp.Detector, sp.Ready = s.loop.detector(), ready
	} else {
		sp.Watch = time.Second
	}
	return s.Spawn(ctx, sp)
}

// deliver hands a text to a pane, and says if that went otherwise than wanted.
func (s *stage) deliver(ctx context.Context, to tmux.Target, text string, want tmux.Verdict) error {
	nonce := "end " + tmux.Token()
	got, err := s.Deliver(ctx, tmux.Paste{Target: to, Text: text + "\n" + nonce, Nonce: nonce, Bracketed: true, Delay: 50 * time.Millisecond, Patience: readyBound})
	switch {
	case err != nil:
		return err
	case got != want:
		return fmt.Errorf("a text was %s, and should have been %s", got, want)
	case want == tmux.Delivered:
		return s.arrived(ctx, nonce)
	}
	return nil
}

// arrived waits until the agent has one message more, which ends as it must.
func (s *stage) arrived(ctx context.Context, nonce string) error {
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	s.told++
	for {
		text, n, err := s.messages()
		switch {
		case err != nil:
			return err
		case n > s.told:
			return fmt.Errorf("one text became %d messages", n-s.told+1)
		case n == s.told && !strings.Contains(text, nonce):
			return errors.New("the message that arrived is not whole")
		case n == s.told:
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("a text was called delivered, and did not arrive")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *stage) messages() (last string, n int, err error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "echo", "rehearsal.jsonl"))
	all := strings.SplitAfter(string(b), "\n")
	if n = len(all) - 1; n > 0 {
		last = all[n-1]
	}
	return last, n, err
}
