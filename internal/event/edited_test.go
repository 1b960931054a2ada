package event

import "testing"

// Of an edited comment it is known what it said before, and who edited it if
// its author did not: the words are then not the author's alone (rule 21).
func TestEdited(t *testing.T) {
	for _, c := range []struct{ action, sender, changes, before, editor string }{
		{"edited", "octocat", `{"body":{"from":"old"}}`, "old", ""},
		{"edited", "OctoCat", `{"body":{"from":"old"}}`, "old", ""},
		{"edited", "mallory", `{"body":{"from":"old"}}`, "old", "mallory"},
		{"edited", "mallory[bot]", `{}`, "", "mallory"},
		{"edited", "", `{"body":"nonsense"}`, "", ""},
		{"created", "mallory", `{"body":{"from":"old"}}`, "", ""},
	} {
		body := `{"action":"` + c.action + `","changes":` + c.changes + `,"sender":{"login":"` + c.sender + `"},
			"repository":{"full_name":"octo/repo"},"issue":{"number":15},"comment":{"id":1,"body":"new","user":{"login":"octocat"},"updated_at":"2026-08-07T10:00:00Z"}}`
		e, err := Read([]byte(body), "issue_comment", "")
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != Words || e.Actor != "octocat" || e.Before != c.before || e.Editor != c.editor {
			t.Errorf("%+v: before %q, editor %q", c, e.Before, e.Editor)
		}
	}
}
