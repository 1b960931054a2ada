package tmux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Plugin is what is added to a user's tmux: plain configuration, and the
// program that its hooks and keys call.
type Plugin struct {
	Bin                 string // absolute path
	Hooks, Keys, Status string // configuration, as in tmux.conf.d
}

// Loaded is what came of loading. Said are things that the user should know,
// each a sentence.
type Loaded struct {
	Said []string
}

// undoOption holds what unloading has to take back.
const undoOption = "@loop-undo"

// binding is one line of list-keys.
type binding struct {
	Table  string
	Key    string // as tmux writes it
	Repeat bool
	Do     string // the command, as tmux writes it
	Note   string // no listing of commands shows it
}

// change is one thing that loading changed: what it is now, and what it was.
type change struct {
	Kind string // key, hook, option
	Name string // "TABLE KEY", "hook[8172]", "@option"
	Now  string // a digest of what tmux lists for it
	Was  string // a key's binding as tmux listed it; "" if there was nothing
	Note string // and its note
}

// snapshot is what of a server's configuration the plugin may touch.
type snapshot struct {
	keys    map[string]binding // by table and key
	hooks   map[string]string  // our index only
	options map[string]string  // global ones whose name begins with @loop, as listed
	values  map[string]string  // of the options that were asked for, as they are
	undo    []change

	reverted map[string]bool // keys that revert gives back to the user
}

var (
	keyLine    = pattern(`^bind-key\s+(-r\s+)?-T\s+(\S+)\s+(\S+)\s+(.*)$`)
	optionLine = pattern(`^(@loop\S*)(?: (.*))?$`)
	hookLine   = pattern(`^([a-z-]+\[8172\]) (.*)$`)
	// confKey is a line of keys.conf that binds a key, and the option that changes it.
	confKey = pattern(`^(bind-key (?:-N "[^"]*" )?(?:-r )?-T )(\S+) (\S+) (.*) # (@loop-key-[a-z-]+)$`)
)

// pattern is compiled when it is needed first: most commands load no plugin.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

const ruler = "GH-LOOP-RULER"

// snapshot reads everything, and the values of some options, in one invocation.
func (s Server) snapshot(ctx context.Context, options ...string) (snapshot, error) {
	mark := []string{"display-message", "-p", ruler}
	ask := [][]string{{"list-keys"}, mark, {"show-hooks", "-g"}, {"show-hooks", "-gw"}, mark, {"show-options", "-g"}}
	options = append(options, undoOption)
	for _, o := range options {
		ask = append(ask, mark, []string{"show-options", "-gqv", o})
	}
	out, err := s.do(ctx, ask...)
	if err != nil {
		return snapshot{}, err
	}
	parts := strings.Split(out, ruler+"\n")
	if len(parts) != 3+len(options) {
		return snapshot{}, s.unknown([]string{"list-keys"}, 0, "", errors.New("the listing makes no sense"))
	}
	snap := snapshot{map[string]binding{}, map[string]string{}, map[string]string{}, map[string]string{}, nil, map[string]bool{}}
	for l := range strings.Lines(parts[0]) {
		if b, ok := parseBinding(strings.TrimSuffix(l, "\n")); ok {
			snap.keys[b.name()] = b
		}
	}
	for l := range strings.Lines(parts[1]) {
		if m := hookLine().FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			snap.hooks[m[1]] = m[2]
		}
	}
	for l := range strings.Lines(parts[2]) {
		if m := optionLine().FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			snap.options[m[1]] = m[2]
		}
	}
	for i, o := range options {
		snap.values[o] = strings.TrimSuffix(parts[3+i], "\n")
	}
	if undo := snap.values[undoOption]; undo != "" {
		if err := json.Unmarshal([]byte(undo), &snap.undo); err != nil {
			return snap, fmt.Errorf("option %s is damaged: take it out with tmux set -gu %s, and unload by starting tmux anew: %w", undoOption, undoOption, err)
		}
	}
	return snap, nil
}

func parseBinding(l string) (binding, bool) {
	m := keyLine().FindStringSubmatch(l)
	if m == nil {
		return binding{}, false
	}
	return binding{Table: m[2], Key: m[3], Repeat: m[1] != "", Do: m[4]}, true
}

func (b binding) name() string { return b.Table + " " + b.Key }

func (b binding) listed() string {
	r := ""
	if b.Repeat {
		r = "-r "
	}
	return r + "-T " + b.Table + " " + b.Key + " " + b.Do
}

