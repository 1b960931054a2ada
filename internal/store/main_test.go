package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// The test binary plays the other processes: see child.
func TestMain(m *testing.M) {
	if role := os.Getenv("GH_LOOP_STORE_TEST_ROLE"); role != "" {
		if err := play(role, &Store{Dir: os.Getenv("GH_LOOP_STORE_TEST_DIR")}, os.Getenv("GH_LOOP_STORE_TEST_NAME")); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child prepares a process that plays a role on a state directory under a name.
func child(t testing.TB, role, dir, name string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "GH_LOOP_STORE_TEST_ROLE="+role, "GH_LOOP_STORE_TEST_DIR="+dir, "GH_LOOP_STORE_TEST_NAME="+name)
	c.Stderr = os.Stderr
	return c
}

func play(role string, s *Store, name string) error {
	ctx := context.Background()
	switch role {
	case "link": // name is the first of its numbers
		first, _ := strconv.Atoi(name)
		for n := first; n < first+links; n++ {
			if _, err := s.Change(ctx, item, linking(octo(n))); err != nil {
				return err
			}
		}
		return nil
	case "accept":
		for n := 0; ; n++ {
			id := fmt.Sprintf("%s-%d", name, n)
			tk, err := s.Accept(ctx, "issue_comment", id, body(id), time.Unix(1, 0))
			if err != nil {
				return err
			}
			fmt.Println("accepted", id)
			tk.Release()
		}
	case "handle":
		for {
			if err := handleAll(s); err != nil {
				return err
			}
			fmt.Println("idle")
		}
	case "turn": // closes and reopens, and says which turn is on disk
		for n := 0; ; n++ {
			r, err := s.Change(ctx, item, turning(name, n))
			if err != nil {
				return err
			}
			fmt.Println("turned", r.LastEventAt)
		}
	case "once":
		tk, err := s.Accept(ctx, "push", name, body(name), time.Unix(1, 0))
		if err != nil {
			return err
		}
		fmt.Println("accepted")
		if _, err := tk.Try(); err != nil {
			return err
		}
		for n := range 2 {
			if _, err := s.Change(ctx, item, turning(name, n)); err != nil {
				return err
			}
		}
		fmt.Println("turned")
		return tk.Done()
	case "wait": // holds everything that can be held until it is killed
		unlock, err := s.lockRecord(ctx, item.Slug())
		if err != nil {
			return err
		}
		defer unlock()
		if _, err := s.Accept(ctx, "push", "held", []byte("{}"), time.Unix(1, 0)); err != nil {
			return err
		}
		fmt.Println("holding")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	case "small": // no file may be larger than 4 KiB: a disk that is full
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
			return err
		}
		return faulty(s)
	case "nobody": // somebody who may not write
		if os.Getuid() == 0 {
			if err := syscall.Setuid(65534); err != nil {
				return err
			}
		}
		return faulty(s)
	}
	return fmt.Errorf("no role %q", role)
}

// faulty does what must fail and says how.
func faulty(s *Store) error {
	big := make([]byte, 8192)
	_, err := s.Accept(context.Background(), "push", "d", append(append([]byte{'"'}, fmt.Appendf(nil, "%x", big)...), '"'), time.Unix(1, 0))
	fmt.Println("accept:", err)
	_, err = s.Change(context.Background(), item, func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, errors.New("no record")
		}
		r.Title = fmt.Sprintf("%x", big)
		return r, nil
	})
	fmt.Println("change:", err)
	return nil
}

// handleAll handles each waiting event: the ledger's record learns its delivery.
func handleAll(s *Store) error {
	waiting, err := s.Waiting()
	if err != nil {
		return err
	}
	for _, e := range waiting {
		tk, err := s.Claim(context.Background(), e.Seq, false)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrClaimed) {
			continue
		}
		if err != nil {
			return err
		}
		if string(tk.Body) != string(body(tk.Delivery)) {
			return fmt.Errorf("event %d says %q in %q", e.Seq, tk.Delivery, tk.Body)
		}
		if _, err := tk.Try(); err != nil {
			return err
		}
		if _, err := s.Change(context.Background(), ledger, func(r *work.Record) (*work.Record, error) {
			r.Title += tk.Delivery + " "
			return r, nil
		}); err != nil {
			return err
		}
		fmt.Println("handled", tk.Delivery)
		if err := tk.Done(); err != nil {
			return err
		}
	}
	return nil
}

func body(id string) []byte { return fmt.Appendf(nil, `{"id": %q,  "text": "\u001b"}`, id) }

var item, ledger = octo(15), octo(99)

func octo(n int) work.Ref { return work.Ref{Owner: "octo", Repo: "repo", Number: int64(n)} }

func blank(ref work.Ref) *work.Record {
	return &work.Record{Session: work.Session{Ref: ref, Harness: "echo", Cwd: "/w", Status: work.Active}}
}

func creating(ref work.Ref) func(*work.Record) (*work.Record, error) {
	return func(r *work.Record) (*work.Record, error) {
		if r != nil {
			return nil, nil
		}
		return blank(ref), nil
	}
}

func linking(pr work.Ref) func(*work.Record) (*work.Record, error) {
	return func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, errors.New("no record")
		}
		ok, err := r.Link(&work.Session{Ref: pr, Status: work.Active})
		if !ok {
			return nil, err
		}
		return r, nil
	}
}

func setting(status work.Status) func(*work.Record) (*work.Record, error) {
	return func(r *work.Record) (*work.Record, error) {
		if r == nil {
			return nil, nil
		}
		r.Status = status
		return r, nil
	}
}

// turning writes the same words in three places of the record.
func turning(name string, n int) func(*work.Record) (*work.Record, error) {
	return func(r *work.Record) (*work.Record, error) {
		r.Status = []work.Status{work.Closed, work.Active}[n%2]
		words := fmt.Sprintf("%s-%d", name, n)
		r.LastEventAt, r.Title, r.Tree = words, words, words
		return r, nil
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func newStore(t testing.TB, refs ...work.Ref) *Store {
	t.Helper()
	s := &Store{Dir: t.TempDir()}
	for _, ref := range refs {
		must[*work.Record](t)(s.Change(context.Background(), ref, creating(ref)))
	}
	return s
}

// lines starts a child and gives what it prints.
func lines(t testing.TB, c *exec.Cmd) <-chan string {
	t.Helper()
	out := must[io.ReadCloser](t)(c.StdoutPipe())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ch := make(chan string, 1<<16)
	go func() {
		defer close(ch)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			ch <- sc.Text()
		}
	}()
	return ch
}
