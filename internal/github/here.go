// Package github is the only speaker to GitHub, signed in as gh is.
package github

import (
	"strings"

	"github.com/cli/go-gh/v2/pkg/config"
	"github.com/cli/go-gh/v2/pkg/repository"

	"github.com/gh-loop/gh-loop/internal/work"
)

// NoRepoError says that the current directory names no repository.
type NoRepoError struct{ Err error }

func (e *NoRepoError) Error() string {
	why, _, _ := strings.Cut(e.Err.Error(), "\n") // git's own words may come with more lines
	return "the current directory belongs to no repository on GitHub (" + why + "): write owner/repo#number, or use -R owner/repo"
}

func (e *NoRepoError) Unwrap() error { return e.Err }

// Here is the repository of the current directory, found as gh finds it:
// $GH_REPO, else the remotes of the clone.
func Here() (work.Repo, error) {
	r, err := repository.Current()
	if err != nil {
		return work.Repo{}, &NoRepoError{err}
	}
	host := r.Host
	if strings.EqualFold(host, work.DefaultHost) {
		host = ""
	}
	return work.Repo{Host: host, Owner: r.Owner, Name: r.Name}, nil
}

// Logins are whom gh is signed in as, by host as refs have it ("" is
// github.com), as gh's own files say, without asking anybody. Where a token is
// in the environment they do not tell whose it is.
func Logins() map[string]string {
	c, err := config.Read(nil)
	if err != nil {
		return nil
	}
	hosts, err := c.Keys([]string{"hosts"})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, host := range hosts {
		user, err := c.Get([]string{"hosts", host, "user"})
		if err != nil || user == "" {
			continue
		}
		host = strings.ToLower(host)
		if host == work.DefaultHost {
			host = ""
		}
		out[host] = user
	}
	return out
}
