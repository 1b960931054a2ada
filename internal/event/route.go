package event

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Route gives the refs that a pull request's events concern, in order and each
// once with all its sources: closing references, the issue that the head
// branch names, closing keywords of the description, and the pull request
// itself, last. Its own number is never its link. branch is "" where the head
// is a fork's or the default branch: those names say nothing (rule 17).
func Route(pr work.Ref, references []work.Ref, branch, body string) []Named {
	if pr.IsZero() {
		return nil
	}
	var out []Named
	add := func(ref work.Ref, source work.Source) {
		if ref.Number < 1 || ref.Same(pr) {
			return
		}
		out = merge(out, ref, source)
	}
	for _, ref := range references {
		add(ref, work.FromReference)
	}
	add(pr.Repository().Ref(branchIssue(branch)), work.FromBranch)
	for _, ref := range closing(body, pr.Repository()) {
		add(ref, work.FromKeyword)
	}
	return append(out, Named{pr, []work.Source{work.FromEntity}})
}

func merge(list []Named, ref work.Ref, source work.Source) []Named {
	for i := range list {
		if !list[i].Ref.Same(ref) {
			continue
		}
		for _, s := range list[i].Sources {
			if s == source {
				return list
			}
		}
		list[i].Sources = append(list[i].Sources, source)
		return list
	}
	return append(list, Named{ref, []work.Source{source}})
}

// branchIssue finds the first issue-15 or issue/15 that is a word of its own;
// 0 if there is none.
func branchIssue(branch string) int64 {
	const word = "issue"
	for i := 0; i+len(word) < len(branch); i++ {
		before, _ := utf8.DecodeLastRuneInString(branch[:i])
		after := branch[i+len(word)]
		if i > 0 && inWord(before) || !strings.EqualFold(branch[i:i+len(word)], word) || after != '-' && after != '/' {
			continue
		}
		if n, _, ok := number(branch[i+len(word)+1:]); ok {
			return n
		}
	}
	return 0
}

// closing gives the refs of a description's closing keywords, in text order.
// https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
func closing(body string, repo work.Repo) []work.Ref {
	text := visible(body)
	var out []work.Ref
	for i := 0; i < len(text); {
		n := wordLength(text[i:])
		if n == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		if isKeyword(text[i : i+n]) {
			if ref, ok := reference(text[i+n:], repo); ok {
				out = append(out, ref)
			}
		}
		i += n
	}
	return out
}

func isKeyword(word string) bool {
	if len(word) > len("resolved") {
		return false
	}
	switch strings.ToLower(word) {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	}
	return false
}

// reference reads what stands behind a closing keyword: an optional colon,
// spaces, and a reference in one of its four forms.
func reference(s string, repo work.Repo) (work.Ref, bool) {
	s = strings.TrimPrefix(s, ":")
	t := strings.TrimLeft(s, " \t")
	if len(t) == len(s) || t == "" {
		return work.Ref{}, false
	}
	if rest, ok := cutFold(t, "#"); ok {
		return numbered(repo, rest)
	}
	if rest, ok := cutFold(t, "gh-"); ok {
		return numbered(repo, rest)
	}
	for _, scheme := range []string{"https://", "http://"} {
		if rest, ok := cutFold(t, scheme); ok {
			return issueAddress(rest, repo.Host)
		}
	}
	path := t[:pathLength(t)]
	other, err := work.ParseRepo(path)
	if err != nil || other.Host != "" || !strings.HasPrefix(t[len(path):], "#") {
		return work.Ref{}, false
	}
	other.Host = repo.Host
	return numbered(other, t[len(path)+1:])
}

// issueAddress reads host/owner/repo/issues/N, on the event's own host only.
func issueAddress(s, host string) (work.Ref, bool) {
	p := strings.SplitN(s[:pathLength(s)], "/", 5)
	if len(p) < 5 || p[3] != "issues" {
		return work.Ref{}, false
	}
	repo, err := work.ParseRepo(strings.Join(p[:3], "/"))
	if err != nil || !strings.EqualFold(repo.Host, host) {
		return work.Ref{}, false
	}
	repo.Host = host
	n, rest, ok := number(s[len(strings.Join(p[:4], "/"))+1:])
	if !ok || strings.HasPrefix(rest, "/") && wordLength(rest[1:]) > 0 {
		return work.Ref{}, false
	}
	return repo.Ref(n), true
}

func numbered(repo work.Repo, digits string) (work.Ref, bool) {
	n, _, ok := number(digits)
	return repo.Ref(n), ok
}

// number reads a whole word of digits. One over 2^63-1, or zero, is none.
func number(s string) (n int64, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	return n, s[i:], err == nil && n > 0 && wordLength(s[i:]) == 0
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func pathLength(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || !inWord(rune(c)) && strings.IndexByte("./:-", c) < 0 {
			return i
		}
	}
	return len(s)
}

func wordLength(s string) int {
	for i, r := range s {
		if !inWord(r) {
			return i
		}
	}
	return len(s)
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
