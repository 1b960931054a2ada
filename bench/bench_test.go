package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const printed = `goos: linux
BenchmarkJump-2   	      10	         1.5 ms-fixed	         1.8 ms-ours	        20 n-fixed	        20 n-ours	         7.6 p90-fixed	 1.25 ours/fixed	         6.5 p90-ours
BenchmarkListing/live=100,closed=0-2   	      10	 0.5 ms-cat	 1 ms-look-up	 10 n-look-up	 2 p90-look-up	 0.7 p90-cat
BenchmarkStart-2   	      10	 0.5 ms-list	 10 n-list	 2 ms-peer:other
BenchmarkGrowthEnded-2   	 3	 2 ms-hook-0	 3 ms-hook-1000	 3 n-hook-1000
PASS
`

// What benchmarks print becomes lines: a ratio that is too high and a curve
// that grows where it may not are said to be missed.
func TestTable(t *testing.T) {
	got := map[string]figures{}
	if n := parse([]byte(printed), got); n != 4 {
		t.Fatalf("%d lines, %v", n, got)
	}
	made := tabulate(got)
	var cells []string
	for _, l := range made.lines {
		cells = append(cells, strings.Join(l.cells(), "|"))
	}
	want := []string{
		"`prefix G n`: from the key to what is drawn|1.80 (6.50)|a key with `switch-client -t '$2'` written in it|1.50 (7.60)|1.25|20|1.5 ×",
		"a pull request is looked up: 100 live items|1.00 (2.00)|the same files are read|0.50 (0.70)|2.00|10|2 ms",
		"`gh-loop list`, one item|0.50 (0.00)|other|2.00 (0.00)|0.25|10|",
		"a hook, 1,000 ended items|3.00 (0.00)|with 0|2.00 (0.00)|1.50|3|constant: missed",
	}
	for _, w := range want {
		if !slices.Contains(cells, w) {
			t.Errorf("no line %s in\n%s", w, strings.Join(cells, "\n"))
		}
	}
	worse := tabulate(got)
	worse.lines[1].ratio *= 1.3
	if got := agreement([]table{made, worse}); !strings.HasSuffix(got, " 1 differ by more than a fifth.\n") {
		t.Error(got)
	}
}

// The page keeps what stands outside the marks.
func TestPage(t *testing.T) {
	root := t.TempDir()
	page := filepath.Join(root, "docs", "performance.md")
	if err := os.MkdirAll(filepath.Dir(page), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"", "| old |\n"} {
		if err := os.WriteFile(page, []byte("before\n"+begin+old+end+"after\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := write(root, "| new |\n"); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(page); err != nil || string(b) != "before\n"+begin+"\n| new |\n\n"+end+"after\n" {
			t.Errorf("%q, %v", b, err)
		}
	}
	if err := os.WriteFile(page, []byte("no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(root, "x"); err == nil {
		t.Error("a page without marks was written to")
	}
	ours, err := os.ReadFile(filepath.Join("..", "docs", "performance.md"))
	if err != nil || strings.Count(string(ours), begin) != 1 || strings.Count(string(ours), end) != 1 {
		t.Error("docs/performance.md has not one pair of marks")
	}
}

// Every line has a benchmark that is run, and every run is there.
func TestRowsAreMeasured(t *testing.T) {
	names := map[string]bool{}
	for _, r := range runs {
		names[r.name] = true
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(r.pkg), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(f string) bool {
			b, _ := os.ReadFile(f)
			return strings.Contains(string(b), "func Benchmark"+r.name+"(")
		}) {
			t.Errorf("%s has no benchmark %s", r.pkg, r.name)
		}
	}
	for _, r := range rows {
		if name, _, _ := strings.Cut(r.bench, "/"); !names[name] {
			t.Errorf("nothing measures %q", r.what)
		}
	}
	for _, c := range curves {
		if !names[c.bench] {
			t.Errorf("nothing measures %q", c.what)
		}
	}
}
