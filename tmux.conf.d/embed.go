// Package conf is the tmux side as plain tmux configuration. The program
// carries it, so that the two are never of different versions.
package conf

import _ "embed" // the files beside this one

// Hooks, Keys and Status are the three files.
var (
	//go:embed hooks.conf
	Hooks string
	//go:embed keys.conf
	Keys string
	//go:embed status.conf
	Status string
)