// now gives what a change's subject is at the moment, "" if nothing.
func (snap snapshot) now(c change) string {
	switch c.Kind {
	case "key":
		if b, ok := snap.keys[c.Name]; ok {
			return b.listed()
		}
		return ""
	case "hook":
		return snap.hooks[c.Name]
	}
	return snap.options[c.Name]
}

func digest(listed string) string {
	sum := sha256.Sum256([]byte(listed))
	return hex.EncodeToString(sum[:8])
}

// revert gives the commands that take our changes back, and the snapshot as it
// will be then. What the user changed since is the user's and stays.
func (snap snapshot) revert() []string {
	var cmds []string
	for _, c := range snap.undo {
		if digest(snap.now(c)) != c.Now {
			continue
		}
		switch c.Kind {
		case "key":
			table, key, _ := strings.Cut(c.Name, " ")
			delete(snap.keys, c.Name)
			cmds = append(cmds, "unbind-key -T "+table+" "+key)
			if b, ok := parseBinding("bind-key " + c.Was); ok {
				b.Note = c.Note
				snap.keys[c.Name], snap.reverted[c.Name] = b, true
				again := "bind-key "
				if b.Note != "" {
					again += "-N " + quote(b.Note) + " "
				}
				cmds = append(cmds, again+c.Was)
			}
		case "hook":
			delete(snap.hooks, c.Name)
			cmds = append(cmds, "set-hook -gu '"+c.Name+"'")
		case "option":
			delete(snap.options, c.Name)
			cmds = append(cmds, "set-option -gu "+c.Name)
		}
	}
	return cmds
}

// Load adds the plugin, or brings it up to date: loading again changes
// nothing. It takes no key that is bound, unless an option asks for it.
func (s Server) Load(ctx context.Context, p Plugin) (Loaded, error) {
	var did Loaded
	asked := []string{"@loop-bin"}
	for l := range strings.Lines(p.Keys) {
		if m := confKey().FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			asked = append(asked, m[5])
		}
	}
	before, err := s.snapshot(ctx, asked...)
	if err != nil {
		return did, err
	}
	wiped := before.wiped()
	text := before.revert()
	bin := before.values["@loop-bin"]
	if _, theirs := before.options["@loop-bin"]; !theirs {
		bin = p.Bin
		text = append(text, "set-option -g @loop-bin "+quote(bin))
	}
	if err := callable(bin); err != nil {
		return did, err
	}
	keys, err := s.keys(ctx, before, p.Keys, &did)
	if err != nil {
		return did, err
	}
	text = append(text, keys, p.Hooks, p.Status)
	_, err = s.Run(ctx, strings.NewReader(strings.Join(text, "\n")+"\n"), "source-file", "-")
	var refused *UnknownError
	if errors.As(err, &refused) && refused.Exit > 0 && refused.Said != "" {
		did.Said = append(did.Said, "tmux refused a line: "+refused.Said)
	} else if err != nil {
		return did, err
	}
	after, err := s.snapshot(ctx)
	if err != nil {
		return did, err
	}
	for _, name := range wiped {
		did.Said = append(did.Said, fmt.Sprintf("hook %s was wiped by a plain set-hook since the last load, and is back: in tmux.conf that line must stand before the one that loads gh-loop", name))
	}
	undo, err := json.Marshal(before.difference(after))
	if err != nil {
		return did, err
	}
	_, err = s.do(ctx, []string{"set-option", "-g", undoOption, string(undo)})
	return did, err
}

// callable says whether hooks and keys can name the program: it stands in
// single quotes of a shell's command in double quotes of tmux's.
func callable(bin string) error {
	if !filepath.IsAbs(bin) || strings.ContainsAny(bin, "'\"`$\\#%\n\r;") {
		return fmt.Errorf("program %q cannot be called from tmux: put it at an absolute path without quotes and signs like $, # or ;", bin)
	}
	return nil
}

// wish is what the user's options make of one line of keys.conf.
type wish struct {
	start, table, key, do, option string
	asked, off                    bool
}

