package dispatch

import (
	"errors"
	"fmt"
	"os"

	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// refusal is why a session has no place to run, and what that rests on.
type refusal struct {
	work.Declined
	err error
}

// place settles where a session may run, and makes its tree (rules 32 and 35).
// What was declined is not tried again while what it rested on stays the same.
// A place that is there costs no run of git.
func (a *act) place() *refusal {
	isPR := !a.s.Ref.Same(a.rec.Ref)
	if isPR {
		if holder, err := a.holder(); err != nil {
			return &refusal{work.Declined{Reason: string(loop.DeclinedName), Basis: holder}, err}
		}
	}
	ours := a.s.Tree != "" || a.theirs(a.s.Ref, a.s.Cwd)
	switch {
	case a.s.Cwd != "" && there(a.s.Cwd) && (!ours || !a.theirs(a.s.Ref, a.s.Cwd)):
		return nil
	case !isPR && !ours:
		return &refusal{err: a.gone()}
	case !ours:
		a.s.Cwd = "" // never had a place, or shared one that is gone
		if done, no := a.share(); done {
			return no
		}
	}
	no := refusal{work.Declined{
		Reason: string(loop.DeclinedTree), Basis: string(a.rec.Mode(a.Settings.Mode)) + " " + a.Trees.Basis(a.treeRequest()),
	}, nil}
	if was := a.s.Declined; was != nil && was.Reason == no.Reason && was.Basis == no.Basis {
		no.err = errors.New("no working tree could be made before, and nothing changed since")
		return &no
	}
	if err := a.makeTree(); err != nil {
		var declined *tree.DeclinedError
		if !errors.As(err, &declined) || declined.Temporary {
			no.Basis = "" // tried again by the next event
		}
		no.err = err
		return &no
	}
	return nil
}

// share lets a pull request's session run where its item does, if that is no
// git tree: there is nothing to fight over. It reports whether that settles it.
func (a *act) share() (done bool, no *refusal) {
	_, inTree, err := a.Trees.Clone(a.ctx, a.rec.Cwd)
	switch {
	case err == nil && !inTree:
		a.s.Cwd = a.rec.Cwd
		return true, nil
	case err != nil && !there(a.rec.Cwd) && a.theirs(a.rec.Ref, a.rec.Cwd):
		return false, nil // the item's own tree, which is made again when it needs it
	case err != nil:
		return true, &refusal{work.Declined{Reason: string(loop.DeclinedTree)}, err}
	}
	return false, nil
}

// makeTree makes the session's tree, or finds it made, and writes down where.
func (a *act) makeTree() error {
	made, err := a.Trees.Make(a.ctx, a.treeRequest())
	if err != nil {
		return err
	}
	if a.s.Cwd == made.Path && a.s.Tree == made.Path && !made.New {
		return nil
	}
	a.s.Cwd, a.s.Tree = made.Path, made.Path
	if made.New {
		a.noteSession("tree-made", "", made.Path+" on "+made.Branch)
	}
	for _, w := range made.Warnings {
		a.noteSession("error", "", w)
		if a.Warn != nil {
			a.Warn(a.s.Ref.Short() + ": " + w)
		}
	}
	return a.save(func(*work.Session) {})
}

func (a *act) treeRequest() tree.Request {
	s := *a.s
	if a.news.learn != nil {
		a.news.learn(&s) // the head of this very event
	}
	req := tree.Request{Ref: s.Ref, Item: a.rec.Ref, Cwd: a.rec.Cwd, Repos: a.Config.Workspace.Repos}
	if a.from != "" {
		req.Cwd = a.from
	}
	if s.Head != nil {
		req.Head = *s.Head
	}
	return req
}

func there(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && st.IsDir()
}

func (a *act) gone() error {
	return fmt.Errorf("directory %q of %s is gone: make it again, or start the item elsewhere with --cwd", a.cwd(), a.s.Ref.Short())
}

// holder finds another record whose session for the same pull request lives.
func (a *act) holder() (basis string, err error) {
	others, _, err := a.Store.Listing(a.s.Ref)
	if err != nil {
		return "", err
	}
	for _, r := range others {
		s := r.PullRequest(a.s.Ref)
		if r.Ref.Same(a.rec.Ref) || s == nil || !s.Live() || s.Tmux == nil {
			continue
		}
		if _, state, _ := a.server(s.Tmux.Socket).Look(a.ctx, target(r.Ref, s.Ref, s.Tmux)); state == tmux.Live || state == tmux.Unknown {
			return r.Ref.Key() + " " + s.Tmux.Token, fmt.Errorf("%s holds the session of %s: unlink it from one of the two items", r.Ref, s.Ref)
		}
	}
	return "", nil
}

// decline notes, once, why a pull request got no session of its own.
func (a *act) decline(no refusal) {
	a.out.Reason, a.out.Message = loop.Reason(no.Reason), no.err.Error()
	if was := a.s.Declined; was != nil && was.Reason == no.Reason && was.Basis == no.Basis {
		return
	}
	no.At = a.at()
	a.s.Declined = &no.Declined
	a.noteSession("declined", no.Reason, no.err.Error())
	if err := a.save(func(*work.Session) {}); err != nil {
		a.noteSession("error", "", err.Error())
	}
}

// unplaced says that a session has nowhere to run, and reports whether the
// item's should get the news. An item's own waits until somebody mends that.
func (a *act) unplaced(no refusal) (fallback bool) {
	switch isPR := !a.s.Ref.Same(a.rec.Ref); {
	case a.ctx.Err() != nil:
		a.out = held(a.out, loop.HarnessWaiting, a.ctx.Err())
	case isPR:
		a.decline(no)
		return true
	default:
		a.out = held(a.out, loop.SpawnFailed, no.err)
		a.out.Waits = true
		if !a.again {
			a.noteSession("failed", string(loop.SpawnFailed), no.err.Error())
		}
	}
	return false
}
