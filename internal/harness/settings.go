package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Insert is a text that was put into another.
type Insert struct {
	At   int    `json:"at"` // byte offset, once all inserts before it are done
	Text string `json:"text"`
}

// Undo takes inserts out again, last first. A text that was changed elsewhere
// since gives every byte of that back; it fails where an insert itself changed.
func Undo(text string, inserts []Insert) (string, error) {
	for _, in := range slices.Backward(inserts) {
		at := in.At
		if at < 0 || at > len(text) || !strings.HasPrefix(text[at:], in.Text) {
			if at = strings.Index(text, in.Text); at < 0 || strings.Count(text, in.Text) > 1 {
				return "", errors.New("what was added is no longer as it was")
			}
		}
		text = text[:at] + text[at+len(in.Text):]
	}
	return text, nil
}

// value is a JSON value by where it stands in its text.
type value struct {
	start, end int
	keys       []string // of an object
	kids       []value  // of an object or list
	from       []int    // where each kid begins, with its key
}

// place finds where an element is to be added to an event's list within
// "hooks", and with what around it.
func place(text, event, element string) (Insert, error) {
	root, err := parse(text)
	if err != nil {
		return Insert{}, err
	}
	list := "[\n" + strings.Repeat(" ", 6) + element + "\n" + strings.Repeat(" ", 4) + "]"
	hooks, ok := root.get("hooks")
	if !ok {
		return root.add(text, 0, encode("hooks")+": {\n"+strings.Repeat(" ", 4)+encode(event)+": "+list+"\n"+strings.Repeat(" ", 2)+"}"), nil
	}
	if text[hooks.start] != '{' {
		return Insert{}, errors.New(`its "hooks" are no object`)
	}
	at, ok := hooks.get(event)
	if !ok {
		return hooks.add(text, 1, encode(event)+": "+list), nil
	}
	if text[at.start] != '[' {
		return Insert{}, fmt.Errorf("its hooks for %s are no list", event)
	}
	return at.add(text, 2, element), nil
}

// add is the insert that makes a member the last one of an object or list.
func (v value) add(text string, depth int, member string) Insert {
	line := "\n" + strings.Repeat("  ", depth+1) + member
	if n := len(v.kids); n > 0 {
		return Insert{v.kids[n-1].end, "," + line}
	}
	return Insert{v.start + 1, line + "\n" + strings.Repeat("  ", depth)}
}

func (v value) get(key string) (value, bool) {
	for i := len(v.keys) - 1; i >= 0; i-- { // of two that are the same the last one counts
		if v.keys[i] == key {
			return v.kids[i], true
		}
	}
	return value{}, false
}

// parse finds where everything stands in a JSON object.
func parse(text string) (value, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return value{}, fmt.Errorf("it is no JSON object (%w): put the hooks there by hand", err)
	}
	v := scan(text, blank(text, 0))
	return v, nil
}

func blank(text string, i int) int {
	for i < len(text) && strings.ContainsRune(" \t\r\n", rune(text[i])) {
		i++
	}
	return i
}

// scan reads the value at i of a text that is known to be JSON.
func scan(text string, i int) value {
	v := value{start: i}
	switch text[i] {
	case '"':
		v.end = closing(text, i)
	case '{', '[':
		isObject := text[i] == '{'
		i = blank(text, i+1)
		for text[i] != '}' && text[i] != ']' {
			v.from = append(v.from, i)
			if isObject {
				end := closing(text, i)
				var key string
				_ = json.Unmarshal([]byte(text[i:end]), &key) // it is a string
				v.keys = append(v.keys, key)
				i = blank(text, blank(text, end)+1)
			}
			kid := scan(text, i)
			v.kids = append(v.kids, kid)
			if i = blank(text, kid.end); text[i] == ',' {
				i = blank(text, i+1)
			}
		}
		v.end = i + 1
	default:
		n := strings.IndexAny(text[i:], ",]} \t\r\n")
		if n < 0 {
			n = len(text) - i
		}
		v.end = i + n
	}
	return v
}

// closing is where the string that begins at i ends.
func closing(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Strip takes our hooks out of settings that an agent has written anew since
// they were added, and what is empty without them.
func Strip(text string) (string, error) {
	for {
		root, err := parse(text)
		if err != nil {
			return "", err
		}
		hooks, ok := root.get("hooks")
		if !ok {
			return text, nil
		}
		cut, found := ours(text, root, hooks)
		if !found {
			return text, nil
		}
		text = text[:cut.start] + text[cut.end:]
	}
}

// ours finds the next hook of ours, or what is empty without it.
func ours(text string, root, hooks value) (cut value, found bool) {
	for i, event := range hooks.kids {
		for j, group := range event.kids {
			list, grouped := group.get("hooks")
			for k, one := range list.kids {
				if isOurs(text, one) && len(list.kids) > 1 {
					return list.span(k), true // somebody put theirs beside it
				}
			}
			switch {
			case !isOurs(text, group) && !grouped, grouped && (len(list.kids) != 1 || !isOurs(text, list.kids[0])):
				continue
			case len(event.kids) > 1:
				return event.span(j), true
			case len(hooks.kids) > 1:
				return hooks.span(i), true
			}
			return root.span(slices.Index(root.keys, "hooks")), true
		}
	}
	return value{}, false
}

// isOurs looks at what stands there, however it is written.
func isOurs(text string, v value) bool {
	var body any
	return json.Unmarshal([]byte(text[v.start:v.end]), &body) == nil && speaks(encode(body))
}

// span is the i-th member with the comma that goes with it.
func (v value) span(i int) value {
	switch {
	case i > 0:
		return value{start: v.kids[i-1].end, end: v.kids[i].end}
	case len(v.kids) > 1:
		return value{start: v.from[0], end: v.from[1]}
	}
	return value{start: v.from[0], end: v.kids[0].end}
}
