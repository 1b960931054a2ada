package harness

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// versionBound is how long an agent may take to say its version: those that
// run on Node need a second or two.
const versionBound = 10 * time.Second

// Outdated asks the installed program for its version, and says what may not
// work if that is older than the one that the argument lists were taken from.
// path is the program's. One that says no version is not found wanting.
func (a Adapter) Outdated(ctx context.Context, path string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, versionBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, _ := cmd.Output() // what fails says no version
	version = regexp.MustCompile(`[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}`).FindString(string(out))
	if version != "" && a.Since != "" && older(version, a.Since) {
		return version, fmt.Errorf("%s %s is older than %s, from which it is known how it is started and resumed", a.Name, version, a.Since)
	}
	return version, nil
}

// older compares versions, number by number.
func older(a, b string) bool {
	numbers := func(version string) []int {
		var out []int
		for f := range strings.SplitSeq(version, ".") {
			n, _ := strconv.Atoi(f)
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}
