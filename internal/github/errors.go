package github

import (
	"errors"
	"fmt"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/auth"
)

// SignInError says that gh has no token for a host, or one that the host does
// not take. Commands end with gh's exit code 4.
type SignInError struct {
	Host    string
	Refused bool
}

func (e *SignInError) Error() string {
	if e.Refused {
		return fmt.Sprintf("%s does not take the token that gh has: %s", e.Host, signIn(e.Host))
	}
	return fmt.Sprintf("not signed in to %s: %s", e.Host, signIn(e.Host))
}

// signIn is the cure, also for somebody who has no gh.
func signIn(host string) string {
	variable := "GH_TOKEN"
	if auth.IsEnterprise(host) {
		variable = "GH_ENTERPRISE_TOKEN"
	}
	return fmt.Sprintf("run gh auth login --hostname %s (gh is at https://cli.github.com), or set %s", host, variable)
}

// OfflineError says that the host was not reached, or that the line broke.
type OfflineError struct {
	Host string
	Err  error
}

func (e *OfflineError) Error() string {
	return fmt.Sprintf("%s was not reached: %v; what is missed now is found by the next sync", e.Host, e.Err)
}

func (e *OfflineError) Unwrap() error { return e.Err }

// LimitError says that the host is not to be asked before Until.
type LimitError struct {
	Host  string
	Until time.Time
	Ours  bool // it would still answer, and a tenth of the hourly budget is what we allow ourselves

	wait time.Duration // as it said; 0 if it did not
}

func (e *LimitError) Error() string {
	until := e.Until.Local().Format("15:04:05")
	if e.Ours {
		return fmt.Sprintf("a tenth of the hourly budget of %s is used: it is not asked again before %s, and what is missed is found then", e.Host, until)
	}
	return fmt.Sprintf("%s asks for a pause: it is not asked again before %s, and what is missed is found then", e.Host, until)
}

// AnswerError says that what came back is no answer to what was asked.
type AnswerError struct {
	Host      string
	Status    int
	Why       string
	Temporary bool // the same question may be answered a moment later
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s gave no answer (HTTP %d): %s", e.Host, e.Status, e.Why)
}

func status(err error) int {
	var h *api.HTTPError
	if errors.As(err, &h) {
		return h.StatusCode
	}
	return 0
}
