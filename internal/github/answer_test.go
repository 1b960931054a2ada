package github

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/event"
)

// TestRefusals proves what is made of the answers that are none.
func TestRefusals(t *testing.T) {
	now := at("10:00:00")
	date := now.Format(http.TimeFormat)
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   any
		says   string
	}{
		{"no token taken", 401, nil, `{"message":"Bad credentials"}`, new(*SignInError), "gh auth login --hostname github.com"},
		{"told how long", 403, http.Header{"Retry-After": {"7"}}, `{}`, new(*LimitError), "10:00:07"},
		{"not told how long", 429, nil, ``, new(*LimitError), "10:01:00"},
		{"the explanation says limit", 403, nil, `{"documentation_url":"https://docs.github.com/x/rate-limits"}`, new(*LimitError), "10:01:00"},
		{"the hour is used up", 200, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {fmt.Sprint(now.Add(9 * time.Minute).Unix())}}, `{"errors":[{"type":"RATE_LIMITED","message":"m"}]}`, new(*LimitError), "10:09:00"},
		{"a reset in the past", 403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"}}, ``, new(*LimitError), "10:00:01"},
		{"a pause without end", 403, http.Header{"Retry-After": {"999999999999"}}, ``, new(*LimitError), ""},
		{"forbidden is no limit", 403, http.Header{"X-Github-Sso": {"required"}}, `{"message":"SAML"}`, new(*AnswerError), "SAML; run gh auth refresh"},
		{"gateway", 502, nil, `<html>`, new(*AnswerError), "web page"},
		{"guest network", 200, nil, "\n<!DOCTYPE html>", new(*AnswerError), "proxy"},
		{"nothing", 200, nil, ``, new(*AnswerError), "empty"},
		{"null", 200, nil, `null`, new(*AnswerError), "no data"},
		{"errors alone", 200, nil, `{"errors":[{"message":"Something went wrong"}]}`, new(*AnswerError), "Something went wrong"},
		{"a list", 200, nil, `[1]`, new(*AnswerError), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Date": {date}}
			for k, v := range tt.header {
				h[k] = v
			}
			a, err := readAnswer("github.com", tt.status, h, []byte(tt.body))
			(&Budget{}).note(a, err, now)
			if !errors.As(err, tt.want) {
				t.Fatalf("%v is no %T", err, tt.want)
			}
			if !strings.Contains(strings.ReplaceAll(err.Error(), now.Local().Format("15:04:05")[:3], "10:"), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

// TestBudget proves that a tenth of the hour is ours, that the hour ends, and
// that pauses double.
func TestBudget(t *testing.T) {
	b, now := &Budget{}, at("10:00:00")
	hour := func(cost int, resets string) answer {
		return answer{Rate: rate{Cost: cost, Limit: 5000, ResetAt: day(resets)}, At: at("10:00:00").Add(-3 * time.Hour)} // our clock is ahead
	}
	b.note(hour(499, "07:30:00"), nil, now)
	if err := b.allows("h", now); err != nil {
		t.Error(err)
	}
	b.note(hour(1, "07:30:00"), nil, now)
	var limit *LimitError
	if err := b.allows("h", now.Add(29*time.Minute)); !errors.As(err, &limit) || !limit.Ours {
		t.Errorf("500 points are spent: %v", err)
	}
	if err := b.allows("h", now.Add(31*time.Minute)); err != nil {
		t.Error(err)
	}
	b.note(hour(1, "08:30:00"), nil, now.Add(31*time.Minute))
	if b.Spent != 1 {
		t.Errorf("%d points are spent in the new hour", b.Spent)
	}
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		err := &LimitError{Host: "h"}
		if b.note(answer{}, err, now); err.Until != now.Add(want) {
			t.Errorf("the pause ends %v, want %v", err.Until, now.Add(want))
		}
		if b.allows("h", now) == nil {
			t.Error("it is asked in the pause")
		}
	}
	if b.note(answer{}, nil, now); b.allows("h", now) != nil || b.Pauses != 0 {
		t.Errorf("the pause goes on: %+v", b)
	}
}

// FuzzAnswer proves that no bytes from the other side stop us, close anything
// that they do not state is closed, or make an event that cannot be read.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte(`{"data":{"nodes":[`+strings.NewReplacer("'", `"`, "~", "2026-08-07T").Replace(pull16+`'comments':{'nodes':[`+comment("10", "09:40:00", "")+`]}}`)+`],"viewer":{"login":"octocat"}}}`))
	f.Add(200, []byte(`{"data":{"nodes":[null]},"errors":[{"type":"NOT_FOUND","path":["nodes",0]}]}`))
	f.Add(200, []byte(`{"data":{"nodes":{"a":1},"rateLimit":"x"},"errors":[{"path":[{}]}]}`))
	f.Add(403, []byte(`{"documentation_url":7}`))
	f.Add(200, []byte("<html>\x00\xff"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		a, err := readAnswer("github.com", status, http.Header{"Date": {at("10:30:00").Format(http.TimeFormat)}}, body)
		if (&Budget{}).note(a, err, at("10:30:00")); err != nil {
			_ = err.Error()
			return
		}
		r := round{Client: &Client{Now: func() time.Time { return at("10:30:00") }}}
		list := []*thing{{id: "PR_1"}, {id: "I_1"}}
		r.fill(a, "nodes", list, func(t *thing, n *node) { t.node = n })
		for _, x := range list {
			if x.node == nil {
				continue
			}
			_ = x.node.thing("")
			found, next := x.node.news(event.Watched{Ref: pull, Item: item, Read: known}, "", a.At, 0)
			for _, got := range found {
				e, err := event.Read(got.Body, got.Name, got.Delivery)
				if err != nil || e.Kind == event.Ignored {
					t.Fatalf("%s is no event: %v", got.Body, err)
				}
				if e.Closes && !bytes.Contains(body, []byte("CLOSED")) && !bytes.Contains(body, []byte("MERGED")) {
					t.Fatalf("%s closes", body)
				}
			}
			if again, _ := x.node.news(event.Watched{Ref: pull, Item: item, Read: next}, "", a.At, 0); len(again) > 0 {
				t.Fatalf("%s is found again: %s", body, again[0].Body)
			}
		}
	})
}
