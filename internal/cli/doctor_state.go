package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gh-loop/gh-loop/internal/journal"
	"github.com/gh-loop/gh-loop/internal/store"
	"github.com/gh-loop/gh-loop/internal/work"
)

// The checks of what is on disk.

func (x *exam) stateDir() finding {
	dir := x.d.Store.Dir
	if !exists(dir) {
		for parent := dir; !exists(parent); {
			if parent = filepath.Dir(parent); exists(parent) && !writable(parent) {
				return wrong("set GH_LOOP_STATE_DIR to a directory that can be written", "%s is not there and cannot be made", dir)
			}
		}
		return fine("%s (the first item makes it)", dir)
	}
	if x.storeErr != nil {
		return wrong("see to it that you own it and can read it", "%s", x.storeErr)
	}
	for _, d := range []string{dir, filepath.Join(dir, "local")} {
		if exists(d) && !writable(d) {
			return wrong("chmod u+rwx "+d+", or set GH_LOOP_STATE_DIR", "%s cannot be written: no event is accepted", d)
		}
	}
	return fine("%s", dir)
}

// writable tries, as permissions alone tell neither of read-only disks nor of root.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}

func (x *exam) disk() (store.Medium, error) {
	dir := x.d.Store.Dir
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return x.medium(dir)
}

func (x *exam) stateDisk() finding {
	m, err := x.disk()
	switch {
	case err != nil:
		return warn("see whether it is mounted", "the state directory's disk: %s", err)
	case m.Remote:
		return wrong("set GH_LOOP_STATE_DIR to a directory on a local disk: between machines its locks do not hold", "the state directory is on %s", m.Name)
	}
	return fine("local")
}

func (x *exam) space() finding {
	m, err := x.disk()
	switch {
	case err != nil:
		return pass("%s", err)
	case m.Full():
		return wrong("make room: no event is accepted without it", "%d MB and %d files are free where the state directory is", m.Free>>20, m.Inodes)
	}
	return fine("%.0f GB are free", float64(m.Free)/(1<<30))
}

func (x *exam) permissions() finding {
	open, err := x.d.Store.Exposed()
	if err != nil {
		return wrong("see to it that you own it", "%s", err)
	}
	if len(open) == 0 {
		return fine("only you can read the records")
	}
	var names []string
	for _, o := range open {
		names = append(names, o.Path)
	}
	return warn("chmod -R go= "+x.d.Store.Dir, "others can read or write %d: %s", len(open), list(names)).by(func() error {
		var errs []error
		for _, o := range open {
			errs = append(errs, os.Chmod(o.Path, o.Mode&^0o077))
		}
		return errors.Join(errs...)
	})
}

func (x *exam) split() (broken, stray []string) {
	for _, d := range x.damaged {
		if errors.Is(d, store.ErrStray) {
			stray = append(stray, d.Error())
		} else {
			broken = append(broken, d.Error())
		}
	}
	return broken, stray
}

func (x *exam) records() finding {
	if broken, _ := x.split(); len(broken) > 0 {
		return wrong("mend the file by hand (it is JSON), or move it out of the directory; until then what may be for it is held", "%s", list(broken))
	}
	return fine("%d live, %d ended", len(x.live), len(x.ended))
}

func (x *exam) strays() finding {
	if _, stray := x.split(); len(stray) > 0 {
		return warn("move it out of the directory", "%s", list(stray))
	}
	return fine("none")
}

func (x *exam) entries() finding {
	var broken []string
	for _, r := range x.live {
		for _, b := range r.Damaged() {
			broken = append(broken, r.Ref.Short()+": "+b.Err.Error())
		}
	}
	if len(broken) > 0 {
		return warn("mend pullRequests in the item's file (gh loop show REF names it)", "entries of pullRequests that are passed over: %s", list(broken))
	}
	return fine("every entry can be read")
}

func (x *exam) directories() finding {
	var gone []string
	x.each(func(_ *work.Record, s *work.Session) {
		if fi, err := os.Stat(s.Cwd); s.Cwd != "" && (err != nil || !fi.IsDir()) {
			gone = append(gone, s.Ref.Short()+" in "+s.Cwd)
		}
	})
	if len(gone) > 0 {
		return warn("make it again, or start the item elsewhere: gh loop start REF --cwd DIR", "directories of conversations are gone: %s", list(gone))
	}
	return fine("all there")
}

