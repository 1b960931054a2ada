package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// line is a row with its figures: medians and nine tenths in milliseconds.
type line struct {
	what, beside, wanted       string
	ours, ours90, than, than90 float64
	ratio                      float64
	n                          int
	missed                     bool
}

type table struct {
	machine string
	lines   []line
}

// tabulate makes the table of what was measured; what was not has no line.
func tabulate(got map[string]figures) table {
	var t table
	for _, r := range rows {
		f := got[r.bench]
		if _, ok := f["ms-"+r.ours]; !ok {
			continue
		}
		l := measured(f, r.ours, r.than)
		l.what, l.beside = r.what, r.beside
		if r.most > 0 {
			l.wanted, l.missed = fmt.Sprintf("%v ×", r.most), l.ratio > r.most
		}
		if r.below > 0 {
			l.wanted, l.missed = fmt.Sprintf("%v ms", r.below), l.ours > r.below
		}
		t.lines = append(t.lines, l)
	}
	for _, unit := range slices.Sorted(maps.Keys(got["Start"])) {
		if peer, ok := strings.CutPrefix(unit, "ms-peer:"); ok {
			l := measured(got["Start"], "list", "peer:"+peer)
			l.what, l.beside = "`gh-loop list`, one item", peer
			t.lines = append(t.lines, l)
		}
	}
	for _, c := range curves {
		t.lines = append(t.lines, c.lines(got[c.bench])...)
	}
	return t
}

func measured(f figures, ours, than string) line {
	l := line{ours: f["ms-"+ours], ours90: f["p90-"+ours], than: f["ms-"+than], than90: f["p90-"+than], n: int(f["n-"+ours])}
	if l.ratio = f[ours+"/"+than]; l.ratio == 0 && l.than > 0 {
		l.ratio = l.ours / l.than
	}
	return l
}

// lines are a curve's, each beside its smallest size.
func (c curve) lines(f figures) []line {
	var sizes []int
	for unit := range f {
		if size, ok := strings.CutPrefix(unit, "ms-"+c.name+"-"); ok {
			if n, err := strconv.Atoi(size); err == nil {
				sizes = append(sizes, n)
			}
		}
	}
	slices.Sort(sizes)
	var out []line
	for i, n := range sizes {
		if i == 0 {
			continue
		}
		l := measured(f, fmt.Sprintf("%s-%d", c.name, n), fmt.Sprintf("%s-%d", c.name, sizes[0]))
		l.what, l.beside, l.wanted = strings.ReplaceAll(c.what, "N ", grouped(n)+" "), "with "+grouped(sizes[0]), c.order
		l.missed = c.most > 0 && l.ratio > c.most
		out = append(out, l)
	}
	return out
}

func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func (l line) cells() []string {
	than, ratio, wanted := "", "", l.wanted
	if l.than > 0 {
		than, ratio = fmt.Sprintf("%s (%s)", ms(l.than), ms(l.than90)), fmt.Sprintf("%.2f", l.ratio)
	}
	if l.missed {
		wanted += ": missed"
	}
	return []string{l.what, fmt.Sprintf("%s (%s)", ms(l.ours), ms(l.ours90)), cmp.Or(l.beside, "—"), than, ratio, strconv.Itoa(l.n), wanted}
}

// ms has three digits, as more would say too much.
func ms(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

var header = []string{"what", "ours, ms: median (p90)", "beside", "its ms: median (p90)", "ratio", "n", "to reach, or order"}

// text is for a terminal.
func (t table) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range t.all() {
		_, _ = fmt.Fprintln(w, strings.ReplaceAll(strings.Join(cells, "\t"), "`", ""))
	}
	_ = w.Flush()
	return b.String() + t.machine + "\n"
}

// markdown is for the page.
func (t table) markdown() string {
	var b strings.Builder
	b.WriteString(t.machine + "\n\n")
	for i, cells := range t.all() {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(cells)) + "\n")
		}
	}
	return b.String()
}

func (t table) all() [][]string {
	all := [][]string{header}
	for _, l := range t.lines {
		all = append(all, l.cells())
	}
	return all
}
