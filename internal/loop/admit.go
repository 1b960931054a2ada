package loop

import (
	"slices"
	"strings"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Collaborators in a list of users stands for everybody whom GitHub calls an
// owner, member or collaborator of the repository.
const Collaborators = "@collaborators"

// Settings are the parts of the configuration that decide.
type Settings struct {
	Users    []string          // logins, or Collaborators; empty: Logins alone
	Logins   map[string]string // whom gh is signed in as, by host as refs have it ("" is github.com)
	Mode     work.Mode
	Keywords []Keyword

	Starts       string // what an event without a record may do: "never", "labeled" or "always" start one
	Label        string // what "labeled" looks for
	RequireStart bool   // only what was started by a command once starts itself
}

// Screen settles what concerns nobody before any record is looked at
// (rules 20 and 22). It returns "" for an event that goes on.
func Screen(e event.Event) Reason {
	switch {
	case strings.Contains(e.Body, event.Marker):
		return OwnText
	case e.Kind == event.Ignored:
		return IgnoredEvent
	case len(e.Refs) == 0:
		return NoRef
	}
	return ""
}

// MaySpeak says whether the event's words may reach an agent (rule 23). Of an
// edited comment both who wrote and who edited it must be somebody who may.
func (s Settings) MaySpeak(e event.Event) bool {
	if e.Kind == event.Check || e.Closes || e.Reopens {
		return true
	}
	return s.trusts(e.Actor, e.Association, e.Repo.Host) && (e.Editor == "" || s.trusts(e.Editor, "", e.Repo.Host))
}

func (s Settings) trusts(login, association, host string) bool {
	if login == "" {
		return false
	}
	if len(s.Users) == 0 {
		return strings.EqualFold(s.Logins[strings.ToLower(host)], login)
	}
	return slices.ContainsFunc(s.Users, func(user string) bool {
		if strings.EqualFold(user, Collaborators) {
			return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
		}
		return strings.EqualFold(event.Login(user), login)
	})
}

// Somebody is one whose words on a host may reach an agent; "" if nobody is known.
func (s Settings) Somebody(host string) string {
	for _, user := range s.Users {
		if !strings.EqualFold(user, Collaborators) {
			return event.Login(user)
		}
	}
	if len(s.Users) > 0 {
		return "collaborator"
	}
	return s.Logins[strings.ToLower(host)]
}

// Audience names in words whose comments on a host reach an agent.
func (s Settings) Audience(host string) string {
	login := s.Logins[strings.ToLower(host)]
	switch {
	case len(s.Users) > 0:
		names := slices.Clone(s.Users)
		for i, user := range names {
			if strings.EqualFold(user, Collaborators) {
				names[i] = "the repository's owners, members and collaborators"
			}
		}
		return strings.Join(names, ", ")
	case login != "":
		return login + " (whom gh is signed in as)"
	}
	return "nobody (gh is not signed in; name people in routing.authorizedUsers)"
}
