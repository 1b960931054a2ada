package turns

import (
	"testing"
	"time"
)

// A ratio is what most turns said: a machine that was busy for some of them, for
// both things, does not change it.
func TestRatio(t *testing.T) {
	var took Turns
	for i, busy := range []time.Duration{1, 1, 40, 1, 9} {
		took.Add("ours", busy*3*time.Millisecond)
		took.Add("than", busy*2*time.Millisecond)
		if i > 0 {
			took.Add("fewer", time.Millisecond)
		}
	}
	if got := took.Ratio("ours", "than"); got != 1.5 {
		t.Errorf("%v, want 1.5", got)
	}
	for _, than := range []string{"fewer", "never"} {
		if got := took.Ratio("ours", than); got != 0 {
			t.Errorf("beside %s %v, want none", than, got)
		}
	}
	took.Add("ours", 2*time.Millisecond)
	took.Add("than", time.Millisecond)
	if got := took.Ratio("ours", "than"); got != 1.5 {
		t.Errorf("of an even number %v, want 1.5", got)
	}
}
