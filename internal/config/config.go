// Package config reads the configuration file, with its defaults and its
// errors. Nothing runs on half a configuration: a file is right or it is an
// error that names each wrong line.
package config

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/gh-loop/gh-loop/internal/harness"
	"github.com/gh-loop/gh-loop/internal/work"
)

// Config is the configuration in force. Names are the file's.
type Config struct {
	Path      string // the file that was read, "" when there is none
	Routing   Routing
	Workspace Workspace
	Log       Log
	Notify    Notify
	Harnesses map[string]HarnessEntry // by name; only what the file says

	text string // the file's
}

// Routing says what reaches whom.
type Routing struct {
	AuthorizedUsers  []string // logins and "@collaborators"; empty: the one gh is signed in with
	SpawnOnUnmatched string   // "never", "labeled" or "always"
	AutoExecuteLabel string
	MaxSpawnsPerHour int // sessions that start themselves; 0: none does
	Announce         bool
	DefaultHarness   string
	Control          Control
	Tmux             Tmux
}

// Control is about words in comments that command gh-loop.
type Control struct {
	RequireStartCommand bool
	Keywords            Keywords
}

// Keywords are the control words; an empty one is turned off.
type Keywords struct{ Start, Stop, Pause, Resume, Cleanup string }

// Tmux is about sessions.
type Tmux struct {
	SessionPerPr            work.Mode
	KeepSessionOnClose      bool
	KillHarnessOnClose      bool
	HarnessKillGraceSeconds int
	ResumeOnRespawn         bool
	ResumeProbeSeconds      float64
	Socket                  string // socket path; empty: the server we are called from, else the default one
}

// Notify is how the user is told that an agent waits for them.
type Notify struct {
	Word    string   // "bell", "osc", or "" for not at all
	Command []string // a program and its arguments, if Word is ""
}

// Workspace is about working trees.
type Workspace struct {
	Root         string            // absolute; empty: trees/ in the state directory
	Repos        map[string]string // [host/]owner/repo to the path of a clone, absolute
	Copy, Link   []string          // what a fresh tree gets of the one that it is made from
	Setup        []string          // what is run in a fresh tree
	SetupSeconds int
}

// Log is about the event log.
type Log struct {
	MaxMegabytes int // its file is set aside at this size; the one before it is kept
}

// HarnessEntry is what the file says of one harness. Nil means that it does not
// say: then the built-in one counts.
type HarnessEntry struct {
	Start, Resume     []string
	SubmitDelayMillis *int
	Composer          *string
}

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		Routing: Routing{
			SpawnOnUnmatched: "never",
			AutoExecuteLabel: "loop: auto-execute",
			MaxSpawnsPerHour: 20,
			DefaultHarness:   "claude",
			Control: Control{
				RequireStartCommand: true,
				Keywords:            Keywords{"loop start", "loop stop", "loop pause", "loop resume", "loop cleanup"},
			},
			Tmux: Tmux{
				SessionPerPr:            work.Always,
				KeepSessionOnClose:      true,
				KillHarnessOnClose:      true,
				HarnessKillGraceSeconds: 5,
				ResumeOnRespawn:         true,
				ResumeProbeSeconds:      2,
			},
		},
		Workspace: Workspace{SetupSeconds: 600},
		Log:       Log{MaxMegabytes: 50},
	}
}

// Adapters gives every harness by name: the built-in ones, with what the file
// says of them, and the file's own. bin is this program's path.
func (c Config) Adapters(bin string) map[string]harness.Adapter {
	all := harness.Builtin(bin)
	for name, entry := range c.Harnesses {
		a, known := all[name]
		if !known {
			a = harness.Adapter{Name: name, SubmitDelay: harness.SubmitDelay}
		}
		if entry.Start != nil {
			if known && (len(entry.Start) == 0 || entry.Start[0] != a.Start[0]) {
				a.Folded = "" // another program looks otherwise
			}
			if !slices.Equal(entry.Start, a.Start) {
				a.Since = ""
			}
			a.Start, a.Resume = entry.Start, nil // nor is it resumed by the built-in's list
		}
		if entry.Resume != nil {
			a.Resume = entry.Resume
		}
		if entry.SubmitDelayMillis != nil {
			a.SubmitDelay = time.Duration(*entry.SubmitDelayMillis) * time.Millisecond
		}
		if entry.Composer != nil {
			a.Composer = *entry.Composer
		}
		all[name] = a
	}
	return all
}

// StateDir is where records, logs and trees are: $GH_LOOP_STATE_DIR, else
// $XDG_STATE_HOME/gh-loop, else ~/.local/state/gh-loop. It is absolute, because
// sessions in other directories are told of it. As the XDG rules want it, a
// relative $XDG_STATE_HOME counts as unset.
func StateDir(getenv func(string) string, home string) string {
	if dir := getenv("GH_LOOP_STATE_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "gh-loop")
	}
	return filepath.Join(home, ".local", "state", "gh-loop")
}
