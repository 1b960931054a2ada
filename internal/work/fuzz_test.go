package work

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// Rules 8 and 11: whatever can be read is written back byte for byte, and after a
// change reads as the same, with every member that we do not know.
func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(theLoop))
	f.Add([]byte(`{"workItem":{"ref":"github:a/b#1"},"harness":"x","cwd":"/","pullRequests":[7,{"workItem":{"ref":"github:a/b#2"},"x":[1.0]}],"y":{"z":null}}`))
	f.Add([]byte(`{"workItem":{"ref":" github:a/b#01 ","n":1},"harness":"x","cwd":"/","sessionPerPr":false,"pullRequests":{},"status":"weird"}`))
	f.Add([]byte(`{"harness":"y","harness":"x","workItem":{"ref":"github:h.x:1/a/b#1"},"cwd":"\u002f","tmux":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRecord(b)
		if err != nil {
			return
		}
		if got := r.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("unchanged\n%q is written as\n%q", b, got)
		}
		r.Title += "!"
		encoded := r.Encode()
		again, err := ParseRecord(encoded)
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, encoded)
		}
		if twice := again.Encode(); !bytes.Equal(twice, encoded) {
			t.Fatalf("%q is written as\n%q", encoded, twice)
		}
		if again.Ref != r.Ref || again.Title != r.Title || again.Status != r.Status || len(again.Entries) != len(r.Entries) || len(again.Damaged()) != len(r.Damaged()) {
			t.Fatalf("%+v reads back as %+v", r, again)
		}
		before, after := members(t, b), members(t, encoded)
		delete(before, "title")
		delete(after, "title")
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("members changed from\n%s\nto\n%s", b, encoded)
		}
	})
}

// members gives what each member says, in compact form.
func members(t *testing.T, b []byte) map[string]string {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, v := range all {
		var c bytes.Buffer
		if err := json.Compact(&c, v); err != nil {
			t.Fatal(err)
		}
		out[name] = c.String()
	}
	return out
}
