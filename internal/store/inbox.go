package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/gh-loop/gh-loop/internal/work"
)

// MaxTries is how often an event is begun before it is set aside: an event
// that was begun and neither done nor held brought its process down.
const MaxTries = 5

// Held is what is known about an event that waits, and changes while it does.
type Held struct {
	Tries     int        `json:"tries,omitempty"` // times begun since it was last held
	Reason    string     `json:"reason,omitempty"`
	Items     []work.Ref `json:"items,omitempty"`
	Endpoints []work.Ref `json:"endpoints,omitempty"`
	At        string     `json:"at,omitempty"` // RFC 3339
}

// Entry is an event in the inbox. Its body is read by Claim. A lower Seq
// arrived earlier.
type Entry struct {
	Seq  uint64
	Path string
	Held Held
}

// Ticket is an event that is ours to handle: nobody else gets it until Done,
// Hold, SetAside or Release, or until this process ends.
type Ticket struct {
	Seq            uint64
	Name, Delivery string // GitHub's event name, and its id of the delivery
	Body           []byte
	At             time.Time // when it was accepted
	Held           Held

	store *Store
	claim *flock.Flock
}

// Accept puts an event on disk before anything is done with it (rule 53). When
// it returns without an error the event survives a power cut, and its number is
// higher than that of every event that waits.
func (s *Store) Accept(ctx context.Context, name, delivery string, body []byte, at time.Time) (*Ticket, error) {
	t, err := s.accept(ctx, name, delivery, body, at)
	if err != nil {
		return nil, fmt.Errorf("inbox: the event is not accepted: %w", err)
	}
	return t, nil
}

func (s *Store) accept(ctx context.Context, name, delivery string, body []byte, at time.Time) (*Ticket, error) {
	if err := makeDir(s.inbox()); err != nil {
		return nil, err
	}
	tmp, claim, err := s.claimedTemp(ctx)
	if err != nil {
		return nil, err
	}
	t := &Ticket{Name: name, Delivery: delivery, Body: body, At: at, store: s, claim: claim}
	err = writeEvent(tmp, name, delivery, body, at)
	if err == nil {
		t.Seq, err = s.number(tmp)
	}
	err = errors.Join(err, ignoreAbsent(os.Remove(tmp)))
	if err == nil {
		err = errors.Join(ignoreAbsent(os.Remove(t.sidecar())), syncDir(s.inbox()))
	}
	if err != nil {
		if t.Seq != 0 { // the caller still has it
			err = errors.Join(err, os.Remove(s.event(t.Seq)))
		}
		return nil, errors.Join(err, claim.Unlock())
	}
	return t, nil
}

// claimedTemp makes a file that is ours from before it has content, so that
// sweeping leaves it alone.
func (s *Store) claimedTemp(ctx context.Context) (string, *flock.Flock, error) {
	for {
		f, err := os.CreateTemp(s.inbox(), ".accept-*.tmp")
		if err != nil {
			return "", nil, err
		}
		tmp := f.Name()
		_ = f.Close()
		claim := flock.New(tmp, flock.SetFlag(os.O_RDONLY))
		ok, err := claim.TryLock()
		if ok && same(claim, tmp) {
			return tmp, claim, nil
		}
		_ = claim.Unlock()
		if err == nil {
			err = ctx.Err() // a sweep came between: try another name
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(err, ignoreAbsent(os.Remove(tmp)))
		}
	}
}

type header struct {
	Event    string `json:"event"`
	Delivery string `json:"delivery"`
	At       string `json:"at"`
}

// writeEvent writes {event, delivery, at, body} without a copy of the body,
// which is kept as it is if it is JSON, and as base64 if it is not.
func writeEvent(path, name, delivery string, body []byte, at time.Time) error {
	head, err := json.Marshal(header{name, delivery, at.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return err
	}
	member, raw := `,"body":`, body
	if !json.Valid(body) {
		member = `,"base64":`
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head[:len(head)-1], []byte(member), raw, []byte("}\n")} {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readEvent reads what writeEvent wrote. The body is decoded on its own, so
// that its depth is no deeper for having been wrapped.
func readEvent(b []byte) (t Ticket, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return t, errors.Join(fmt.Errorf("it is no JSON object"), err)
	}
	var at string
	var body json.RawMessage
	into := map[string]any{"event": &t.Name, "delivery": &t.Delivery, "at": &at, "body": &body, "base64": &t.Body}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return t, err
		}
		name, _ := key.(string)
		dest, ok := into[name]
		if !ok {
			dest = new(json.RawMessage)
		}
		if err := d.Decode(dest); err != nil {
			return t, err
		}
	}
	if _, err := d.Token(); err != nil {
		return t, err
	}
	if body != nil {
		t.Body = body
	}
	t.At, err = time.Parse(time.RFC3339Nano, at)
	return t, err
}

// number links a finished file under the number after the highest there is.
// The number is the order of arrival: no clock is asked.
func (s *Store) number(tmp string) (uint64, error) {
	seqs, others, err := s.readInbox()
	if err != nil {
		return 0, err
	}
	s.sweep(seqs, others)
	next := uint64(1)
	if len(seqs) > 0 {
		next = seqs[len(seqs)-1] + 1
	}
	for _, name := range others {
		if n, ok := seqOf(name, heldSuffix); ok {
			next = max(next, n+1)
		}
	}
	for ; ; next++ {
		if err := os.Link(tmp, s.event(next)); err == nil {
			return next, nil
		} else if !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
}

const heldSuffix = ".held.json"

func (s *Store) event(seq uint64) string {
	return filepath.Join(s.inbox(), fmt.Sprintf("%016d.json", seq))
}

func seqOf(name, suffix string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// readInbox gives the events' numbers in order, and the other names.
func (s *Store) readInbox() (seqs []uint64, others []string, err error) {
	all, err := listDir(s.inbox())
	for _, name := range all {
		if n, ok := seqOf(name, ".json"); ok {
			seqs = append(seqs, n)
		} else {
			others = append(others, name)
		}
	}
	slices.Sort(seqs)
	return seqs, others, err
}

// Waiting gives the events that were accepted and are not yet done, in their
// order of arrival, be they held, left behind by a crash, or being handled at
// this moment: Claim tells.
func (s *Store) Waiting() ([]Entry, error) {
	seqs, others, err := s.readInbox()
	if err != nil {
		return nil, err
	}
	s.sweep(seqs, others)
	held := map[uint64]bool{}
	for _, name := range others {
		if n, ok := seqOf(name, heldSuffix); ok {
			held[n] = true
		}
	}
	entries := make([]Entry, 0, len(seqs))
	for _, n := range seqs {
		e := Entry{Seq: n, Path: s.event(n)}
		if held[n] {
			e.Held = readHeld(sidecar(e.Path))
		}
		entries = append(entries, e)
	}
	return entries, nil
}
