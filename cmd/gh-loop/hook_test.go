package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// onHook speaks to the serve that a script started in the background with its
// standard error in the file serve.log.
//
//	hook up                                    wait until it listens
//	hook get PATH STATUS
//	hook post DELIVERY EVENT FILE STATUS [HOW]  signed with s3cret, unless HOW is unsigned,
//	                                           other-body, other-secret or sha1
//	hook many N SIZE                           so many comments of that size on issue 15, eight at a time
//	hook raw HOW STATUS                        a sender that keeps no rules: slow, short, long, endless, huge
func onHook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hook up|get|post ...")
	}
	address := serving(ts)
	switch args[0] {
	case "up":
		return
	case "many":
		many(ts, address, args[1], args[2])
		return
	case "raw":
		raw(ts, address, args[1], args[2])
		return
	}
	method, path, body, want := http.MethodGet, args[1], "", args[len(args)-1]
	header := http.Header{"Content-Type": {"application/json"}}
	if args[0] == "post" {
		method, path, want = http.MethodPost, "/", args[4]
		body = ts.ReadFile(args[3])
		header.Set("X-GitHub-Delivery", args[1])
		header.Set("X-GitHub-Event", args[2])
		sign(header, body, strings.Join(args[5:], ""))
	}
	req, err := http.NewRequest(method, "http://"+address+path, bytes.NewReader([]byte(body)))
	ts.Check(err)
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	_ = resp.Body.Close()
	if got := strconv.Itoa(resp.StatusCode); got != want {
		ts.Fatalf("the answer is %s, not %s", got, want)
	}
}

// many sends deliveries as fast as they are answered, and says how long it took.
func many(ts *testscript.TestScript, address, count, size string) {
	n, err := strconv.Atoi(count)
	ts.Check(err)
	length, err := strconv.Atoi(size)
	ts.Check(err)
	began := time.Now()
	var wg sync.WaitGroup
	wrong := make(chan string, n)
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				if got := deliver(address, i, length); got != "202 Accepted" {
					wrong <- got
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	ts.Logf("%d deliveries of %d bytes in %v", n, length, time.Since(began).Round(time.Millisecond))
	if len(wrong) > 0 {
		ts.Fatalf("%d of %d were not taken: %s", len(wrong), n, <-wrong)
	}
}

func deliver(address string, i, length int) string {
	body := fmt.Sprintf(`{"action":"created","issue":{"number":15,"title":"t","state":"open","user":{"login":"octocat"}},"comment":{"id":%d,"body":"%s","user":{"login":"octocat"}},"repository":{"full_name":"octo/repo","html_url":"https://github.com/octo/repo"},"sender":{"login":"octocat"}}`,
		1000000+i, strings.Repeat("x", max(0, length-350)))
	req, err := http.NewRequest(http.MethodPost, "http://"+address, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header = http.Header{"X-GitHub-Delivery": {fmt.Sprintf("many-%d", i)}, "X-GitHub-Event": {"issue_comment"}, "Content-Type": {"application/json"}}
	sign(req.Header, body, "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	_ = resp.Body.Close()
	return resp.Status
}

// raw speaks HTTP badly.
func raw(ts *testscript.TestScript, address, how, want string) {
	const head = "POST / HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: ping\r\n"
	text := map[string]string{
		"slow":    head, // and nothing more
		"short":   head + "Content-Length: 100\r\n\r\n{",
		"long":    head + "Content-Length: 2\r\nConnection: close\r\n\r\n{\"zen\":1}",
		"endless": head + "Transfer-Encoding: chunked\r\n\r\n",
		"huge":    head + "Content-Length: 99999999999\r\n\r\n",
	}[how]
	c, err := net.Dial("tcp", address)
	ts.Check(err)
	defer c.Close()
	_, err = c.Write([]byte(text))
	ts.Check(err)
	if how == "endless" {
		go func() {
			chunk := []byte("100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n")
			for err := error(nil); err == nil; {
				_, err = c.Write(chunk)
			}
		}()
	}
	ts.Check(c.SetReadDeadline(time.Now().Add(patience)))
	answer, err := io.ReadAll(c) // until the server hangs up
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		ts.Fatalf("the server still waits")
	}
	if got, _, _ := strings.Cut(strings.TrimPrefix(string(answer), "HTTP/1.1 "), " "); got != want {
		ts.Fatalf("the answer begins %.60q, not with %s", answer, want)
	}
}

func sign(h http.Header, body, how string) {
	secret := "s3cret"
	switch how {
	case "unsigned":
		return
	case "other-body":
		body += " "
	case "other-secret":
		secret = "s3cres"
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	name, prefix := "X-Hub-Signature-256", "sha256="
	if how == "sha1" {
		prefix = "sha1="
	}
	h.Set(name, prefix+hex.EncodeToString(mac.Sum(nil)))
}

var listening = regexp.MustCompile(`webhooks on http://(\S+);`)

func serving(ts *testscript.TestScript) string {
	path := filepath.Join(worldOf(ts).work, "serve.log")
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil {
			if m := listening.FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	ts.Fatalf("nobody serves")
	return ""
}
