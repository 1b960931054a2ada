package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gh-loop/gh-loop/internal/github/githubtest"
)

// onGitHub changes the script's GitHub, which is there from its first word on,
// or checks what it was asked:
//
//	github VERB …                   see githubtest.Server.Do
//	github many N VERB …            the same N times, with the number for %d
//	github count REQUESTS [POINTS]  since the last count; <N is fewer than N
//	github said REF PATTERN         one of its comments matches
func onGitHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg && (len(args) == 0 || args[0] != "said") || len(args) == 0 {
		ts.Fatalf("usage: github VERB WORD...")
	}
	w := worldOf(ts)
	if w.github == nil {
		s, err := githubtest.Start()
		ts.Check(err)
		ts.Defer(s.Close)
		ts.Check(s.Configure(ts.Getenv("GH_CONFIG_DIR")))
		w.github = s
	}
	if args[0] == "said" && len(args) == 3 {
		all, err := w.github.Comments(args[1])
		ts.Check(err)
		pattern := regexp.MustCompile(args[2])
		if slices.ContainsFunc(all, pattern.MatchString) == neg {
			ts.Fatalf("%q are checked for %q", all, args[2])
		}
		return
	}
	if args[0] == "many" && len(args) > 2 {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		for i := range n {
			var line []string
			for _, a := range args[2:] {
				line = append(line, strings.ReplaceAll(a, "%d", strconv.Itoa(i+1)))
			}
			ts.Check(w.github.Do(line...))
		}
		return
	}
	if args[0] == "limit" {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		w.github.Limit(n)
		return
	}
	if args[0] != "count" {
		ts.Check(w.github.Do(args...))
		return
	}
	requests, points, queries := w.github.Count()
	for i, got := range []int{requests, points} {
		if i+1 >= len(args) {
			break
		}
		want, below := strings.CutPrefix(args[i+1], "<")
		n, err := strconv.Atoi(want)
		ts.Check(err)
		if got != n && !(below && got < n) {
			ts.Fatalf("GitHub was asked %d times for %d points, not %v: %s", requests, points, args[1:], strings.Join(queries, "\n\n"))
		}
	}
	if os.Getenv("GH_LOOP_SHOW_QUERIES") != "" {
		ts.Logf("%s", strings.Join(queries, "\n\n"))
	}
}

// failing: failing N, of the failures that GitHub was asked for are still to come.
func failing(ts *testscript.TestScript, args []string) error {
	return same("failures to come", strconv.Itoa(worldOf(ts).github.Failing()), args[0])
}

// hasLine: line FILE PATTERN, of a file that is still written to.
func hasLine(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: line FILE PATTERN")
	}
	b, _ := os.ReadFile(ts.MkAbs(args[0])) // it may not be there yet
	if !regexp.MustCompile(args[1]).Match(b) {
		return fmt.Errorf("%s has no %q:\n%s", args[0], args[1], b)
	}
	return nil
}
