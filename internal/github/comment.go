package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/auth"

	"github.com/gh-loop/gh-loop/internal/event"
	"github.com/gh-loop/gh-loop/internal/work"
)

// maxComment is how many characters GitHub takes in one comment.
const maxComment = 65536

// Comment writes a comment on an issue or pull request, with the mark by which
// it does not come back as an event. The mark stands first, as text behind an
// open code block would be shown.
func Comment(ctx context.Context, on work.Ref, text string) error {
	text = event.Marker + "\n" + text
	if n := utf8.RuneCountInString(text); n > maxComment {
		return fmt.Errorf("comment on %s: it has %d characters, and GitHub takes %d: make it shorter", on.Short(), n, maxComment)
	}
	host := on.Host
	if host == "" {
		host = work.DefaultHost
	}
	token, _ := auth.TokenForHost(host)
	if token == "" {
		return &SignInError{Host: host}
	}
	client, err := api.NewRESTClient(api.ClientOptions{Host: host, AuthToken: token, Timeout: 15 * time.Second})
	if err != nil {
		return fmt.Errorf("comment on %s: %w", on.Short(), err)
	}
	body, err := json.Marshal(map[string]string{"body": text})
	if err != nil {
		return err
	}
	path := fmt.Sprintf("repos/%s/%s/issues/%d/comments", on.Owner, on.Repo, on.Number)
	answer, err := client.RequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	var said *api.HTTPError
	switch {
	case errors.As(err, &said) && said.StatusCode == http.StatusUnauthorized:
		return &SignInError{Host: host, Refused: true}
	case err != nil:
		return fmt.Errorf("comment on %s: %w", on.Short(), err)
	}
	return answer.Body.Close()
}
