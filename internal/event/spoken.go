package event

import "strings"

// Spoken is what somebody says in a comment or review with their own words:
// without code, HTML comments, and lines that quote others.
func Spoken(body string) string {
	lines := strings.Split(visible(body), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimLeft(l, " "), ">") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
