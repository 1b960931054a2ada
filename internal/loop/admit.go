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
	Users    []string // logins, or Collaborators; empty: Login alone
	Login    string   // whom gh is signed in as; "" if nobody is known
	Mode     work.Mode
	Keywords []Keyword
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

// MaySpeak says whether the event's words may reach an agent (rule 23).
func (s Settings) MaySpeak(e event.Event) bool {
	if e.Kind == event.Check || e.Closes || e.Reopens {
		return true
	}
	if e.Actor == "" {
		return false
	}
	users := s.Users
	if len(users) == 0 {
		users = []string{s.Login}
	}
	return slices.ContainsFunc(users, func(user string) bool {
		if strings.EqualFold(user, Collaborators) {
			return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, e.Association)
		}
		return user != "" && strings.EqualFold(strings.TrimPrefix(user, "@"), e.Actor)
	})
}

// Audience names in words whose comments reach an agent.
func (s Settings) Audience() string {
	switch {
	case len(s.Users) > 0:
		return strings.Join(s.Users, ", ")
	case s.Login != "":
		return s.Login + " (whom gh is signed in as)"
	}
	return "nobody (gh is not signed in; name people in routing.authorizedUsers)"
}
