package work

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Rules 1 to 3.
func TestParseRef(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"github:octo/repo#15", "github:octo/repo#15"},
		{"  github:octo/repo#15\n", "github:octo/repo#15"},
		{"github:octo/repo#0015", "github:octo/repo#15"},
		{"github:Octo/Repo#15", "github:Octo/Repo#15"},
		{"github:github.com/octo/repo#15", "github:octo/repo#15"},
		{"github:GitHub.com/octo/repo#15", "github:octo/repo#15"},
		{"github:ghe.example.com/octo/repo#15", "github:ghe.example.com/octo/repo#15"},
		{"github:localhost:8080/octo/repo#15", "github:localhost:8080/octo/repo#15"},
		{"github:ghe.example.com:8443/octo/repo#1", "github:ghe.example.com:8443/octo/repo#1"},
		{"github:a.b/c#1", "github:a.b/c#1"},
		{"github:octo/re.po-1_2#9223372036854775807", "github:octo/re.po-1_2#9223372036854775807"},
		{"github:octo/repo/sub#15", ""},
		{"github:octo/repo#9223372036854775808", ""},
		{"github:octo/repo#0", ""},
		{"github:octo/repo#-1", ""},
		{"github:octo/repo#+1", ""},
		{"github:octo/repo#1.0", ""},
		{"github:octo/repo#１", ""},
		{"github:octo/repo#", ""},
		{"github:octo/repo", ""},
		{"github:octo//repo#1", ""},
		{"github:/repo#1", ""},
		{"github:octo/#1", ""},
		{"github:../repo#1", ""},
		{"github:octo/..#1", ""},
		{"github:oc to/repo#1", ""},
		{"github:octo/repo#1#2", ""},
		{"github:octo/repo\x00#1", ""},
		{"github:octo/re/po.x/y#1", ""},
		{"gitlab:octo/repo#1", ""},
		{"octo/repo#1", ""},
		{"", ""},
	} {
		r, err := ParseRef(c.text)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%q is read as %s", c.text, r)
		case c.want == "" && (!strings.Contains(err.Error(), Grammar) || !r.IsZero()):
			t.Errorf("%q: error %q does not print the grammar", c.text, err)
		case c.want != "" && (err != nil || r.String() != c.want):
			t.Errorf("%q is read as %s, %v, want %s", c.text, r, err, c.want)
		}
	}
}

func TestParseArg(t *testing.T) {
	here := func() (Repo, error) { return Repo{Owner: "octo", Name: "repo"}, nil }
	for text, want := range map[string]string{
		"15": "github:octo/repo#15", "#15": "github:octo/repo#15", " 015 ": "github:octo/repo#15",
		"a/b#3": "github:a/b#3", "h.example/a/b#3": "github:h.example/a/b#3", "github:a/b#3": "github:a/b#3",
		"https://github.com/octo/repo/issues/15":                       "github:octo/repo#15",
		"https://github.com/octo/repo/pull/16#issuecomment-1":          "github:octo/repo#16",
		"https://ghe.example.com/octo/repo/pull/16/files?w=1#diff-abc": "github:ghe.example.com/octo/repo#16",
		"http://ghe.example.com:8443/octo/repo/issues/2/":              "github:ghe.example.com:8443/octo/repo#2",
		"https://github.com/octo/repo/discussions/15":                  "",
		"https://github.com/octo/repo":                                 "",
		"https://github.com/octo/repo/issues/x":                        "",
		"##15":                                                         "", "#": "", "-5": "", "0": "", "repo#1": "", "99999999999999999999": "",
	} {
		r, err := ParseArg(text, here)
		if (want == "") != (err != nil) || r.String() != want {
			t.Errorf("%q is read as %q, %v, want %q", text, r, err, want)
		}
	}
	nowhere := errors.New("no repository here")
	if _, err := ParseArg("15", func() (Repo, error) { return Repo{}, nowhere }); !errors.Is(err, nowhere) {
		t.Errorf("a bare number outside of a repository: %v", err)
	}
}

