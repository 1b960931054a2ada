// Package turns measures things that take turns, so that a machine that is busy
// for a while is busy for all of them: their ratios mean something where their
// times do not. What it reports is read by the program above it.
package turns

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Turns are the times of each thing, in the order in which they were taken.
type Turns struct {
	names []string
	took  map[string][]time.Duration
}

// Add notes a time that somebody else took.
func (t *Turns) Add(name string, d time.Duration) {
	if t.took == nil {
		t.took = map[string][]time.Duration{}
	}
	if t.took[name] == nil {
		t.names = append(t.names, name)
	}
	t.took[name] = append(t.took[name], d)
}

// Time runs a thing and notes how long it took.
func (t *Turns) Time(name string, do func()) {
	began := time.Now()
	do()
	t.Add(name, time.Since(began))
}

// At gives the time below which a share of a thing's runs stayed.
func (t *Turns) At(name string, share float64) time.Duration {
	took := slices.Sorted(slices.Values(t.took[name]))
	if len(took) == 0 {
		return 0
	}
	return took[min(int(share*float64(len(took))), len(took)-1)]
}

// Ratio is how many times as long one thing took as another: the median of what
// each turn said, in which both met the same machine. 0 if they did not take the
// same number of turns.
func (t *Turns) Ratio(name, than string) float64 {
	a, b := t.took[name], t.took[than]
	if len(a) == 0 || len(a) != len(b) {
		return 0
	}
	each := make([]float64, len(a))
	for i := range a {
		each[i] = float64(a[i]) / float64(max(b[i], 1))
	}
	slices.Sort(each)
	return (each[(len(each)-1)/2] + each[len(each)/2]) / 2
}

// Report gives the benchmark median (ms-NAME), nine tenths (p90-NAME) and
// number (n-NAME) of each, in milliseconds, in place of a mean, which would tell
// of the machine, and their ratios (NAME/NAME).
func (t *Turns) Report(b *testing.B) {
	for _, name := range t.names {
		b.ReportMetric(ms(t.At(name, 0.5)), "ms-"+name)
		b.ReportMetric(ms(t.At(name, 0.9)), "p90-"+name)
		b.ReportMetric(float64(len(t.took[name])), "n-"+name)
		for _, than := range t.names {
			if ratio := t.Ratio(name, than); name != than && ratio > 0 {
				b.ReportMetric(ratio, name+"/"+than)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Short says whether a look is wanted that takes little time: worlds are
// smaller then.
func Short() bool {
	short, _ := strconv.ParseBool(os.Getenv("GH_LOOP_BENCH_SHORT"))
	return short || testing.Short()
}
