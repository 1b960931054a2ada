package harness

import (
	"testing"

	"github.com/gh-loop/gh-loop/internal/work"
)

func TestReadPayload(t *testing.T) {
	for text, want := range map[string]Payload{
		`{"session_id":"0f1c","hook_event_name":"Stop"}`:                                    {ID: "0f1c"},
		`{"sessionId":"a-b","prompt":"x"}`:                                                  {ID: "a-b", Prompt: "x"},
		`{"type":"agent-turn-complete","thread-id":"b5f6","last-assistant-message":"done"}`: {ID: "b5f6"},
		`{"session_id":"-x","thread-id":"../y"}`:                                            {},
		`{"session_id":7,"notification_type":"permission_prompt"}`:                          {Kind: "permission_prompt"},
		`{"session_id":"a","reason":"prompt_input_exit"}`:                                   {ID: "a", Why: "prompt_input_exit"},
		`{"session_id":"a","error":"rate_limit\u001b[31m"}`:                                 {ID: "a", Why: "rate_limit[31m"},
		`{"session_id":"a","error":{"message":"no"}}`:                                       {ID: "a"},
		`{"session_id":"a"`: {}, ``: {}, `null`: {}, `[]`: {}, `"x"`: {}, `{}`: {}, "\x00": {},
	} {
		if got := ReadPayload([]byte(text)); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestPayloadState(t *testing.T) {
	for _, c := range []struct{ reported, kind, want string }{
		{"running", "", "running"}, {"submitted", "", "running"}, {"idle", "", "idle"}, {"waiting", "", "waiting"},
		{"waiting", "permission_prompt", "waiting"}, {"waiting", "idle_prompt", "idle"}, {"waiting", "auth_success", ""}, {"running", "idle_prompt", "running"},
	} {
		if got := (Payload{Kind: c.kind}).State(c.reported); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestNonce(t *testing.T) {
	for prompt, want := range map[string]string{
		"gh-loop: …\n===3f2a91 begin\n===3f2a91 end 3f2a91bc": "3f2a91bc", "x end 3f2a91bc\n": "3f2a91bc", "x ⏎ ===a end b1": "b1",
		"the end": "", "": "", "at the end of it": "", "x end #{@x}": "",
	} {
		if got := (Payload{Prompt: prompt}).Nonce(); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}

// Whatever a harness hands over, an id that comes out of it is one (rule 14).
func FuzzReadPayload(f *testing.F) {
	f.Add([]byte(`{"session_id":"a","prompt":"x end ab","notification_type":"idle_prompt","reason":"x","error":[1]}`))
	f.Add([]byte(`{"thread-id":"\u0000","sessionId":"--x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := ReadPayload(b)
		if p.ID != "" && !work.UsableID(p.ID) {
			t.Fatalf("%q", p.ID)
		}
		if p.Why != clean(p.Why) || len(p.Nonce()) > 16 {
			t.Fatalf("%+v", p)
		}
	})
}
