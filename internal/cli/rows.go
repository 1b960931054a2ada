package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/work"
)

// What the tables of list and show are made of.

// byRef orders as people count: #2 before #10, whatever the case.
func byRef(a, b work.Ref) int {
	return cmp.Or(strings.Compare(strings.ToLower(a.Repository().String()), strings.ToLower(b.Repository().String())), cmp.Compare(a.Number, b.Number))
}

// sorted gives an item's pull requests in the order of their refs.
func sorted(r *work.Record) []*work.Session {
	prs := slices.Clone(r.PullRequests())
	slices.SortStableFunc(prs, func(a, b *work.Session) int { return byRef(a.Ref, b.Ref) })
	return prs
}

// stateOf is a session's state, or the status that makes it beside the point.
func stateOf(v dispatch.View, s *work.Session) string {
	switch {
	case !s.Live():
		return "closed"
	case s.Status == work.Paused:
		return "paused"
	}
	return v.State(s)
}

// lettered puts a letter before a state, so that nobody needs colours to tell
// one from another at a glance. Scripts get the word alone.
func (s screen) lettered(state string) string {
	if !s.tty || state == "" {
		return state
	}
	letter := map[string]string{"unknown": "?", "none": "-"}[state]
	if letter == "" {
		letter = strings.ToUpper(state[:1])
	}
	return letter + " " + state
}

func stateColour(state string) string {
	return map[string]string{"running": "32", "idle": "36", "waiting": "33;1", "dead": "31", "unknown": "35", "paused": "33", "none": "2", "closed": "2"}[state]
}

// title makes a stranger's title fit for a line of ours: no controls, also none
// that turn the direction of what follows. One that is written from right to
// left is kept to itself on a terminal.
func (s screen) title(text string) string {
	rtl := false
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r), unicode.In(r, unicode.Zl, unicode.Zp):
			return -1
		case r == '\t' || r == '\n':
			return ' '
		}
		rtl = rtl || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
		return r
	}, clean(text))
	if rtl && s.tty {
		return "\u2068" + text + "\u2069"
	}
	return text
}

// link makes text lead somewhere where the terminal knows how (OSC 8). Padding
// stays outside of it.
func (s screen) link(url, text string) string {
	word := strings.TrimRight(text, " ")
	if !s.links || url == "" || word == "" {
		return text
	}
	before := word[:len(word)-len(strings.TrimLeft(word, " "))]
	return fmt.Sprintf("%s\x1b]8;;%s\x1b\\%s\x1b]8;;\x1b\\%s", before, url, word[len(before):], text[len(word):])
}

// linking says whether a terminal takes OSC 8. Inside tmux it is tmux that
// reads it, and one that does not know it shows nothing of it.
func linking(getenv func(string) string) bool {
	if force := getenv("FORCE_HYPERLINK"); force != "" {
		return force != "0"
	}
	for _, name := range []string{"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION"} {
		if getenv(name) != "" {
			return true
		}
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "tmux":
		return true
	}
	for _, term := range []string{"alacritty", "foot", "xterm-kitty", "xterm-ghostty", "wezterm"} {
		if strings.HasPrefix(getenv("TERM"), term) {
			return true
		}
	}
	return false
}
