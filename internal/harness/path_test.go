package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLookIn(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"agent": 0o755, "notes": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	look := LookIn("relative:" + dir + ":/nowhere")
	if got, err := look("agent"); err != nil || got != filepath.Join(dir, "agent") {
		t.Errorf("got %q, %v", got, err)
	}
	for _, absent := range []string{"notes", "none", ""} {
		if got, err := look(absent); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%q: got %q, %v", absent, got, err)
		}
	}
	if _, err := look(filepath.Join(dir, "notes")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a path to what cannot be run: %v", err)
	}
}
