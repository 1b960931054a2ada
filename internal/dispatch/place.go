package dispatch

import (
	"errors"
	"fmt"

	"github.com/gh-loop/gh-loop/internal/loop"
	"github.com/gh-loop/gh-loop/internal/tmux"
	"github.com/gh-loop/gh-loop/internal/tree"
	"github.com/gh-loop/gh-loop/internal/work"
)

// refusal is why a pull request cannot have a session, and what that rests on.
type refusal struct {
	work.Declined
	err error
}

// place settles where a pull request's session may run (rules 32 and 35).
// What was declined is not tried again while what it rested on stays the same.
func (a *act) place() *refusal {
	if holder, err := a.holder(); err != nil {
		return &refusal{work.Declined{Reason: string(loop.DeclinedName), Basis: holder}, err}
	}
	if a.s.Cwd != "" {
		return nil
	}
	_, inTree, err := a.Trees.Clone(a.ctx, a.rec.Cwd)
	if err == nil && !inTree {
		a.s.Cwd = a.rec.Cwd
		return nil
	}
	no := refusal{work.Declined{Reason: string(loop.DeclinedTree), Basis: a.Trees.Basis(a.ctx, a.treeRequest())}, nil}
	if was := a.s.Declined; was != nil && was.Reason == no.Reason && was.Basis == no.Basis && no.Basis != "" {
		no.err = errors.New("no working tree could be made before, and nothing changed since")
		return &no
	}
	path := ""
	if err == nil {
		path, err = a.Trees.Make(a.ctx, a.treeRequest())
	}
	if err != nil {
		var declined *tree.DeclinedError
		if !errors.As(err, &declined) || declined.Temporary {
			no.Basis = "" // tried again by the next event
		}
		no.err = err
		return &no
	}
	a.s.Cwd, a.s.Tree = path, path
	return nil
}

func (a *act) treeRequest() tree.Request {
	req := tree.Request{Cwd: a.rec.Cwd, Item: a.rec.Ref, PR: a.s.Ref, Repos: a.Config.Workspace.Repos}
	if a.s.Head != nil {
		req.Head = *a.s.Head
	}
	return req
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
