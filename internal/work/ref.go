// Package work holds the nouns of gh-loop: refs, sessions, records and where
// a pull request's link to its item came from. It reads and writes their
// JSON, keeps their invariants, and touches nothing outside memory.
package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// DefaultHost is the host that a ref without one means; it is never written.
const DefaultHost = "github.com"

// Grammar is how a ref is written; errors print it.
const Grammar = "github:[host/]owner/repo#number"

// Ref names an issue or a pull request. Host is empty for github.com. Parts
// keep the case in which they were typed; Same and Key compare without it.
type Ref struct {
	Host, Owner, Repo string
	Number            int64
}

// Repo names a repository. Host is empty for github.com.
type Repo struct{ Host, Owner, Name string }

// ParseRef reads the written form of a ref. Space around it and leading zeros
// of the number are dropped. The error repeats the text and the grammar.
func ParseRef(text string) (Ref, error) {
	s := strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(s, "github:")
	if !ok {
		return Ref{}, refError(text, "it does not begin with github:")
	}
	ref, err := parsePath(rest)
	if err != nil {
		return Ref{}, refError(text, err.Error())
	}
	return ref, nil
}

// parsePath reads [host/]owner/repo#number.
func parsePath(text string) (Ref, error) {
	path, number, ok := strings.Cut(text, "#")
	if !ok {
		return Ref{}, fmt.Errorf("there is no #number")
	}
	repo, err := parseRepoPath(path)
	if err != nil {
		return Ref{}, err
	}
	n, err := parseNumber(number)
	if err != nil {
		return Ref{}, err
	}
	return repo.Ref(n), nil
}

// ParseArg reads what people type: every form of ParseRef, a number with or
// without #, owner/repo#number, and the URL of an issue or pull request. here
// is asked for the repository of the current directory only when the text
// names none.
func ParseArg(text string, here func() (Repo, error)) (Ref, error) {
	s := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(s, "github:"):
		return ParseRef(s)
	case strings.HasPrefix(s, "https://"), strings.HasPrefix(s, "http://"):
		return ParseURL(s)
	case digits(strings.TrimPrefix(s, "#")):
		n, err := parseNumber(strings.TrimPrefix(s, "#"))
		if err != nil {
			return Ref{}, argError(text, err.Error())
		}
		repo, err := here()
		if err != nil {
			return Ref{}, fmt.Errorf("%q needs a repository: %w", text, err)
		}
		return repo.Ref(n), nil
	}
	ref, err := parsePath(s)
	if err != nil {
		return Ref{}, argError(text, err.Error())
	}
	return ref, nil
}

// ParseURL reads the web address of an issue or a pull request on any host,
// with or without a fragment, a query, or a page of a pull request behind it.
func ParseURL(text string) (Ref, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Ref{}, argError(text, "it is not the address of an issue or pull request")
	}
	p := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(p) < 4 || (p[2] != "issues" && p[2] != "pull" && p[2] != "pulls") {
		return Ref{}, argError(text, "it is not the address of an issue or pull request")
	}
	n, err := parseNumber(p[3])
	if err != nil {
		return Ref{}, argError(text, err.Error())
	}
	repo, err := parseRepoPath(u.Host + "/" + p[0] + "/" + p[1])
	if err != nil {
		return Ref{}, argError(text, err.Error())
	}
	return repo.Ref(n), nil
}

// ParseRepo reads [host/]owner/repo.
func ParseRepo(text string) (Repo, error) {
	r, err := parseRepoPath(strings.TrimSpace(text))
	if err != nil {
		return Repo{}, fmt.Errorf("%q is not a repository: %w; write [host/]owner/repo", text, err)
	}
	return r, nil
}

