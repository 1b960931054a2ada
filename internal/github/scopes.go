package github

import (
	"context"
	"net/http"
)

// Scopes asks the host what the token is for. It is "" for a token that has no
// scopes, as a fine-grained one.
func (c *Client) Scopes(ctx context.Context) (string, error) {
	resp, err := c.rest.RequestWithContext(ctx, http.MethodGet, "rate_limit", nil)
	if err != nil {
		if status(err) == http.StatusUnauthorized {
			return "", &SignInError{Host: c.name, Refused: true}
		}
		return "", c.offline(ctx, err)
	}
	defer resp.Body.Close()
	return resp.Header.Get("X-Oauth-Scopes"), nil
}
