package work

import "strings"

// Shapes of names are no regular expressions: a hook needs them at each start
// of the program, and compiling them would cost more than all that it does.

func alnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// made says that s is not empty and has only ASCII letters, digits and those.
func made(s, others string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// hostLike is a name with a dot in it, a port, or both.
func hostLike(s string) bool {
	name, port, ported := strings.Cut(s, ":")
	if ported && (!digits(port) || len(port) > 5) {
		return false
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !made(l, "-") {
			return false
		}
	}
	return ported || len(labels) > 1
}

// ownerLike is how GitHub names people and organizations: no dash at an end,
// nor two together. Enterprise accounts have an underscore.
func ownerLike(s string) bool {
	return made(s, "-_") && alnum(s[0]) && !strings.HasSuffix(s, "-") && !strings.Contains(s, "--")
}

// dashed puts one dash in the place of all that no file's name should have.
func dashed(s string) string {
	var b strings.Builder
	gap := false
	for i := range len(s) {
		switch c := s[i]; {
		case alnum(c) && (c < 'A' || c > 'Z'), c == '.', c == '_', c == '-':
			b.WriteByte(c)
			gap = false
		case !gap:
			b.WriteByte('-')
			gap = true
		}
	}
	return b.String()
}
