package cli

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gh-loop/gh-loop/internal/dispatch"
	"github.com/gh-loop/gh-loop/internal/event"
)

func (e *env) serveCommand() *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "take webhooks from GitHub", ArgsUsage: " ",
		Description: "Listens on this machine only, for a tunnel or gh webhook forward in front.\nA delivery is answered with 202 when it is on disk, and handled behind that.\n\nExamples:\n  gh loop serve --secret-file ~/.config/gh-loop/secret\n  gh webhook forward --repo octo/repo --events '*' \\\n    --secret \"$(cat ~/.config/gh-loop/secret)\" \\\n    --url http://127.0.0.1:8787",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8787", Usage: "where to listen: `HOST:PORT`"},
			&cli.StringFlag{Name: "secret-file", Usage: "`FILE` that holds the webhook's secret"},
			&cli.BoolFlag{Name: "json", Usage: "print one line of JSON for each event"},
		},
		Action: e.serve,
	}
}

// Bounds of serve. GitHub waits ten seconds for an answer.
const (
	headerBound = 5 * time.Second
	bodyBound   = 10 * time.Second
	answerBound = 20 * time.Second
	endBound    = 20 * time.Second // for what is being handled, when it is told to end
	largeBody   = 1 << 20
	takeUpEvery = 10 * time.Second // events that were held, by whoever
)

func (e *env) serve(ctx context.Context, c *cli.Command) error {
	if _, err := exactly(c); err != nil {
		return err
	}
	if c.String("secret-file") == "" {
		return usagef(c, "--secret-file is missing: anybody could send events without one")
	}
	secret, err := readSecret(ctx, c.String("secret-file"))
	if err != nil {
		return err
	}
	address, err := listenAddress(c.String("listen"))
	if err != nil {
		return usagef(c, "--listen: %s", err)
	}
	d, err := e.build()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	s := &serving{env: e, d: d, secret: secret, small: make(chan struct{}, 64), large: make(chan struct{}, 2), broken: make(chan error, 1)}
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.lanes = d.NewLanes(work, func(r dispatch.Result) { s.told(c, r) })
	return s.until(ctx, l)
}

// readSecret refuses a file that others can read: who has the secret may speak
// in GitHub's name.
func readSecret(ctx context.Context, path string) ([]byte, error) {
	f, err := opened(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o006 != 0 {
		return nil, fmt.Errorf("--secret-file: %q can be read or written by everybody: run chmod 600 %s, and choose another secret", path, path)
	}
	b, err := io.ReadAll(io.LimitReader(reading(ctx, f), 4<<10))
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return nil, fmt.Errorf("--secret-file: %q is empty: put the webhook's secret there, such as openssl rand -hex 32 makes one", path)
	}
	return b, nil
}

// listenAddress refuses an address that others reach unless it says so itself.
func listenAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is no address with a port, such as 127.0.0.1:8787", text)
	case host == "":
		return "", fmt.Errorf("%q would listen to everybody: write 0.0.0.0:%s if that is meant, or 127.0.0.1:%s", text, port, port)
	case host != "localhost" && net.ParseIP(host) == nil:
		return "", fmt.Errorf("%q is a name, which may mean anything: write the address itself", host)
	}
	return text, nil
}

type serving struct {
	*env
	d            *dispatch.Loop
	lanes        *dispatch.Lanes
	secret       []byte
	small, large chan struct{} // how many bodies are read at a time
	broken       chan error    // of printing
	mu           sync.Mutex    // of the log
}

// until serves until ctx ends, and then finishes what it began.
func (s *serving) until(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerBound, ReadTimeout: bodyBound, WriteTimeout: answerBound, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.line(fmt.Sprintf("taking webhooks on http://%s; Ctrl-C ends it", l.Addr()))
	if host, _, _ := net.SplitHostPort(l.Addr().String()); !net.ParseIP(host).IsLoopback() {
		s.line("this address is reached from other machines, and what they send is not encrypted")
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case err := <-failed:
			s.lanes.End()
			return err
		case <-ctx.Done():
			return s.end(server)
		case err := <-s.broken:
			return errors.Join(err, s.end(server))
		case <-tick.C:
			if idle, left := s.lanes.Idle(); left || idle && s.now().Sub(last) > takeUpEvery {
				s.d.Drain(ctx)
				last = s.now()
			}
		}
	}
}

