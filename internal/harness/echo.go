package harness

import (
	"context"
	"errors"
	"io"
	"os"
)

// Echo is the agent of our own: it shows what it is told under its
// conversation's id. args are "--session-id ID [PROMPT]" or "--resume ID
// [PROMPT]", in is the terminal, dir is where conversations are kept.
func Echo(ctx context.Context, args []string, in *os.File, out io.Writer, dir string) error {
	return errors.New("echo is being built")
}
