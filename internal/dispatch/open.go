package dispatch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/work"
)

// open starts the endpoint's harness, or brings its conversation back, with
// the news as first prompt. dead is our own dead pane, if there is one; it is
// used again. It reports whether the item's session should get the news.
func (a *act) open(dead *tmux.Pane) (fallback bool) {
	isPR := !a.s.Ref.Same(a.rec.Ref)
	first := a.s.TmuxTarget == "" && a.s.HarnessSessionID == ""
	if no := a.place(); no != nil {
		return a.unplaced(*no)
	}
	if isPR && first && a.news.unasked {
		if no, ok := a.mayStart(a.ctx, a.out); !ok { // held, it would keep back what people say there
			a.out.Reason, a.out.Message = no.Reason, no.Message
			return true
		}
	}
	if a.s.CreatedAt == "" {
		a.s.CreatedAt = a.at()
	}
	how, what := loop.Respawned, "respawned"
	if first {
		how, what = loop.Spawned, "spawned"
	}
	spawned, err := a.start(dead)
	var unknown *tmux.UnknownError
	switch {
	case errors.As(err, &unknown):
		a.out = held(a.out, loop.TmuxSilent, err)
		return false
	case err != nil:
		a.out = held(a.out, loop.SpawnFailed, err)
		a.noteSession("failed", string(loop.SpawnFailed), err.Error())
		a.retell()
		return isPR
	}
	a.adopt(spawned.Pane, spawned.Ready)
	a.noteSession(what, "", a.s.TmuxTarget)
	a.done(how)
	a.retell()
	return false
}

// retell tells the item's sessions that one of them changed.
func (a *act) retell() {
	if !a.quiet {
		a.ring(a.ctx, a.rec.Ref)
	}
}

func (a *act) noteSession(what, reason, message string) {
	a.note(journal.Line{
		What: what, Item: a.rec.Ref.String(), Endpoint: a.s.Ref.String(), Event: a.news.kind, Delivery: a.news.id,
		Reason: reason, Message: message,
	})
}

// start runs the harness: resumed by its id where it can be, and as a fresh
// conversation where it cannot or where the resumed one dies at once.
func (a *act) start(dead *tmux.Pane) (tmux.Spawned, error) {
	adapter, err := a.adapter()
	if err != nil {
		return tmux.Spawned{}, err
	}
	if err := adapter.Present(); err != nil {
		return tmux.Spawned{}, err
	}
	if !there(a.cwd()) { // since it was chosen
		return tmux.Spawned{}, a.gone()
	}
	probe := time.Duration(a.Config.Routing.Tmux.ResumeProbeSeconds * float64(time.Second))
	if work.UsableID(a.s.HarnessSessionID) && a.Config.Routing.Tmux.ResumeOnRespawn && len(adapter.Resume) > 0 && a.s.TmuxTarget != "" {
		argv, err := adapter.ResumeArgs(a.values())
		if err != nil {
			return tmux.Spawned{}, err
		}
		spawned, err := a.spawn(argv, dead, probe)
		if err != nil || !spawned.Died {
			return spawned, err
		}
		a.noteSession("resume-failed", "", "conversation "+a.s.HarnessSessionID+" ended at once; a fresh one takes over")
		dead = &spawned.Pane
	}
	id := ""
	if adapter.TakesID() {
		id = a.NewID()
	}
	a.s.SetConversation(id)
	argv, err := adapter.StartArgs(a.values())
	if err != nil {
		return tmux.Spawned{}, err
	}
	spawned, err := a.spawn(argv, dead, 0)
	if err == nil && spawned.Died {
		err = fmt.Errorf("%q ended at once (%s) in session %s: see what it says with gh loop attach", argv[0], spawned.DeadStatus, spawned.Name)
		a.adopt(spawned.Pane, false)
		if saveErr := a.save(func(*work.Session) {}); saveErr != nil {
			err = errors.Join(err, saveErr)
		}
	}
	return spawned, err
}

// values fill the harness's argument lists; the news are its first prompt.
func (a *act) values() harness.Values {
	a.nonce = rand.Text()[:8]
	return harness.Values{
		ID: a.s.HarnessSessionID, Prompt: a.news.text(a.nonce), Ref: a.s.Ref.String(), Item: a.rec.Ref.String(), Cwd: a.cwd(),
	}
}

func (a *act) cwd() string {
	if a.s.Cwd != "" {
		return a.s.Cwd
	}
	return a.rec.Cwd
}

// spawn saves what is about to be done, and then asks tmux.
func (a *act) spawn(argv []string, dead *tmux.Pane, watch time.Duration) (tmux.Spawned, error) {
	token := rand.Text()
	h := work.Handle{Socket: a.home()}
	if a.s.Tmux != nil && dead != nil {
		h = *a.s.Tmux
	}
	h.Next, h.First, h.At, h.Ended = token, a.news.name(), a.at(), false
	a.s.Tmux = &h
	if err := a.save(func(*work.Session) {}); err != nil {
		return tmux.Spawned{}, err
	}
	role := "pr"
	if a.s.Ref.Same(a.rec.Ref) {
		role = "item"
	}
	name := a.s.Ref.SessionName()
	sp := tmux.Spawn{
		Name: name, AltName: name + "-" + a.s.Ref.Hash8(), Title: strings.TrimSpace(a.s.Ref.Short() + " " + a.s.Title), Dir: a.cwd(), Argv: argv,
		Env: []string{
			"GH_LOOP_REF=" + a.s.Ref.String(), "GH_LOOP_ITEM=" + a.rec.Ref.String(), "GH_LOOP_ROLE=" + role,
			"GH_LOOP_STATE_DIR=" + a.stateDir(), "GH_LOOP_BIN=" + a.Bin,
		},
		Ref: a.s.Ref.String(), Item: a.rec.Ref.String(), Role: role, Token: token, Nonce: a.nonce, Delivery: a.news.name(),
		Detector: a.detector(), Hook: a.Hooked != nil && a.Hooked(a.harnessName()), Ready: readyBound, Watch: watch, Gate: a.gate,
	}
	srv := a.server(h.Socket)
	if dead != nil {
		return srv.Respawn(a.ctx, *dead, sp)
	}
	made, err := srv.Spawn(a.ctx, sp)
	if errors.Is(err, tmux.ErrNameTaken) { // a session of the same ref that we know nothing of: left alone
		sp.Name, sp.AltName = sp.AltName+"-"+strings.ToLower(token[:6]), ""
		made, err = srv.Spawn(a.ctx, sp)
	}
	return made, err
}

// home is the tmux server that a session belongs on: the one that it was on,
// else its item's, as long as their sockets' directories are there; else the
// one that we are called from.
func (a *act) home() string {
	for _, h := range []*work.Handle{a.s.Tmux, a.rec.Tmux} {
		if h == nil || h.Socket == "" || tmux.Usable(h.Socket) != nil {
			continue
		}
		if st, err := os.Stat(filepath.Dir(h.Socket)); err == nil && st.IsDir() {
			return h.Socket
		}
	}
	return a.Socket
}

// adopt writes down where a session of ours lives.
func (a *act) adopt(p tmux.Pane, ready bool) {
	at := ""
	if a.s.Tmux != nil {
		at = a.s.Tmux.At
	}
	a.s.Tmux = &work.Handle{
		Socket: p.Socket, ServerPID: p.Identity.PID, ServerStart: p.Start, Session: p.Session, Pane: p.Pane,
		Token: p.Token, Ready: ready || p.Ready, At: at,
	}
	if p.Name != "" {
		a.s.TmuxTarget = p.Name
	}
	a.s.Declined = nil
}
