package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// A body is condensed exactly if it is JSON, and reads as before.
func FuzzCondense(f *testing.F) {
	for _, s := range []string{`{"action":"created","commits":[1,{"a":null}],"comment":{"id":1.5e-3,"body":"a\u00e9\n\"\\"}}`, `[01]`, `-`, `{"a":tru}`, `{"\u0061ction":"x"}`,
		"\"\x01\"", `{"a" 1}`, `[1,]`, `{,}`, "\"\xff\"", `"\x"`, `"\u12g4"`, ` 7 `, `[[[[]]]]`, `{"ACTION":"y","number":-0}`, `1.`, `{}{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		in := bufio.NewReader(strings.NewReader(body))
		short, err := Condense(in)
		rest, rerr := io.ReadAll(in)
		if rerr != nil {
			t.Fatal(rerr)
		}
		switch valid := json.Valid([]byte(strings.TrimSuffix(body, string(rest)))); {
		case (err == nil) != valid && strings.Trim(body, " \t\r\n") != "":
			t.Fatalf("%q: %v, and valid is %v", body, err, valid)
		case err != nil:
			return
		case !json.Valid(short):
			t.Fatalf("%q became %q", body, short)
		}
		want, werr := Read([]byte(strings.TrimSuffix(body, string(rest))), "", "d")
		got, gerr := Read(short, "", "d")
		if (werr == nil) != (gerr == nil) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, %v; whole %+v, %v", short, got, gerr, want, werr)
		}
	})
}

func TestCondense(t *testing.T) {
	long := strings.Repeat("ä€", 1<<20)
	for name, c := range map[string]struct {
		body string
		want string
		err  error
	}{
		"a text":        {`{"comment":{"body":"` + long + `","id":7}}`, `{"comment":{"body":"` + long[:longest+1] + `","id":7}}`, nil},
		"what none has": {`{"commits":[` + strings.Repeat(`{"a":[1,2]},`, 1<<20) + `0],"action":"x"}`, `{"commits":null,"action":"x"}`, nil},
		"too much":      {`{"comment":[` + strings.Repeat(`{"a":[1,2]},`, 1<<20) + `0]}`, "", errTooMuch},
		"a number":      {`[` + strings.Repeat("1", 1<<20) + `]`, "", errTooMuch},
		"depth":         {strings.Repeat("[", 1<<20), "", errTooDeep},
		"two values":    {`{"action":"a"} {"action":"b"}`, `{"action":"a"}`, nil},
		"nothing":       {" \n", "", io.EOF},
	} {
		got, err := Condense(bufio.NewReader(strings.NewReader(c.body)))
		if !errors.Is(err, c.err) || c.err == nil && string(got) != c.want {
			t.Errorf("%s: %d bytes, %v; want %d, %v", name, len(got), err, len(c.want), c.err)
		}
	}
	for body, want := range map[string]string{
		`{"a":1`:   "at byte 6: unexpected EOF",
		`{"a":01}`: `at byte 7: invalid value "01"`,
		`{"a"?}`:   `at byte 5: invalid character '?' after a member's name`,
		`{} {}`:    `invalid character '{' behind it`,
		"":         "is empty",
	} {
		var refused *BodyError
		if _, err := CondenseAll(strings.NewReader(body)); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A long body costs no memory of its own length.
func TestCondenseAllocates(t *testing.T) {
	body := []byte(`{"comment":{"body":"` + strings.Repeat("x", 16<<20) + `"}}`)
	in := bufio.NewReader(nil)
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			in.Reset(bytes.NewReader(body))
			if _, err := Condense(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	if most := int64(4 << 20); r.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes, want %d at most", r.AllocedBytesPerOp(), most)
	}
}
