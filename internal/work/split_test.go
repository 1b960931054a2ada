package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"
)

// What is cut is what encoding/json reads, and bytes that are no JSON are cut
// somewhere without harm.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { } `, "[\n]", `{"a":1}`, `{"a" : [1, {"b":"}]"} ] , "a":"\"\\","\u0062":null}`, `["x","y\n",""]`, `["a",1]`, `[null]`,
		`{"a":-1.5e+3,"b":true,"c":{"d":{"e":[]}}}`, `["é","\ud800"]`, "[\"\xff\"]", `[[],[[]],{}]`, `7`, `"x"`, `{"a`, `{"a":`, `[1`, `["`, `{]`, `}}}`, `{"a"}`, `{"\`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = parse(b), elementsOf(b) // nothing that they are given ends them
		if !json.Valid(b) {
			return
		}
		b = bytes.TrimSpace(b)
		switch b[0] {
		case '{':
			cutMembers := parse(b).members
			if want := decoded(t, b); !reflect.DeepEqual(append([]member{}, cutMembers...), want) {
				t.Errorf("%q is cut into %q, want %q", b, cutMembers, want)
			}
		case '[':
			cutElements := elementsOf(b)
			var want []json.RawMessage
			if err := json.Unmarshal(b, &want); err != nil || !reflect.DeepEqual(cutElements, want) {
				t.Errorf("%q is cut into %q, want %q", b, cutElements, want)
			}
		}
		same[string](t, b)
		same[[]string](t, b)
		same[Status](t, b)
	})
}

func decoded(t *testing.T, b []byte) []member {
	t.Helper()
	all := []member{}
	d := json.NewDecoder(bytes.NewReader(b))
	_, err := d.Token()
	for d.More() {
		name, nameErr := d.Token()
		var v json.RawMessage
		err = errors.Join(err, nameErr, d.Decode(&v))
		all = append(all, member{name.(string), v})
	}
	if _, end := d.Token(); err != nil || end != nil {
		t.Fatal(err, end)
	}
	if _, end := d.Token(); end != io.EOF {
		t.Fatal(end)
	}
	return all
}

// same reads a value both ways.
func same[T any](t *testing.T, b []byte) {
	t.Helper()
	var got, want T
	gotErr, wantErr := read(b, &got), json.Unmarshal(b, &want)
	if (gotErr == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %#v, %v; encoding/json reads %#v, %v", b, got, gotErr, want, wantErr)
	}
}
