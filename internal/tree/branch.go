package tree

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkBranch refuses a branch name that git would refuse (git
// check-ref-format --branch), and one that could be taken for a flag. Names
// come from GitHub, that is from anybody.
func checkBranch(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case len(name) > 250:
		return errors.New("it is longer than 250 bytes")
	case !utf8.ValidString(name):
		return errors.New("it is not UTF-8")
	case strings.HasPrefix(name, "-"):
		return errors.New(`it begins with "-"`)
	case name == "@" || name == "HEAD":
		return errors.New("git keeps that name for itself")
	case strings.HasSuffix(name, "."):
		return errors.New(`it ends with "."`)
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("it contains a control character")
	}
	for _, bad := range []string{"..", "@{", "//", " ", "~", "^", ":", "?", "*", "[", `\`} {
		if strings.Contains(name, bad) {
			return fmt.Errorf("it contains %q", bad)
		}
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%q is no part of a branch's name", part)
		}
	}
	return nil
}
