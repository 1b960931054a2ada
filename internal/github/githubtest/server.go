// Package githubtest is a GitHub for tests: a server behind gh's
// http_unix_socket that answers GraphQL and a little REST from a state which
// tests change. It counts what it is asked, as GitHub counts it, and fails as
// GitHub and what stands before it do.
package githubtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Server is one such GitHub. Its clock is its own: see Do.
type Server struct {
	Socket string

	mu       sync.Mutex
	state    state
	failures []string
	spent    int
	requests int
	queries  []string
	limit    int
	http     *http.Server
}

// Start serves on a socket in a directory of its own, whose path is short
// enough for one. The caller ends it with Close.
func Start() (*Server, error) {
	dir, err := os.MkdirTemp("/tmp", "gh")
	if err != nil {
		return nil, err
	}
	s := &Server{Socket: filepath.Join(dir, "s"), limit: 5000}
	s.state = state{now: time.Date(2026, 8, 7, 10, 0, 0, 0, time.UTC), ids: 1000, login: "octocat"}
	l, err := net.Listen("unix", s.Socket)
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close ends the server and removes its socket.
func (s *Server) Close() {
	_ = s.http.Close()
	_ = os.RemoveAll(filepath.Dir(s.Socket))
}

// Configure makes a directory one for $GH_CONFIG_DIR that leads here.
func (s *Server) Configure(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.yml"), []byte("version: \"1\"\nhttp_unix_socket: "+s.Socket+"\n"), 0o600)
}

// Count gives the requests and points since the last Count, and the queries.
func (s *Server) Count() (requests, points int, queries []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, points, queries = s.requests, s.spent, s.queries
	s.requests, s.spent, s.queries = 0, 0, nil
	return requests, points, queries
}

// Failing is how many of the failures that were asked for are still to come.
func (s *Server) Failing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failures)
}

// Limit sets the points of an hour.
func (s *Server) Limit(points int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = points
}

// fail has the next n requests answered by a failure: 401, 403, 404, 502, html,
// cut (half an answer), drop (no answer), secondary (403 with Retry-After: 7),
// limited (429 without), exhausted (the primary limit), nodata, errors (data
// and an error that names no path), null, odd (data of other types), late (a second),
// hang (until whoever asks leaves).
func (s *Server) fail(kind string, n int) error {
	if _, ok := failures[kind]; !ok && kind != "late" && kind != "hang" && kind != "none" {
		return fmt.Errorf("%q is no failure", kind)
	}
	if kind == "none" {
		s.failures = nil
		return nil
	}
	for range n {
		s.failures = append(s.failures, kind)
	}
	return nil
}

type failure struct {
	status  int
	kind    string
	body    string
	headers map[string]string
}

const isJSON = "application/json; charset=utf-8"

var failures = map[string]failure{
	"401":       {401, isJSON, `{"message":"Bad credentials"}`, nil},
	"403":       {403, isJSON, `{"message":"Resource protected by organization SAML enforcement."}`, map[string]string{"X-GitHub-SSO": "required"}},
	"404":       {404, isJSON, `{"message":"Not Found"}`, nil},
	"502":       {502, "text/html", `<html><body><h1>502 Bad Gateway</h1></body></html>`, nil},
	"html":      {200, "text/html", `<html><title>Sign in to the guest network</title></html>`, nil},
	"cut":       {200, isJSON, `{"data":{"viewer":{"login":"oct`, nil},
	"drop":      {},
	"secondary": {403, isJSON, `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/graphql/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, map[string]string{"Retry-After": "7"}},
	"limited":   {429, isJSON, `{"message":"Too many requests"}`, nil},
	"exhausted": {200, isJSON, `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, map[string]string{"X-RateLimit-Remaining": "0"}},
	"nodata":    {200, isJSON, `{"data":null,"errors":[{"message":"Something went wrong while executing your query."}]}`, nil},
	"errors":    {200, isJSON, `{"data":{"viewer":{"login":"octocat"}},"errors":[{"message":"Something went wrong while executing your query."}]}`, nil},
	"null":      {200, isJSON, `null`, nil},
	"odd":       {200, isJSON, `{"data":{"viewer":7,"rateLimit":"x","nodes":{"a":1},"n0":[1,"two",null,{"id":7}],"r0":[]}}`, nil},
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	w.Header().Set("Date", s.state.now.Add(3*time.Second).UTC().Format(http.TimeFormat))
	if len(s.failures) > 0 {
		kind := s.failures[0]
		s.failures = s.failures[1:]
		switch kind {
		case "drop":
			panic(http.ErrAbortHandler)
		case "hang":
			s.mu.Unlock()
			<-r.Context().Done()
			s.mu.Lock()
			return
		case "late":
			s.mu.Unlock()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
			s.mu.Lock()
		default:
			s.broken(w, failures[kind])
			return
		}
	}
	w.Header().Set("Content-Type", isJSON)
	if r.URL.Path == "/graphql" || r.URL.Path == "/api/graphql" {
		s.graphql(w, r)
		return
	}
	s.rest(w, r)
}

