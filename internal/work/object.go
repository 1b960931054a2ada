package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// object is a JSON object that keeps the order, the unknown members and the
// bytes of what it was read from.
type object struct {
	members []member
}

type member struct {
	name  string
	value json.RawMessage
}

// parse reads an object's bytes, which were checked. The values stay where they
// are in b, and nobody may change b from then on.
func parse(b []byte) object {
	var o object
	for name, v := range membersOf(b) {
		o.members = append(o.members, member{string(name), v})
	}
	return o
}

// get returns the last member of that exact name, as JSON readers do.
func (o object) get(name string) (json.RawMessage, bool) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return o.members[i].value, true
		}
	}
	return nil, false
}

// set changes the last member of that name where it stands, or appends one.
func (o *object) set(name string, v json.RawMessage) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			o.members[i].value = v
			return
		}
	}
	o.members = append(o.members, member{name, v})
}

func (o *object) drop(name string) {
	kept := o.members[:0:0]
	for _, m := range o.members {
		if m.name != name {
			kept = append(kept, m)
		}
	}
	o.members = kept
}

// encode lays the object out with two spaces a level. prefix is the indentation
// of the line that it starts on. Values keep their bytes.
func (o object) encode(prefix string) []byte {
	if len(o.members) == 0 {
		return []byte("{}")
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o.members {
		b.WriteString(",\n"[1-min(i, 1):] + prefix + "  ")
		b.Write(encode(m.name, ""))
		b.WriteString(": ")
		b.Write(m.value)
	}
	b.WriteString("\n" + prefix + "}")
	return b.Bytes()
}

func (o object) equal(p object) bool {
	return slices.EqualFunc(o.members, p.members, func(a, b member) bool {
		return a.name == b.name && bytes.Equal(a.value, b.value)
	})
}

// encode is JSON without HTML escapes. It is only given values of this
// package's own types, which always encode.
func encode(v any, prefix string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, "  ")
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// field ties a member's name to a place in a struct.
type field struct {
	name string
	at   any // pointer
}

// readField puts what a member says, if there is one, into its place.
func readField(name string, v json.RawMessage, at any) error {
	if v == nil {
		return nil
	}
	if err := read(v, at); err != nil {
		return fmt.Errorf("%s: %w", name, plainJSON(err))
	}
	return nil
}

// writeFrom updates members whose value differs from what their bytes say,
// and drops those that became empty, so that what nobody changed keeps its bytes.
// prefix is the indentation of the members.
func (o *object) writeFrom(fields []field, prefix string) {
	for _, f := range fields {
		now := reflect.ValueOf(f.at).Elem()
		before := reflect.New(now.Type())
		raw, had := o.get(f.name)
		if had && read(raw, before.Interface()) == nil && reflect.DeepEqual(before.Elem().Interface(), now.Interface()) {
			continue
		}
		if !had && isEmpty(now) {
			continue
		}
		if isEmpty(now) && now.Kind() != reflect.String {
			o.drop(f.name)
			continue
		}
		o.set(f.name, encode(now.Interface(), prefix))
	}
}

func isEmpty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Slice && v.Len() == 0)
}

func plainJSON(err error) error {
	if t, ok := err.(*json.UnmarshalTypeError); ok {
		return fmt.Errorf("a %s stands where %s belongs", t.Value, t.Type)
	}
	return err
}