func parseRepoPath(path string) (Repo, error) {
	p := strings.Split(path, "/")
	r := Repo{}
	if len(p) == 3 {
		if !hostLike(p[0]) {
			return Repo{}, fmt.Errorf("%q is not a host", p[0])
		}
		if !strings.EqualFold(p[0], DefaultHost) {
			r.Host = p[0]
		}
		p = p[1:]
	}
	if len(p) != 2 {
		return Repo{}, fmt.Errorf("owner/repo has two parts, or three with a host before them")
	}
	for _, s := range p {
		if !made(s, "._-") || s == "." || s == ".." {
			return Repo{}, fmt.Errorf("%q is no part of a repository's name", s)
		}
	}
	r.Owner, r.Name = p[0], p[1]
	return r, nil
}

func parseNumber(s string) (int64, error) {
	if !digits(s) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("number %s is over 2^63-1", s)
	}
	if n == 0 {
		return 0, fmt.Errorf("numbers begin at 1")
	}
	return n, nil
}

func refError(text, why string) error {
	return fmt.Errorf("%q is not a ref: %s; write %s", text, why, Grammar)
}

// Ref names number n of the repository.
func (r Repo) Ref(n int64) Ref { return Ref{Host: r.Host, Owner: r.Owner, Repo: r.Name, Number: n} }

// String gives [host/]owner/repo.
func (r Repo) String() string {
	if r.Host != "" {
		return r.Host + "/" + r.Owner + "/" + r.Name
	}
	return r.Owner + "/" + r.Name
}

// Same compares without case.
func (r Repo) Same(o Repo) bool { return strings.EqualFold(r.String(), o.String()) }

// Repository is the ref's repository.
func (r Ref) Repository() Repo { return Repo{r.Host, r.Owner, r.Repo} }

// IsZero says whether the ref names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// String gives the written form, in the case in which it was typed.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	return "github:" + r.Short()
}

// Short is the written form without "github:".
func (r Ref) Short() string {
	return r.Repository().String() + "#" + strconv.FormatInt(r.Number, 10)
}

// Key is the ref's identity: its written form in lower case.
func (r Ref) Key() string { return strings.ToLower(r.String()) }

// Same compares without case.
func (r Ref) Same(o Ref) bool { return r.Number == o.Number && r.Key() == o.Key() }

// Slug names files: lower case, everything outside [a-z0-9._-] one dash. It is
// not an identity: different refs can share one.
func (r Ref) Slug() string {
	host := ""
	if r.Host != "" {
		host = r.Host + "-"
	}
	s := strings.ToLower(fmt.Sprintf("github-%s%s-%s-%d", host, r.Owner, r.Repo, r.Number))
	return dashed(s)
}

// Hash8 is the first eight hex digits of the SHA-256 of Key, for names that a
// slug alone does not tell apart.
func (r Ref) Hash8() string {
	sum := sha256.Sum256([]byte(r.Key()))
	return hex.EncodeToString(sum[:4])
}

// SessionName is the tmux session name that the ref prefers. tmux rewrites or
// mishandles "." and ":", so neither is in it.
func (r Ref) SessionName() string {
	return "loop-" + strings.NewReplacer(".", "_", ":", "_").Replace(r.Slug())
}

// URL is the ref's page, or "" when a part has not the shape that GitHub gives
// such names. GitHub redirects an issue's address to a pull request's.
func (r Ref) URL() string {
	host := r.Host
	if host == "" {
		host = DefaultHost
	}
	if !hostLike(host) || !ownerLike(r.Owner) || !made(r.Repo, "._-") || len(r.Repo) > 100 || r.Repo == "." || r.Repo == ".." || r.Number < 1 {
		return ""
	}
	return fmt.Sprintf("https://%s/%s/%s/issues/%d", host, r.Owner, r.Repo, r.Number)
}

// MarshalText writes the ref's written form.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the ref's written form.
func (r *Ref) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*r = Ref{}
		return nil
	}
	p, err := ParseRef(string(b))
	if err != nil {
		return err
	}
	*r = p
	return nil
}

// argError is for what somebody typed, who need not know the written form.
func argError(text, why string) error {
	return fmt.Errorf("%q is not a ref: %s; write 15, owner/repo#15, or a URL", text, why)
}
