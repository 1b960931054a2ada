package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
)

// announcing bounds the one request of an announcement.
const announcing = 10 * time.Second

// announce says on GitHub that an endpoint's session was started for the first
// time, if that is wanted. It is only a courtesy: what fails is a line.
func (d *Loop) announce(ctx context.Context, out loop.Outcome) {
	if d.Comment == nil || !d.Config.Routing.Announce || out.How != loop.Spawned {
		return
	}
	r, err := d.Store.Find(out.Item)
	if err != nil {
		return
	}
	name := r.Harness
	if s := r.At(out.Endpoint); s != nil && s.Harness != "" {
		name = s.Harness
	}
	ctx, cancel := context.WithTimeout(ctx, announcing)
	defer cancel()
	text := fmt.Sprintf("A session works on this: %s in tmux session `%s`.\nTo go there: `gh loop attach %s`", name, out.TmuxTarget, out.Endpoint.Short())
	if err := d.Comment(ctx, out.Endpoint, text); err != nil {
		d.note(journal.Line{What: "error", Item: out.Item.String(), Endpoint: out.Endpoint.String(), Message: "it was not announced: " + err.Error()})
	}
}
