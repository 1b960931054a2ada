package tree

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gh-loop/gh-loop/internal/work"
)

func TestPick(t *testing.T) {
	for _, c := range []struct {
		urls            string
		exact, fallback string
	}{
		{"origin https://github.com/octo/repo.git", "origin", ""},
		{"origin https://user:secret@github.com/Octo/Repo/", "origin", ""},
		{"origin git@github.com:octo/repo.git", "origin", ""},
		{"origin ssh://git@ssh.github.com:443/octo/repo.git", "origin", ""},
		{"origin git://github.com/octo/repo", "origin", ""},
		{"origin work:octo/repo.git", "origin", ""},
		{"origin work:octo/repo.git up git@github.com:octo/repo", "up", ""},
		{"origin git@github.com:cat/repo.git upstream https://github.com/octo/repo", "upstream", ""},
		{"origin https://gitlab.com/octo/repo", "", ""},
		{"origin https://github.com/octo/repository", "", ""},
		{"origin /srv/git/repo.git", "", "origin"},
		{"origin file:///srv/git/octo/repo", "", "origin"},
		{"origin ./a:b/c", "", "origin"},
		{"there ../repo", "", "there"},
		{"there ../repo else ../repo", "", ""},
		{"there ../repo origin ../repo", "", "origin"},
		{"origin https://gitlab.com/octo/other there ../repo", "", ""},
		{"origin https://%zz/octo/repo", "", ""},
	} {
		var list []remote
		f := strings.Fields(c.urls)
		for i := 0; i < len(f); i += 2 {
			list = append(list, remote{f[i], f[i+1]})
		}
		if exact, fallback := pick(list, work.Repo{Owner: "octo", Name: "repo"}); exact != c.exact || fallback != c.fallback {
			t.Errorf("%s: %q, %q; want %q, %q", c.urls, exact, fallback, c.exact, c.fallback)
		}
	}
	if exact, _ := pick([]remote{{"origin", "ssh://git@ghe.local:2222/octo/repo"}}, work.Repo{Host: "GHE.local:8443", Owner: "octo", Name: "repo"}); exact != "origin" {
		t.Error("a host with ports is not found")
	}
}

func TestCheckBranch(t *testing.T) {
	for _, good := range []string{"main", "issue-15", "loop/pr-16", "feat/ünïcode-漢字", "a.b", "a@b", "x/-y", "';touch;'", "$(id)", "a\u00a0b"} {
		if err := checkBranch(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-x", "--", "a..b", "a b", "a\tb", "a\nb", "a\x7fb", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "/a", "a/", "a//b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "a@{b", "HEAD", "\xff", strings.Repeat("x", 251)} {
		if checkBranch(bad) == nil {
			t.Errorf("%q is let through", bad)
		}
	}
}

// What we let through, git lets through.
func TestCheckBranchAgainstGit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[-./@{}~a-c *:\\lock]{1,8}`).Draw(t, "name")
		if checkBranch(name) == nil {
			if out, err := exec.Command("git", "check-ref-format", "--branch", name).CombinedOutput(); err != nil {
				t.Fatalf("%q: %v %s", name, err, out)
			}
		}
	})
}
