package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what came back to one query: what GitHub filled in, by alias, and
// what it says is missing. With errors the data may be there as well, in part;
// what is missing in it means nothing.
type answer struct {
	Data   map[string]json.RawMessage
	Errors []problem
	Rate   rate
	Viewer string
	At     time.Time // by the host's clock; zero if it does not say
}

type problem struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code  string `json:"code"`
		Field string `json:"fieldName"`
	} `json:"extensions"`
}

type rate struct {
	Cost    int    `json:"cost"`
	Limit   int    `json:"limit"`
	ResetAt string `json:"resetAt"`
}

// readAnswer reads a host's answer. An error means that nothing in it can be
// used: proxies, limits, and a token that is not taken come back in many forms.
func readAnswer(host string, status int, h http.Header, body []byte) (answer, error) {
	var a answer
	a.At, _ = http.ParseTime(h.Get("Date"))
	if status == http.StatusUnauthorized {
		return a, &SignInError{Host: host, Refused: true}
	}
	if status == http.StatusForbidden || status == http.StatusTooManyRequests {
		return a, refusal(host, status, h, body, a.At)
	}
	if status != http.StatusOK {
		return a, &AnswerError{host, status, said(body), status >= 500 || status == http.StatusRequestTimeout}
	}
	if len(body) > maxAnswer {
		return a, &AnswerError{host, status, fmt.Sprintf("it is over %d MB", maxAnswer>>20), false}
	}
	var text struct {
		Data   map[string]json.RawMessage `json:"data"`
		Errors []problem                  `json:"errors"`
	}
	if err := json.Unmarshal(body, &text); err != nil {
		return a, &AnswerError{host, status, said(body), true}
	}
	a.Data, a.Errors = text.Data, text.Errors
	_ = json.Unmarshal(a.Data["rateLimit"], &a.Rate)
	var viewer struct{ Login string }
	_ = json.Unmarshal(a.Data["viewer"], &viewer)
	a.Viewer = viewer.Login
	return a, a.refused(host, h)
}

// refused finds the answers of status 200 that are refusals all the same.
func (a *answer) refused(host string, h http.Header) error {
	if len(a.Errors) == 0 {
		if a.Data == nil {
			return &AnswerError{host, http.StatusOK, "there is no data in it", true}
		}
		return nil
	}
	for _, p := range a.Errors {
		if p.Type == "RATE_LIMITED" {
			return &LimitError{Host: host, wait: pause(h, a.At)}
		}
		if p.Extensions.Code == "undefinedField" {
			return nil // the caller asks for less
		}
	}
	if a.Data == nil {
		return &AnswerError{host, http.StatusOK, a.Errors[0].Message, true}
	}
	return nil
}

// refusal tells a limit from a plain refusal, by headers and by the address of
// the explanation: the message is for people.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func refusal(host string, status int, h http.Header, body []byte, at time.Time) error {
	var text struct {
		Explained string `json:"documentation_url"`
	}
	_ = json.Unmarshal(body, &text)
	wait := pause(h, at)
	if wait > 0 || status == http.StatusTooManyRequests || strings.Contains(text.Explained, "rate-limit") {
		return &LimitError{Host: host, wait: wait}
	}
	why := said(body)
	if h.Get("X-GitHub-SSO") != "" {
		why += "; run gh auth refresh to authorize the token for the organization"
	}
	return &AnswerError{host, status, why, false}
}

// pause is how long the host says that it is to be left alone; 0 if it does
// not say. at is the host's own time, as its clock and ours may differ.
func pause(h http.Header, at time.Time) time.Duration {
	const most = 24 * time.Hour
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s >= 0 {
		return min(max(time.Duration(s)*time.Second, time.Second), most)
	}
	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || at.IsZero() || h.Get("X-RateLimit-Remaining") != "0" {
		return 0
	}
	return min(max(time.Unix(reset, 0).Sub(at), time.Second), most)
}

// said is the beginning of what came instead of an answer.
func said(body []byte) string {
	var text struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &text) == nil && text.Message != "" {
		return text.Message
	}
	s := strings.Join(strings.Fields(string(body[:min(len(body), 300)])), " ")
	switch {
	case s == "":
		return "it is empty"
	case strings.HasPrefix(s, "<"):
		return "it is a web page; is a proxy in between?"
	}
	return fmt.Sprintf("it begins %.60q", s)
}
