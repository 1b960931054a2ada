// Bench runs the packages' benchmarks on private tmux servers, prints one table
// of what they measured beside what took turns with it, and writes it into
// docs/performance.md. In the checkout:
//
//	go run ./bench            twelve minutes, writes the page
//	go run ./bench -short     two minutes, writes nothing
//	go run ./bench -times 3   three times, and says which ratios do not agree
//
// GH_LOOP_PEERS='NAME=COMMAND ARGS;…' names programs that take turns with ours.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	short := flag.Bool("short", false, "smaller worlds and fewer turns, and the page stays as it is")
	times := flag.Int("times", 1, "measure everything so often, and compare the ratios")
	only := flag.String("only", "", "only the benchmarks that this `REGEXP` matches, and the page stays as it is")
	flag.Parse()
	if flag.NArg() > 0 || *times < 1 {
		return fmt.Errorf("it takes no arguments, and -times from 1 on")
	}
	some, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	root, err := checkout()
	if err != nil {
		return err
	}
	m, err := newMeter(root, *short)
	if err != nil {
		return err
	}
	defer m.close()
	var all []table
	for range *times {
		before := load()
		got, err := m.all(some)
		if err != nil {
			return err
		}
		t := tabulate(got)
		t.machine = machine() + fmt.Sprintf(" Load average %s before and %s after.", before, load())
		if *short {
			t.machine += " Short: a tree of 500 files, 16 events for the callers."
		}
		fmt.Print(t.text())
		all = append(all, t)
	}
	fmt.Print(agreement(all))
	if *short || *only != "" {
		return nil
	}
	return write(root, all[len(all)-1].markdown())
}

// agreement tells which ratios differed by more than a fifth between the times.
func agreement(all []table) string {
	if len(all) < 2 {
		return ""
	}
	var out strings.Builder
	apart := 0
	for i, l := range all[0].lines {
		low, high := l.ratio, l.ratio
		for _, t := range all {
			if i < len(t.lines) {
				low, high = min(low, t.lines[i].ratio), max(high, t.lines[i].ratio)
			}
		}
		if high > low*1.2 {
			apart++
			fmt.Fprintf(&out, "%s beside %s: %.2f to %.2f\n", l.what, l.beside, low, high)
		}
	}
	return fmt.Sprintf("%sOf %d times %d ratios, %d differ by more than a fifth.\n", &out, len(all), len(all[0].lines), apart)
}
