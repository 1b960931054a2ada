package main

// run is one of the packages' benchmarks, and how often it does its turns.
type run struct {
	pkg, name   string
	short, full int
}

// runs are in the order of the page.
var runs = []run{
	{"cmd/gh-loop", "Start", 15, 100},
	{"cmd/gh-loop", "HookSessionClosed", 20, 200},
	{"cmd/gh-loop", "HookHarness", 10, 100},
	{"cmd/gh-loop", "TextInPane", 8, 100},
	{"cmd/gh-loop", "Hundred", 5, 50},
	{"cmd/gh-loop", "Jump", 10, 100},
	{"cmd/gh-loop", "Pick", 3, 30},
	{"internal/store", "Listing", 10, 100},
	{"internal/store", "Change", 30, 2000},
	{"cmd/gh-loop", "Callers", 1, 2},
	{"cmd/gh-loop", "Restore", 1, 5},
	{"cmd/gh-loop", "SyncQuiet", 3, 20},
	{"internal/tree", "Make", 1, 15},
	{"cmd/gh-loop", "GrowthItems", 2, 24},
	{"cmd/gh-loop", "GrowthRequests", 3, 15},
	{"cmd/gh-loop", "GrowthEnded", 3, 15},
	{"cmd/gh-loop", "GrowthText", 3, 15},
}

// row is a line of the table: two of the things that a benchmark measured. most
// is the ratio that is to be reached at most, below the milliseconds of ours; 0
// is none. of says what took turns where its name does not.
type row struct {
	bench, what, ours, than, beside string
	most, below                     float64
}

var rows = []row{
	{bench: "Start", what: "`gh-loop --version`", ours: "version", than: "true", beside: "`true`"},
	{bench: "Start", what: "the same", ours: "version", than: "hello", beside: "a Go hello world"},
	{bench: "Start", what: "the same", ours: "version", than: "tmux", beside: "`tmux display-message`"},
	{bench: "Start", what: "`gh-loop list`, one item", ours: "list", than: "hello", beside: "a Go hello world"},
	{bench: "HookSessionClosed", what: "`hook session-closed`, whole process", ours: "hook", than: "hello+tmux", beside: "a Go hello world and `tmux display-message`", most: 2.5},
	{bench: "HookHarness", what: "`hook harness`, nothing new, whole process", ours: "same", than: "hello+tmux", beside: "a Go hello world and `tmux display-message`", below: 8},
	{bench: "HookHarness", what: "the same, another state", ours: "other", than: "hello+tmux", beside: "a Go hello world and `tmux display-message`", below: 8},
	{bench: "TextInPane", what: "`event`: from process start to text in the pane", ours: "text", than: "hello+tmux", beside: "a Go hello world and `tmux display-message`", below: 15},
	{bench: "TextInPane", what: "the same", ours: "text", than: "paste", beside: "`tmux set-buffer` and `paste-buffer` by hand, to text in the pane"},
	{bench: "Hundred", what: "`list`, 100 items with a pull request each", ours: "list", than: "hello+tmux", beside: "a Go hello world and `tmux display-message`", below: 60},
	{bench: "Hundred", what: "completion of a ref, 100 items", ours: "complete", than: "hello", beside: "a Go hello world", below: 20},
	{bench: "Jump", what: "`prefix G n`: from the key to what is drawn", ours: "ours", than: "fixed", beside: "a key with `switch-client -t '$2'` written in it", most: 1.5},
	{bench: "Jump", what: "the same", ours: "ours", than: "shell", beside: "a key that runs a shell that calls tmux"},
	{bench: "Jump", what: "a key that runs `gh-loop jump next`", ours: "gh-loop-jump", than: "shell", beside: "a key that runs a shell that calls tmux"},
	{bench: "Pick", what: "our own picker, 100 items: from the key to the first row", ours: "own", than: "echo", beside: "a popup with `echo`", below: 100},
	{bench: "Pick", what: "the same with fzf", ours: "fzf", than: "echo", beside: "a popup with `echo`", below: 100},
	{bench: "Listing/live=100,closed=0", what: "a pull request is looked up: 100 live items", ours: "look-up", than: "cat", beside: "the same files are read", below: 2},
	{bench: "Listing/live=100,closed=10000", what: "100 live and 10,000 ended", ours: "look-up", than: "cat", beside: "the live ones' files are read", below: 2},
	{bench: "Listing/live=10000,closed=0", what: "10,000 live", ours: "look-up", than: "cat", beside: "the same files are read", below: 60},
	{bench: "Change", what: "a record is changed", ours: "change", than: "rename", beside: "write, fsync, rename"},
	{bench: "Restore", what: "`restore`, 30 conversations", ours: "restore", than: "new-session", beside: "30 × `tmux new-session`, one after the other"},
	{bench: "SyncQuiet", what: "`sync`, 100 items, nothing new, GitHub on this machine", ours: "sync"},
	{bench: "Make", what: "a working tree of 10,000 files", ours: "tree", than: "worktree-add", beside: "`git worktree add`", most: 1.5},
}

// curve is a thing that a benchmark measured at several sizes, NAME-SIZE each,
// and how it is expected to grow. most is how many times the time of the
// smallest the largest may take.
type curve struct {
	bench, name, what, order string
	most                     float64
}

var curves = []curve{
	{"GrowthItems", "event", "an event of a pull request, N items", "linear", 0},
	{"GrowthItems", "hook", "a hook, N items", "linear", 0},
	{"GrowthItems", "list", "`list`, N items", "linear", 0},
	{"GrowthRequests", "event", "an event, an item of N pull requests", "linear", 0},
	{"GrowthRequests", "hook", "a hook, an item of N pull requests", "linear", 0},
	{"GrowthEnded", "event", "an event, N ended items", "constant", 1.2},
	{"GrowthEnded", "hook", "a hook, N ended items", "constant", 1.2},
	{"GrowthEnded", "list", "`list`, N ended items", "constant", 1.2},
	{"GrowthText", "event", "an event whose text has N bytes", "linear", 0},
	{"Callers", "event", "64 events for one item, delivered, N callers at once", "constant", 2},
}