// keys lays out keys.conf as the user's options want it.
func (s Server) keys(ctx context.Context, before snapshot, conf string, did *Loaded) (string, error) {
	var out []string
	for l := range strings.Lines(conf) {
		m := confKey().FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			out = append(out, strings.TrimSuffix(l, "\n"))
			continue
		}
		w := wish{start: m[1], table: m[2], key: m[3], do: m[4], option: m[5]}
		if value, ok := before.options[w.option]; ok {
			good, err := s.heed(ctx, &w, before.values[w.option])
			if err != nil {
				return "", err
			}
			if !good {
				did.Said = append(did.Said, fmt.Sprintf("%s is %s, which is no key: set it to KEY, to TABLE KEY, or to off", w.option, value))
				continue
			}
		}
		if w.off {
			continue
		}
		if was, bound := before.keys[w.table+" "+w.key]; bound {
			if !w.asked {
				did.Said = append(did.Said, fmt.Sprintf("%s in table %s is bound by you, and stays so: name another key with set -g %s KEY", w.key, w.table, w.option))
				continue
			}
			if was.Note == "" && !before.reverted[was.name()] {
				was.Note = s.keyNote(ctx, w.table, w.key)
				before.keys[was.name()] = was
			}
		}
		out = append(out, w.start+w.table+" "+w.key+" "+w.do)
	}
	return strings.Join(out, "\n"), nil
}

// heed changes a line as its option says. It is not good if tmux knows no such
// key, which is tried in a table of its own; that also tells tmux's name of it.
func (s Server) heed(ctx context.Context, w *wish, value string) (good bool, err error) {
	w.asked = true
	f := strings.Fields(clean(value))
	switch {
	case len(f) == 0 || len(f) == 1 && f[0] == "off":
		w.off = true
		return true, nil
	case len(f) > 2 || len(f) == 2 && !tableName().MatchString(f[0]):
		return false, nil
	case len(f) == 2:
		w.table = f[0]
	}
	const try = "gh-loop-try"
	out, err := s.do(ctx, []string{"bind-key", "-T", try, f[len(f)-1], "refresh-client"}, []string{"list-keys", "-T", try}, []string{"unbind-key", "-a", "-T", try})
	var refused *UnknownError
	if errors.As(err, &refused) && refused.Exit > 0 {
		return false, nil
	}
	m := keyLine().FindStringSubmatch(strings.TrimSpace(out))
	if err != nil || m == nil {
		return false, err
	}
	w.key = m[3]
	return true, nil
}

// keyNote is the note of a binding, "" if it has none.
func (s Server) keyNote(ctx context.Context, table, key string) string {
	out, _ := s.Run(ctx, strings.NewReader("list-keys -N -P 'x ' -T "+table+" "+key+"\n"), "source-file", "-")
	f := strings.SplitN(strings.Join(strings.Fields(out), " "), " ", 3)
	if len(f) < 3 {
		return ""
	}
	return f[2]
}

var tableName = pattern(`^[A-Za-z][A-Za-z0-9_-]*$`)

// difference is what loading changed, and how it is undone.
func (snap snapshot) difference(after snapshot) []change {
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(after.keys)) {
		b, was := after.keys[name], snap.keys[name]
		if b.listed() == was.listed() {
			continue
		}
		c := change{Kind: "key", Name: name, Now: digest(b.listed())}
		if was.Do != "" {
			c.Was, c.Note = was.listed(), was.Note
		}
		changes = append(changes, c)
	}
	for _, name := range slices.Sorted(maps.Keys(after.hooks)) {
		if snap.hooks[name] != after.hooks[name] {
			changes = append(changes, change{Kind: "hook", Name: name, Now: digest(after.hooks[name])})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.options)) {
		if _, had := snap.options[name]; !had {
			changes = append(changes, change{Kind: "option", Name: name, Now: digest(after.options[name])})
		}
	}
	return changes
}

// wiped names the hooks that we set and that are not there any more.
func (snap snapshot) wiped() []string {
	var names []string
	for _, c := range snap.undo {
		if c.Kind == "hook" && snap.hooks[c.Name] == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// Unload takes the plugin back: keys, hooks and options are as they were, but
// for what the user changed since. Global options of ours that came after the
// loading go as well.
func (s Server) Unload(ctx context.Context) error {
	snap, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	text := append(snap.revert(), "set-option -gqu "+undoOption, endSync)
	for name := range snap.options {
		if strings.HasPrefix(name, "@loop_") {
			text = append(text, "set-option -gqu "+name)
		}
	}
	_, err = s.Run(ctx, strings.NewReader(strings.Join(text, "\n")+"\n"), "source-file", "-")
	return err
}

// endSync ends the session that hooks.conf starts where @loop-sync is on.
const endSync = `if-shell -F '#{&&:#{==:#{@loop-sync},on},#{m:*|loop-sync|*,|#{S:#{session_name}|}}}' { kill-session -t '=loop-sync' }`

// Wiped names the plugin's hooks that a later set-hook of the user's wiped.
// loaded says whether the plugin is loaded at all.
func (s Server) Wiped(ctx context.Context) (hooks []string, loaded bool, err error) {
	snap, err := s.snapshot(ctx)
	return snap.wiped(), snap.undo != nil, err
}
