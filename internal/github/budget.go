package github

import (
	"errors"
	"time"
)

// Budget is what was asked of a host within the hour that GitHub counts. It is
// kept between calls, so that many short ones have one budget. Its times are by
// our clock, but for Hour.
type Budget struct {
	Hour   string `json:"hour,omitempty"` // names the hour: its end as GitHub says it
	Ends   string `json:"ends,omitempty"`
	Spent  int    `json:"spent,omitempty"`  // points
	Limit  int    `json:"limit,omitempty"`  // points an hour; 0 where the host has no limits
	Rest   string `json:"rest,omitempty"`   // not to be asked before
	Pauses int    `json:"pauses,omitempty"` // how often in a row it asked for one without saying how long
}

// share is the part of the hourly budget that is ours: one in so many points.
const share = 10

// allows says why the host is not to be asked now, or nil.
func (b *Budget) allows(host string, now time.Time) error {
	if rest, ok := when(b.Rest); ok && now.Before(rest) {
		return &LimitError{Host: host, Until: rest}
	}
	if ends, ok := when(b.Ends); ok && now.Before(ends) && b.Limit > 0 && b.Spent >= b.Limit/share {
		return &LimitError{Host: host, Until: ends, Ours: true}
	}
	return nil
}

// note counts an answer, and keeps how long a pause was asked for: as long as
// told, else a minute, doubling up to an hour.
func (b *Budget) note(a answer, err error, now time.Time) {
	if end, ok := when(a.Rate.ResetAt); ok {
		if a.Rate.ResetAt != b.Hour {
			left := time.Hour
			if !a.At.IsZero() {
				left = min(max(end.Sub(a.At), time.Second), time.Hour)
			}
			b.Hour, b.Ends, b.Spent = a.Rate.ResetAt, stamp(now.Add(left)), 0
		}
		b.Spent += max(a.Rate.Cost, 0)
		b.Limit = max(a.Rate.Limit, 0)
	}
	var limit *LimitError
	switch {
	case err == nil:
		b.Rest, b.Pauses = "", 0
	case errors.As(err, &limit):
		if limit.wait == 0 {
			limit.wait = min(time.Minute<<min(b.Pauses, 6), time.Hour)
			b.Pauses++
		}
		limit.Until = now.Add(limit.wait)
		b.Rest = stamp(limit.Until)
	}
}

func when(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// stamp rounds up, so that a pause is never cut short.
func stamp(t time.Time) string {
	return t.Add(time.Second - time.Nanosecond).UTC().Format(time.RFC3339)
}
