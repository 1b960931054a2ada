package main

import (
	"path/filepath"
	"testing"

	"github.com/gh-loop/gh-loop/bench/turns"
)

// hundred makes a world with 100 items, each with a pull request, one more whose
// session lives, and the calls that people make most.
func (r *rig) hundred() (list, complete []string) {
	r.grow(growing{items: 100, requests: 1})
	r.run("start", "octo/repo#7", "--cwd", r.dir)
	return []string{"list"}, []string{"__complete", "show", "octo/repo#1"}
}

// However many items there are, a list asks tmux once, and completion asks nobody.
func TestHundredItems(t *testing.T) {
	r := newRig(t)
	list, complete := r.hundred()
	if n := r.countTmux(list...); n.processes != 1 {
		t.Errorf("list starts tmux %d times", n.processes)
	}
	if n, _ := r.count(complete...); n.processes != 0 {
		t.Errorf("completion starts %d programs", n.processes)
	}
}

// BenchmarkHundred is what people wait for most, with 100 items.
func BenchmarkHundred(b *testing.B) {
	r := newRig(b)
	list, complete := r.hundred()
	bin := filepath.Join(r.dir, "gh-loop")
	hello, tmux := r.do([]string{r.hello()}), r.do(r.asksTmux())
	var took turns.Turns
	for b.Loop() {
		took.Time("list", r.do(append([]string{bin}, list...)))
		took.Time("complete", r.do(append([]string{bin}, complete...)))
		took.Time("hello", hello)
		took.Time("hello+tmux", func() { hello(); tmux() })
	}
	took.Report(b)
}
