package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/bench/turns"
)

// sizes gives those that there is time for.
func sizes(short int, all ...int) []int {
	if turns.Short() {
		return all[:short]
	}
	return all
}

// curve measures calls in worlds of each size, all in turns.
func curve(b *testing.B, world func(size int) growing, sizes []int, calls map[string][]string) {
	r := newRig(b)
	for _, n := range sizes {
		r.inState(fmt.Sprint("of-", n))
		r.grow(world(n))
	}
	var took turns.Turns
	for n := 1; b.Loop(); n++ {
		for _, size := range sizes {
			r.inState(fmt.Sprint("of-", size))
			body := r.onPull(n, world(size).text)
			for name, args := range calls {
				if name == "event" {
					args = []string{"event", "--delivery", fmt.Sprint("d-", n), body}
				}
				took.Time(fmt.Sprintf("%s-%d", name, size), r.do(append([]string{filepath.Join(r.dir, "gh-loop")}, args...)))
			}
		}
	}
	took.Report(b)
}

var someHook = []string{"hook", "session-closed", "$77", "1", "1"}

func BenchmarkGrowthItems(b *testing.B) {
	curve(b, func(n int) growing { return growing{items: n, requests: 1, text: 100} }, sizes(3, 10, 100, 1000, 10000),
		map[string][]string{"event": nil, "hook": someHook, "list": {"list"}})
}

func BenchmarkGrowthRequests(b *testing.B) {
	curve(b, func(n int) growing { return growing{items: 10, requests: n, text: 100} }, sizes(4, 1, 10, 100, 1000),
		map[string][]string{"event": nil, "hook": someHook})
}

func BenchmarkGrowthEnded(b *testing.B) {
	curve(b, func(n int) growing { return growing{items: 10, requests: 1, ended: n, text: 100} }, sizes(2, 0, 1000, 10000, 100000),
		map[string][]string{"event": nil, "hook": someHook, "list": {"list"}})
}

func BenchmarkGrowthText(b *testing.B) {
	curve(b, func(n int) growing { return growing{items: 10, requests: 1, text: n} }, sizes(3, 100, 10_000, 1_000_000),
		map[string][]string{"event": nil})
}

// BenchmarkCallers is one item that 64 events come for, from so many processes
// at once (16 if time is short). All arrive, each once.
func BenchmarkCallers(b *testing.B) {
	events, at := 64, []int{1, 8, 64}
	if turns.Short() {
		events, at = 16, []int{1, 16}
	}
	r := newRig(b)
	var took turns.Turns
	id := 0
	for b.Loop() {
		for _, callers := range at {
			first := id
			files := make(chan [2]string, events)
			for range events {
				id++
				file := r.comment(id)
				own := filepath.Join(r.dir, fmt.Sprintf("body-%d.json", id))
				if err := os.Rename(file, own); err != nil {
					b.Fatal(err)
				}
				files <- [2]string{fmt.Sprint("d-", id), own}
			}
			close(files)
			began := time.Now()
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for f := range files {
						if out, err := r.program(filepath.Join(r.dir, "gh-loop"), "event", "--delivery", f[0], f[1]).CombinedOutput(); err != nil {
							b.Errorf("%v: %s", err, out)
						}
					}
				})
			}
			wg.Wait()
			r.arrived(first+1, id)
			took.Add(fmt.Sprint("event-", callers), time.Since(began))
		}
	}
	took.Report(b)
}

// arrived waits until each of the comments was typed at the agent, and fails if
// one was twice.
func (r *rig) arrived(first, last int) {
	r.t.Helper()
	missing, twice := []int{}, []int{}
	poll(func() bool {
		files, _ := filepath.Glob(filepath.Join(r.dir, "in.*"))
		var typed strings.Builder
		for _, f := range files {
			b, _ := os.ReadFile(f)
			typed.Write(b)
		}
		missing, twice = nil, nil
		for n := first; n <= last; n++ {
			switch strings.Count(typed.String(), fmt.Sprintf("measured %d\n", n)) {
			case 0:
				missing = append(missing, n)
			case 1:
			default:
				twice = append(twice, n)
			}
		}
		return len(missing) == 0
	})
	if len(missing)+len(twice) > 0 {
		r.t.Fatalf("of %d to %d these did not arrive: %v, and these twice: %v", first, last, missing, twice)
	}
}