func (s *Server) broken(w http.ResponseWriter, f failure) {
	w.Header().Set("Content-Type", f.kind)
	for k, v := range f.headers {
		w.Header().Set(k, v)
	}
	if f.headers["X-RateLimit-Remaining"] != "" {
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(s.resets().Unix(), 10))
	}
	w.WriteHeader(f.status)
	_, _ = w.Write([]byte(f.body))
}

func (s *Server) resets() time.Time { return s.state.now.Truncate(time.Hour).Add(2 * time.Hour) }

func (s *Server) graphql(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Query     string
		Variables map[string]any
	}
	answer := map[string]any{}
	defer func() { _ = json.NewEncoder(w).Encode(answer) }()
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		answer["errors"] = []any{&fault{Message: err.Error()}}
		return
	}
	s.queries = append(s.queries, q.Query)
	doc, err := parse(q.Query)
	if err != nil {
		answer["errors"] = []any{&fault{Message: err.Error()}}
		return
	}
	e := run{doc: doc, vars: q.Variables}
	cost := max(1, (e.requests(doc.operation, 1)+50)/100)
	rate := object{"__typename": "RateLimit", "cost": cost, "limit": s.limit, "remaining": max(0, s.limit-s.spent-cost), "resetAt": stamp(s.resets())}
	data, err := e.object(s.state.root(rate), doc.operation, nil)
	if err != nil {
		answer["errors"] = []any{err}
		return
	}
	s.spent += cost
	answer["data"] = data
	if len(e.faults) > 0 {
		answer["errors"] = e.faults
	}
}

var issuePath = regexp.MustCompile(`^(?:/api/v3)?/repos/([^/]+/[^/]+)/issues/(\d+)$`)

var commentsPath = regexp.MustCompile(`^(?:/api/v3)?/repos/([^/]+/[^/]+)/issues/(\d+)/comments$`)

// Comments gives the texts of a thing's comments.
func (s *Server) Comments(name string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo, number, err := ref(name)
	if err != nil {
		return nil, err
	}
	var out []string
	if t := s.state.find(repo, number); t != nil {
		for _, c := range t.comments {
			out = append(out, c.text)
		}
	}
	return out, nil
}

// rest has the few addresses that gh and we ask.
func (s *Server) rest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/user" {
		_ = json.NewEncoder(w).Encode(map[string]any{"login": s.state.login})
		return
	}
	if m := issuePath.FindStringSubmatch(r.URL.Path); m != nil {
		n, _ := strconv.Atoi(m[2])
		if t := s.state.find(m[1], n); t != nil && !t.hidden {
			_ = json.NewEncoder(w).Encode(map[string]any{"number": t.number, "title": t.title, "state": t.state, "node_id": t.id})
			return
		}
	}
	if m := commentsPath.FindStringSubmatch(r.URL.Path); m != nil && r.Method == http.MethodPost {
		n, _ := strconv.Atoi(m[2])
		var in struct{ Body string }
		if t := s.state.find(m[1], n); t != nil && json.NewDecoder(r.Body).Decode(&in) == nil && in.Body != "" {
			at := s.state.step()
			t.comments = append(t.comments, &words{id: s.state.id(), by: s.state.login, assoc: "OWNER", text: in.Body, created: at, updated: at})
			t.updated = at
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{}`))
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(`{"message":"Not Found","status":"404"}`))
}