func (s *serving) end(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	err := server.Shutdown(ctx)
	ended := make(chan struct{})
	go func() { s.lanes.End(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done(): // what is not finished is on disk
	}
	s.line("ended; what was not handled yet waits in the inbox")
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// ServeHTTP takes one delivery. It is answered with 202 when we have it, and
// never before (rule 54).
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		_, _ = io.WriteString(w, "ok\n")
		return
	}
	status, text := s.take(w, r)
	if status >= 300 {
		s.line(fmt.Sprintf("refused %s %s: %d %s", event.Line(r.Header.Get("X-GitHub-Event"), 60), event.Line(r.Header.Get("X-GitHub-Delivery"), 60), status, text))
	}
	http.Error(w, text, status)
}

func (s *serving) take(w http.ResponseWriter, r *http.Request) (status int, text string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "webhooks are POSTed"
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := kind == "application/x-www-form-urlencoded"
	mac := hmac.New(sha256.New, s.secret)
	body, status, err := s.read(w, r, mac, form)
	var refused *event.BodyError
	if err != nil && !errors.As(err, &refused) {
		return status, err.Error()
	}
	if !signed(mac, r.Header.Get("X-Hub-Signature-256")) {
		return http.StatusUnauthorized, "the signature is missing or not of this body and secret"
	}
	if err != nil {
		return status, err.Error()
	}
	if form {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return http.StatusBadRequest, "the form cannot be read"
		}
		body = []byte(form.Get("payload"))
	}
	err = s.lanes.Take(context.WithoutCancel(r.Context()), r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"), body)
	switch {
	case errors.As(err, &refused):
		return http.StatusBadRequest, err.Error()
	case err != nil:
		s.line(err.Error())
		return http.StatusServiceUnavailable, "the event is not accepted: send it again"
	}
	return http.StatusAccepted, "accepted"
}

// read reads the body to its end, and gives all of it to mac. So many are in
// memory at a time that strangers cannot fill it. A slow sender ends at the
// server's deadline.
func (s *serving) read(w http.ResponseWriter, r *http.Request, mac io.Writer, form bool) (body []byte, status int, err error) {
	slots := s.small
	if r.ContentLength < 0 || r.ContentLength > largeBody {
		slots = s.large
	}
	if r.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-r.Context().Done():
		return nil, http.StatusServiceUnavailable, errors.New("the sender left")
	}
	in := io.TeeReader(http.MaxBytesReader(w, r.Body, maxBody), mac)
	if form { // its JSON is escaped
		body, err = io.ReadAll(in)
	} else {
		body, err = wholeBody(in)
	}
	if _, rest := io.Copy(io.Discard, in); rest != nil {
		err = rest
	}
	var large *http.MaxBytesError
	var refused *event.BodyError
	switch {
	case errors.As(err, &refused):
		return nil, http.StatusBadRequest, err
	case errors.As(err, &large):
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	case err != nil:
		return nil, http.StatusBadRequest, errors.New("the body ended early")
	}
	return body, 0, nil
}

var errTooLarge = errors.New("the body is over 25 MB, which GitHub never sends")

// signed compares in constant time.
// https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
func signed(mac hash.Hash, header string) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil || !strings.HasPrefix(header, "sha256=") {
		return false
	}
	return hmac.Equal(given, mac.Sum(nil))
}

func (s *serving) told(c *cli.Command, r dispatch.Result) {
	if c.Bool("json") {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := s.printResult(r); err != nil {
			s.unheard(err)
		}
		return
	}
	for _, o := range r.Outcomes {
		s.line(strings.TrimSpace(r.Delivery + "  " + outcomeLine(r, o)))
	}
}

func (s *serving) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stamped(text); err != nil {
		s.unheard(err)
	}
}

// unheard ends the serving, as nobody hears any more what becomes of it.
func (s *serving) unheard(err error) {
	select {
	case s.broken <- err:
	default: // it ends already
	}
}
