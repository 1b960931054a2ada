package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Bounds of a harness's hook: how long it waits for what the harness tells it
// on standard input, and how much of that it reads.
const (
	payloadBound = 200 * time.Millisecond
	payloadMax   = 16 << 20
)

// harnessHook is `hook harness STATE [PAYLOAD]`, called by an agent's own
// hooks. Their user must not feel it: one tmux process at most, and what takes
// longer goes on in the background. An agent outside our sessions is none of
// our business, and costs no tmux process where there is no tmux.
func (e *env) harnessHook(ctx context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("harness takes STATE, and got %d words", len(args))
	}
	r := dispatch.Report{State: args[0], Pane: e.getenv("TMUX_PANE"), Socket: tmux.DefaultSocket(e.getenv)}
	payload := e.payload(args)
	ref := e.getenv("GH_LOOP_REF")
	if ref == "" && r.Pane == "" && dispatch.IsState(r.State) {
		return nil
	}
	if ref != "" {
		var err error
		if r.Ref, err = work.ParseRef(ref); err != nil {
			return fmt.Errorf("GH_LOOP_REF: %w", err)
		}
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	r.Payload = harness.ReadPayload(payload)
	h, err := d.Report(ctx, r)
	if err != nil {
		return err
	}
	if h.More {
		err = d.Background(h.Item, h.Ref)
	}
	if h.Waits {
		err = errors.Join(err, tell(d, h))
	}
	return err
}

// follow is `hook follow ITEM REF`: the part of a harness's hook that takes time.
func (e *env) follow(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("follow takes ITEM and REF, and got %d words", len(args))
	}
	item, err := work.ParseRef(args[0])
	if err != nil {
		return err
	}
	ref, err := work.ParseRef(args[1])
	if err != nil {
		return err
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	return d.Follow(ctx, item, ref)
}

// payload is what the harness tells: the argument after the state, or what
// comes on standard input. It is read to its end, as some harnesses take a
// reader that leaves for an error; one that never ends is not waited for.
func (e *env) payload(args []string) []byte {
	if len(args) == 2 {
		return []byte(args[1])
	}
	if st, err := e.in.Stat(); err != nil || st.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	told := make(chan []byte, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(e.in, payloadMax))
		if err != nil {
			b = nil
		}
		told <- b
	}()
	select {
	case b := <-told:
		return b
	case <-time.After(payloadBound):
		return nil
	}
}

// tell lets the user know that an agent waits, once for each wait, as they
// configured it.
func tell(d *dispatch.Loop, h dispatch.Heard) error {
	text := h.Ref.Short() + " waits for you"
	switch n := d.Config.Notify; {
	case n.Word == "bell":
		return harness.Ring(h.TTY, "\a")
	case n.Word == "osc": // tmux itself lets no such sequence through to the terminal around it
		var errs []error
		for _, tty := range h.Clients {
			errs = append(errs, harness.Ring(tty, "\x1b]9;"+clean(text)+"\a"))
		}
		return errors.Join(errs...)
	case len(n.Command) > 0:
		return harness.Tell(n.Command, harness.Values{Ref: h.Ref.Short(), Item: h.Item.Short()})
	}
	return nil
}
