package loop

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gh-loop/gh-loop/internal/event"
)

// Verb is what a control word asks for.
type Verb string

// The verbs.
const (
	Start   Verb = "start"
	Stop    Verb = "stop"
	Pause   Verb = "pause"
	Resume  Verb = "resume"
	Cleanup Verb = "cleanup"
)

// Keyword is the phrase that asks for a verb; an empty phrase asks for nothing.
type Keyword struct {
	Verb   Verb
	Phrase string
}

// Controls finds the verbs that a comment or review asks for: its phrases as
// whole words of one line, in any case, outside quotes and code. Only words of
// somebody who may speak are looked at.
func (s Settings) Controls(e event.Event) []Verb {
	if e.Kind != event.Words || e.Action == "deleted" || e.Action == "dismissed" || !s.MaySpeak(e) {
		return nil
	}
	lines := strings.Split(event.Spoken(e.Body), "\n")
	var found []Verb
	for _, k := range s.Keywords {
		if slices.ContainsFunc(lines, func(line string) bool { return says(line, k.Phrase) }) {
			found = append(found, k.Verb)
		}
	}
	return found
}

// says looks for a phrase between characters that are no part of a word, so
// that "loop stop" is neither in "loop stopwatch" nor in "the loop. Stop".
func says(line, phrase string) bool {
	phrase = folded(phrase)
	if phrase == "" {
		return false
	}
	line = folded(line)
	for at := 0; ; {
		i := strings.Index(line[at:], phrase)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(line[:at+i])
		after, _ := utf8.DecodeRuneInString(line[at+i+len(phrase):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += i + len(phrase)
	}
}

func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '/'
}
