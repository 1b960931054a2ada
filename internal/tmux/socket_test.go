package tmux

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A server is never started where a file would be deleted for it.
func TestSpawnLeavesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "precious")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, socket := range []string{path, dir, "relative"} {
		_, err := Server{Socket: socket}.Spawn(context.Background(), Spawn{Name: "loop-x", Dir: dir, Argv: []string{"sleep", "1"}, Token: "t"})
		if err == nil {
			t.Errorf("a server was started on %q", socket)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("%q %v", b, err)
	}
}
