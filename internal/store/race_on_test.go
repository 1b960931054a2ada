//go:build race

package store

// links is how many pull requests a process records in TestTwoProcesses, and
// large how many bytes the largest body of an event has. The race detector makes
// both ten times slower.
const links, large = 150, 1 << 20
