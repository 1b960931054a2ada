package event

import (
	"strconv"
	"strings"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Login gives one spelling to the forms in which GitHub and gh write an
// account: without "[bot]" and "app/". What is no login is "".
func Login(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "app/")
	s = strings.TrimSuffix(s, "[bot]")
	for i := range len(s) {
		if c := s[i]; c != '-' && (c >= 0x80 || !inWord(rune(c))) {
			return ""
		}
	}
	return s
}

func (u *user) login() string {
	if u == nil {
		return ""
	}
	return Login(u.Login)
}

// WordsKey is the key of a comment or review. at, its last change as GitHub
// writes times, tells edits apart and is not looked at otherwise.
func WordsKey(name string, id int64, action, at string) string {
	if action == "edited" {
		return key(name, digits(id), action, at)
	}
	return key(name, digits(id), action)
}

// StateKey is the key of a change of an issue or pull request. mark tells two
// changes of one kind apart: closed_at for closed, the head's commit for
// synchronize, "LABEL:UPDATED_AT" for labeled and unlabeled, else updated_at.
func StateKey(name string, ref work.Ref, action, mark string) string {
	return key(name, strings.ToLower(ref.Short()), action, mark)
}

// CheckKey is the key of a completed check. again is updated_at for a
// check_suite, the attempt for a workflow_run, and not looked at for a check_run.
func CheckKey(name string, id int64, again string) string {
	switch name {
	case "check_suite":
		return key(name, digits(id), "completed", again)
	case "workflow_run":
		return key(name, digits(id), again, "completed")
	}
	return key(name, digits(id), "completed")
}

// key is "", which is never a duplicate, where a part is missing: it would not
// tell two events apart.
func key(parts ...string) string {
	for _, p := range parts {
		if p == "" {
			return ""
		}
	}
	return Line(strings.Join(parts, ":"), 300)
}

func digits(n int64) string {
	if n < 1 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
