package main

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// repo: repo NAME DIR makes NAME.git, a bare repository with a first commit on
// main, and a clone of it in DIR. Who commits is settled for the script.
func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: repo NAME DIR")
	}
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		ts.Setenv(who+"_NAME", "octocat")
		ts.Setenv(who+"_EMAIL", "octocat@example.com")
	}
	ts.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	ts.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	bare, dir := ts.MkAbs(args[0]+".git"), ts.MkAbs(args[1])
	for _, call := range [][]string{
		{"init", "-q", "--bare", "-b", "main", bare},
		{"init", "-q", "-b", "main", dir},
		{"-C", dir, "remote", "add", "origin", bare},
		{"-C", dir, "commit", "-q", "--allow-empty", "-m", "begin"},
		{"-C", dir, "push", "-q", "-u", "origin", "main"},
		{"-C", dir, "remote", "set-head", "origin", "main"},
	} {
		ts.Check(ts.Exec("git", call...))
	}
}

// head: head NAME PR BRANCH pushes a commit with the file BRANCH to NAME.git, as
// the head of pull request PR: as a branch, unless BRANCH is "-", a fork's.
func head(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: head NAME PR BRANCH")
	}
	bare, side := ts.MkAbs(args[0]+".git"), ts.MkAbs("side-"+filepath.Base(args[0])+"-"+args[1])
	to := []string{"-C", side, "push", "-q", "origin", "HEAD:refs/pull/" + args[1] + "/head"}
	if args[2] != "-" {
		to = append(to, "HEAD:refs/heads/"+args[2])
	}
	ts.Check(ts.Exec("git", "clone", "-q", bare, side))
	ts.Check(os.WriteFile(filepath.Join(side, "file-"+args[1]), []byte(args[2]+"\n"), 0o600))
	for _, call := range [][]string{{"-C", side, "add", "-A"}, {"-C", side, "commit", "-q", "-m", "head of " + args[1]}, to} {
		ts.Check(ts.Exec("git", call...))
	}
}

// there: there FILE...; what is waited for with waitfor.
func there(ts *testscript.TestScript, args []string) error {
	for _, name := range args {
		if _, err := os.Stat(ts.MkAbs(name)); err != nil {
			return err
		}
	}
	return nil
}
