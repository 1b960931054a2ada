package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"

	"github.com/gh-loop/gh-loop/internal/work"
)

// Bounds of one request: how long it may take, and how long its answer may be.
const (
	requestBound = 30 * time.Second
	maxAnswer    = 64 << 20
)

// Client asks one host, with the token that gh has for it. It is for one
// goroutine at a time.
type Client struct {
	Budget *Budget          // what was spent; never nil
	Now    func() time.Time // for the budget only: everything else goes by GitHub's clock

	host   string // as refs have it: "" is the default host
	name   string
	graph  string // address of GraphQL
	http   *http.Client
	rest   *api.RESTClient
	lacks  map[string]bool // fields that the host does not have
	viewer string
}

// Dial prepares to ask the host of refs ("" is the default one). It reads gh's
// files and environment and asks nobody but, for a token in a keyring, gh
// itself. The error is a *SignInError or names the cure.
func Dial(host string, now func() time.Time) (*Client, error) {
	name := host
	if name == "" {
		name = work.DefaultHost
	}
	if strings.Contains(name, ":") {
		return nil, fmt.Errorf("host %q has a port, and gh knows no token for such a host: use the host's plain name, and http_unix_socket in gh's configuration to reach it elsewhere", name)
	}
	token, _ := auth.TokenForHost(name) // may run gh, so once
	if token == "" {
		return nil, &SignInError{Host: name}
	}
	options := api.ClientOptions{Host: name, AuthToken: token, Timeout: requestBound}
	hc, err := api.NewHTTPClient(options)
	if err != nil {
		return nil, fmt.Errorf("gh's configuration: %w", err)
	}
	rest, err := api.NewRESTClient(options)
	if err != nil {
		return nil, fmt.Errorf("gh's configuration: %w", err)
	}
	return &Client{Budget: &Budget{}, Now: now, host: host, name: name, graph: graphQL(name), http: hc, rest: rest, lacks: map[string]bool{}}, nil
}

// Viewer is whom the host takes us for, once it was asked something.
func (c *Client) Viewer() string { return c.viewer }

// graphQL is where a host has GraphQL; go-gh knows it and does not tell.
func graphQL(host string) string {
	host = auth.NormalizeHostname(host)
	u := url.URL{Scheme: "https", Host: "api." + host, Path: "/graphql"}
	switch {
	case host == "github.localhost":
		u.Scheme = "http"
	case auth.IsEnterprise(host):
		u.Host, u.Path = host, "/api/graphql"
	}
	if c, err := config.Read(nil); err == nil {
		if other, err := c.Get([]string{"hosts", host, "api_host"}); err == nil && other != "" {
			u.Host = other
		}
	}
	return u.String()
}

// ask sends one query, without the parts that the host is known to lack, and
// counts what it cost. The answer may be partial: see answer.
func (c *Client) ask(ctx context.Context, query string, vars map[string]any) (answer, error) {
	for {
		if err := c.Budget.allows(c.name, c.Now()); err != nil {
			return answer{}, err
		}
		a, err := c.send(ctx, c.known(query), vars)
		c.Budget.note(a, err, c.Now())
		if err != nil {
			return a, err
		}
		if a.At.IsZero() {
			a.At = c.Now()
		}
		if a.Viewer != "" {
			c.viewer = a.Viewer
		}
		if !c.learn(a.Errors) {
			return a, nil
		}
	}
}

func (c *Client) send(ctx context.Context, query string, vars map[string]any) (answer, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graph, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.offline(ctx, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, c.offline(ctx, err)
	}
	return readAnswer(c.name, resp.StatusCode, resp.Header, text)
}

func (c *Client) offline(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &OfflineError{c.name, err}
}

// optional are parts of queries that older hosts do not know, and what is asked
// in their place.
var optional = []struct{ field, text, instead string }{
	{"fullDatabaseId", "fullDatabaseId", "databaseId"},
	{"checkRunCountsByState", "checkRunCountsByState{state count}", ""},
	{"closedByPullRequestsReferences", pullsCounted, ""},
	{"closedByPullRequestsReferences", pullsListed, ""},
}

func (c *Client) known(query string) string {
	for _, o := range optional {
		if c.lacks[o.field] {
			query = strings.ReplaceAll(query, o.text, o.instead)
		}
	}
	return query
}

// learn notes which optional fields the host does not have, and says whether
// one of them was new to us.
func (c *Client) learn(problems []problem) bool {
	isNew := false
	for _, p := range problems {
		for _, o := range optional {
			if p.Extensions.Code == "undefinedField" && p.Extensions.Field == o.field && !c.lacks[o.field] {
				c.lacks[o.field], isNew = true, true
			}
		}
	}
	return isNew
}

// Gone says whether the host denies that the issue or pull request exists, by
// a definite 404 (rule 19). Whatever else comes back is no denial.
func (c *Client) Gone(ctx context.Context, ref work.Ref) bool {
	path := fmt.Sprintf("repos/%s/%s/issues/%d", url.PathEscape(ref.Owner), url.PathEscape(ref.Repo), ref.Number)
	resp, err := c.rest.RequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return status(err) == http.StatusNotFound
	}
	_ = resp.Body.Close()
	return false
}
