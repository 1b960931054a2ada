package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gh-loop/gh-loop/internal/work"
)

// conversation is what the echo agent was told, one JSON object a line.
type conversation struct {
	path     string
	messages []message
	torn     bool // the file ends inside a line, as after a power cut
}

type message struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

// openConversation begins a conversation, or finds the one to resume. It
// refuses as Claude Code does: an id that is in use, an id that nobody knows.
func openConversation(dir, id string, resume bool) (*conversation, error) {
	if !work.UsableID(id) {
		return nil, fmt.Errorf("%q is no conversation id: it begins with a letter or digit, and has at most 128 of letters, digits, '.', '_' and '-'", id)
	}
	c := &conversation{path: filepath.Join(dir, id+".jsonl")}
	b, err := os.ReadFile(c.path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	c.read(b)
	switch {
	case resume && missing:
		return nil, fmt.Errorf("there is no conversation %s in %q: begin it with --session-id %s", id, dir, id)
	case !resume && len(c.messages) > 0:
		return nil, fmt.Errorf("conversation %s is there already: go on with it by --resume %s", id, id)
	case !missing:
		return c, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("conversation %s cannot be kept: %w", id, err)
	}
	if err := c.write(nil); err != nil {
		return nil, fmt.Errorf("conversation %s cannot be kept: %w", id, err)
	}
	return c, nil
}

func (c *conversation) read(b []byte) {
	c.torn = len(b) > 0 && b[len(b)-1] != '\n'
	for line := range bytes.Lines(b) {
		var m message
		if json.Unmarshal(line, &m) == nil && m.Text != "" {
			c.messages = append(c.messages, m)
		}
	}
}

// add remembers a message, also when it cannot be written.
func (c *conversation) add(text string) error {
	m := message{time.Now().UTC().Format(time.RFC3339), text}
	c.messages = append(c.messages, m)
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if c.torn {
		b = append([]byte("\n"), b...)
	}
	if err := c.write(b); err != nil {
		return err
	}
	c.torn = false
	return nil
}

func (c *conversation) write(b []byte) error {
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
