package work

import (
	"encoding/json"
	"fmt"
)

// Mode says which pull requests get a session of their own.
type Mode string

// The modes. CrossRepository gives sessions only to pull requests of another
// repository than their item's.
const (
	Always          Mode = "always"
	CrossRepository Mode = "cross-repository"
	Never           Mode = "never"
)

// ParseMode reads a mode's word; true and false mean always and never.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "true", string(Always):
		return Always, nil
	case "false", string(Never):
		return Never, nil
	case string(CrossRepository):
		return CrossRepository, nil
	}
	return "", fmt.Errorf("%q is not a mode: use always (true), cross-repository or never (false)", s)
}

// Own says whether a pull request gets its own session under this mode. An
// unknown word counts as the default, always.
func (m Mode) Own(item, pr Ref) bool {
	switch m {
	case Never:
		return false
	case CrossRepository:
		return !item.Repository().Same(pr.Repository())
	}
	return true
}

// Known says whether the mode is one of ours; "" is.
func (m Mode) Known() bool {
	_, err := ParseMode(string(m))
	return m == "" || err == nil
}

// UnmarshalJSON reads a word or a boolean, and keeps words that it does not know.
func (m *Mode) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*m = Always
		return nil
	case "false":
		*m = Never
		return nil
	}
	return json.Unmarshal(b, (*string)(m))
}
