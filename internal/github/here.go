// Package github is the only speaker to GitHub, signed in as gh is.
package github

import (
	"strings"

	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
	"github.com/cli/go-gh/v2/pkg/repository"

	"github.com/gh-loop/gh-loop/internal/work"
)

// NoRepoError says that the current directory names no repository.
type NoRepoError struct{ Err error }

func (e *NoRepoError) Error() string {
	return "the current directory belongs to no repository on GitHub (" + e.Err.Error() + "): write owner/repo#number, or use -R owner/repo"
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

// Login is whom gh is signed in as on a host ("" is the default host), as gh's
// own files say, without asking anybody; "" when they do not.
func Login(host string) string {
	if host == "" {
		host, _ = auth.DefaultHost()
	}
	c, err := config.Read(nil)
	if err != nil {
		return ""
	}
	user, err := c.Get([]string{"hosts", host, "user"})
	if err != nil {
		return ""
	}
	return user
}
