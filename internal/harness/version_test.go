package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// Issue 9: an agent whose flags may be others is told apart by its version.
func TestOutdated(t *testing.T) {
	for _, c := range []struct{ says, version, since string }{
		{"2.1.197 (Claude Code)", "2.1.197", "2.1.197"}, {"codex-cli 0.171.0", "0.171.0", "0.99.3"}, {"\x1b[1mv1.10\x1b[0m", "1.10", "1.9.9"},
		{"", "", "1.0"}, {"no number", "", "1.0"}, {"3.0", "3.0", ""},
		{"1.0.101\n", "1.0.101", "!1.0.102"}, {"0.61", "0.61", "!0.61.1"}, {"2025.09.01-abc", "2025.09.01", "!2025.10"},
	} {
		path := filepath.Join(t.TempDir(), "agent")
		if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'E'\n"+c.says+"\nE\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		since := c.since
		bad := since != "" && since[0] == '!'
		if bad {
			since = since[1:]
		}
		version, err := Adapter{Name: "x", Since: since}.Outdated(t.Context(), path)
		if version != c.version || (err != nil) != bad {
			t.Errorf("%q: %q, %v", c.says, version, err)
		}
	}
	if version, err := (Adapter{Since: "1.0"}).Outdated(t.Context(), "/no/such/agent"); version != "" || err != nil {
		t.Errorf("%q, %v", version, err)
	}
}