// trees are those that stay behind, and what is none and stands among them.
func (x *exam) trees() finding {
	if len(x.damaged) > 0 {
		return pass("a record cannot be read, so that nobody can say whose a tree is")
	}
	kept, err := x.d.KeptTrees(x.live)
	if err != nil {
		return wrong("see to it that you own it, or set workspace.root", "%s", err)
	}
	var left, strange []string
	for _, t := range kept {
		if t.Ref == "" {
			strange = append(strange, t.Path+" "+whyKept(t))
		} else {
			left = append(left, refOf(t.Ref).Short()+" in "+t.Path+" "+whyKept(t))
		}
	}
	switch {
	case len(left) > 0:
		return warn("gh loop cleanup REF takes a tree away, with --force whatever is in it", "%s", list(append(left, strange...)))
	case len(strange) > 0:
		return warn("move it away", "%s", list(strange))
	}
	return fine("none that nobody works in")
}

// locks are held for moments. What is held each time that we look is not.
func (x *exam) locks() finding {
	held, err := x.d.Store.Locked()
	for range 5 {
		if len(held) == 0 || err != nil || x.ctx.Err() != nil {
			break
		}
		select {
		case <-x.ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
		var again []string
		again, err = x.d.Store.Locked()
		held = slices.DeleteFunc(held, func(p string) bool { return !slices.Contains(again, p) })
	}
	switch {
	case err != nil:
		return wrong("see to it that you own it", "%s", err)
	case len(held) > 0:
		return warn("see who has it (fuser -v FILE), and end that process if it hangs", "held for half a second: %s", list(held))
	}
	return fine("none is held")
}

func (x *exam) leftovers() finding {
	left, err := x.d.Store.Leftovers()
	switch {
	case err != nil:
		return wrong("see to it that you own it", "%s", err)
	case len(left) > 0:
		return warn("gh loop doctor --fix, or remove them", "temporary files of writers that were killed: %s", list(left)).by(func() error {
			err := x.d.Store.Sweep()
			if left, _ := x.d.Store.Leftovers(); err == nil && len(left) > 0 {
				err = errors.New("somebody writes them still: " + list(left))
			}
			return err
		})
	}
	return fine("none")
}

func (x *exam) inbox() finding {
	waiting, err := x.d.Store.Waiting()
	if err != nil {
		return wrong("see to it that you own it", "%s", err)
	}
	if len(waiting) == 0 {
		return fine("empty")
	}
	why, oldest := map[string]string{}, x.now()
	for _, w := range waiting {
		if w.Held.Reason != "" {
			why[w.Held.Reason] = w.Held.Reason
		}
		if t, err := x.d.Store.Peek(w.Seq); err == nil && t.At.Before(oldest) {
			oldest = t.At
		}
	}
	age := x.now().Sub(oldest).Round(time.Minute)
	if age < time.Hour && len(why) > 0 {
		return fine("%d events wait: %s", len(waiting), list(values(why)))
	}
	return warn("gh loop list shows for whom, gh loop log --fate held why; gh loop restore takes them up", "%d events wait, the oldest for %s: %s", len(waiting), age, list(values(why)))
}

func (x *exam) setAside() finding {
	all, err := x.d.Store.Poisoned()
	if err != nil {
		return wrong("see to it that you own it", "%s", err)
	}
	if len(all) > 0 {
		return warn("report it with gh loop log; to try again, move it up into the inbox", "%d events brought us down %d times each and were set aside in %s", len(all), store.MaxTries, filepath.Dir(all[0].Path))
	}
	return fine("none")
}

func (x *exam) eventLog() finding {
	path := x.d.Log.Path
	fi, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return fine("nothing yet")
	}
	n := 0
	if err == nil {
		err = x.d.Log.Read(func(journal.Line) bool { n++; return true })
	}
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return wrong("chmod u+rw "+path, "the event log: %s", err)
	}
	return fine("%d lines, %d kB", n, fi.Size()>>10)
}
