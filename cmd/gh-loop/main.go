// Command gh-loop brings GitHub events to the conversations that they belong to.
package main

import (
	"os"

	"github.com/gh-loop/gh-loop/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