// Rules 4 to 6.
func TestNames(t *testing.T) {
	for text, want := range map[string][3]string{
		"github:octo/repo#15":                     {"github-octo-repo-15", "loop-github-octo-repo-15", "https://github.com/octo/repo/issues/15"},
		"github:Octo/Re.po#15":                    {"github-octo-re.po-15", "loop-github-octo-re_po-15", "https://github.com/Octo/Re.po/issues/15"},
		"github:ghe.example.com:8443/octo/r__o#1": {"github-ghe.example.com-8443-octo-r__o-1", "loop-github-ghe_example_com-8443-octo-r__o-1", "https://ghe.example.com:8443/octo/r__o/issues/1"},
		"github:.octo/repo#1":                     {"github-.octo-repo-1", "loop-github-_octo-repo-1", ""},
	} {
		r, err := ParseRef(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]string{r.Slug(), r.SessionName(), r.URL()}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	a, b := Ref{Owner: "a-b", Repo: "c", Number: 1}, Ref{Owner: "a", Repo: "b-c", Number: 1}
	if a.Slug() != b.Slug() || a.Hash8() == b.Hash8() || a.Same(b) {
		t.Errorf("%s and %s: slugs %s and %s, hashes %s and %s", a, b, a.Slug(), b.Slug(), a.Hash8(), b.Hash8())
	}
	if x, y := (Ref{Owner: "OCTO", Repo: "Repo", Number: 1}), (Ref{Owner: "octo", Repo: "repo", Number: 1}); !x.Same(y) || x.Hash8() != y.Hash8() || x.Slug() != y.Slug() {
		t.Error("case makes a difference")
	}
}

// Rule 31.
func TestModes(t *testing.T) {
	item, near, far := Ref{Owner: "o", Repo: "r", Number: 1}, Ref{Owner: "O", Repo: "R", Number: 2}, Ref{Owner: "o", Repo: "lib", Number: 2}
	for word, want := range map[string][2]bool{
		"true": {true, true}, "always": {true, true}, "cross-repository": {false, true}, "false": {false, false}, "never": {false, false},
	} {
		m, err := ParseMode(word)
		if err != nil || m.Own(item, near) != want[0] || m.Own(item, far) != want[1] {
			t.Errorf("%s: %v, %v, %v", word, err, m.Own(item, near), m.Own(item, far))
		}
	}
	if _, err := ParseMode("sometimes"); err == nil {
		t.Error("an unknown word is a mode")
	}
	if m := Mode("sometimes"); m.Known() || !m.Own(item, near) {
		t.Error("an unknown word in a record is not the default")
	}
}

// Whatever is written is read back as the same, and its names are names.
func TestRefLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Ref{
			Host:   rapid.SampledFrom([]string{"", "ghe.example.com", "localhost:8080"}).Draw(t, "host"),
			Owner:  rapid.StringMatching(`[A-Za-z0-9._-]*[A-Za-z0-9_-]`).Draw(t, "owner"),
			Repo:   rapid.StringMatching(`[A-Za-z0-9._-]*[A-Za-z0-9_-]`).Draw(t, "repo"),
			Number: rapid.Int64Range(1, math.MaxInt64).Draw(t, "number"),
		}
		again, err := ParseRef(r.String())
		if err != nil || again != r {
			t.Fatalf("%s is read back as %s, %v", r, again, err)
		}
		upper, err := ParseRef("github:" + strings.ToUpper(r.Short()))
		if err != nil || !upper.Same(r) || upper.Key() != r.Key() || upper.Slug() != r.Slug() {
			t.Fatalf("%s and %s differ", upper, r)
		}
		if u := r.URL(); u != "" {
			if back, err := ParseURL(u); err != nil || back != r {
				t.Fatalf("%s is read back from %s as %s, %v", r, u, back, err)
			}
		}
	})
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"github:octo/repo#15", "15", "#15", "https://github.com/o/r/pull/1#x", "github:h.x:1/o/r#1", "github:o/r#0", "https://[::1]:2/o/r/issues/3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseArg(text, func() (Repo, error) { return Repo{Owner: "o", Name: "r"}, nil })
		if err != nil {
			if !r.IsZero() {
				t.Fatalf("%q is an error and %s", text, r)
			}
			return
		}
		again, err := ParseRef(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is read as %s, and that as %s, %v", text, r, again, err)
		}
		for _, c := range r.SessionName() {
			if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				t.Fatalf("%q: session name %q", text, r.SessionName())
			}
		}
		if s := r.Slug(); strings.ContainsAny(s, "/\x00") || strings.HasPrefix(s, ".") {
			t.Fatalf("%q: slug %q", text, s)
		}
	})
}
