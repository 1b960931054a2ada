package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSpawnTellsEverything(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		t.Setenv("PATH", os.Getenv("PATH")+":/of/the/caller")
		sp, file := request(t, "loop-a")
		sp.Argv = []string{"sh", "-c", `printf '%s|%s|%s' "$PATH" "$WORD" "$PWD" >"$0"; exec "$@"`, file, sp.Argv[0], "harness", file + "2"}
		sp.Env = []string{"WORD=a b;#{pid}'\"$HOME", "GH_LOOP_REF=x"}
		sp.Dir = filepath.Join(sp.Dir, "d#{pid} 'x;")
		if err := os.Mkdir(sp.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		made := spawn(t, s, sp)
		if !made.Ready || made.Died {
			t.Fatalf("ready %v, died %v", made.Ready, made.Died)
		}
		dir, _ := filepath.EvalSymlinks(sp.Dir)
		notes(t, file, os.Getenv("PATH")+"|"+sp.Env[0][5:]+"|"+dir)
		p := state(t, s, Target{Token: sp.Token}, Live)
		made.Command, p.Command = "", ""
		if p != made.Pane {
			t.Errorf("listed %+v\nspawned %+v", p, made.Pane)
		}
		if p.Ref != sp.Ref || p.Item != sp.Item || p.Role != sp.Role || p.State != "running" || p.Token != sp.Token || p.Name != "loop-a" || !p.Ready {
			t.Errorf("options (rule 49): %+v", p)
		}
		for option, want := range map[string]string{
			"remain-on-exit": "on", "detach-on-destroy": "off", "destroy-unattached": "off", "history-limit": historyLines,
			"history_limit": historyLines, "automatic-rename": "on", "window_width": "200", "session_windows": "1", "pane_title": "a title",
		} {
			if got := run(t, s, "display-message", "-p", "-t", p.Pane, "#{"+option+"}"); got != want && got != map[string]string{"on": "1", "off": "0"}[want] {
				t.Errorf("%s is %q", option, got)
			}
		}
		if got := run(t, s, "show-options", "-gv", "history-limit"); got != "2000" {
			t.Errorf("the user's history limit is %s", got)
		}
	})
}

func TestSpawnHostileWords(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		mark := filepath.Join(t.TempDir(), "ran")
		evil := "#(touch " + mark + ") `touch " + mark + "` $(touch " + mark + ") #{pid} #[fg=red] '\"\\ ~ $HOME ${HOME} {x} % %% %H \n   # not a comment\n\t;\n}\n; é 漢 \x1b \x7f\\;"
		for name, prompt := range map[string]string{"short": evil + ";", "long": strings.Repeat(evil, 20000/len(evil)) + ";"} {
			sp, file := request(t, "loop-"+name)
			sp.Title = evil
			sp.Env = []string{"EVIL=" + evil}
			sp.Argv = []string{"sh", "-c", `printf '%s' "$1" >"$0"; printf '%s' "$EVIL" >"$0.env"; shift; exec "$@"`, file, prompt, sp.Argv[0], "harness", file + "2"}
			made := spawn(t, s, sp)
			if !made.Ready {
				t.Fatalf("%s: not ready, died %v", name, made.Died)
			}
			notes(t, file, prompt)
			notes(t, file+".env", evil)
			if title := run(t, s, "display-message", "-p", "-t", made.Pane.Pane, "#{pane_title}"); !strings.HasPrefix(title, "#(touch ") {
				t.Errorf("the pane is called %q", title)
			}
		}
		if read(mark) != "" || exists(mark) {
			t.Error("a title was executed")
		}
	})
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func TestSpawnOneWord(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-one")
		mark := filepath.Join(sp.Dir, "ran")
		program := filepath.Join(sp.Dir, "pro gram;touch ran;")
		if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '\\033[?2004h'; exec sleep 1000\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		sp.Argv = []string{program}
		if made := spawn(t, s, sp); !made.Ready {
			t.Errorf("a program of one word: %+v", made)
		}
		if exists(mark) {
			t.Error("a program of one word went through a shell")
		}
	})
}

func TestSpawnName(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		run := func(ref, item, name, alt string) (Spawned, error) {
			sp, _ := request(t, name)
			sp.AltName, sp.Ref, sp.Item = alt, ref, item
			return s.Spawn(t.Context(), sp)
		}
		first, err := run("a", "a", "loop-x", "")
		if err != nil {
			t.Fatal(err)
		}
		second, err := run("b", "b", "loop-x", "loop-x-1") // rule 5
		if err != nil || second.Name != "loop-x-1" {
			t.Errorf("beside a stranger: %q, %v", second.Name, err)
		}
		_, err = run("c", "c", "loop-x", "loop-x-1")
		if !errors.Is(err, ErrNameTaken) {
			t.Errorf("both names are taken: %v", err)
		}
		_, err = run("a", "other", "loop-x", "loop-x-2") // rule 35
		var taken *NameTakenError
		if !errors.As(err, &taken) || taken.Holder.Item != "a" || taken.Holder.Token != first.Token {
			t.Errorf("same ref, another item: %v", err)
		}
		if _, err := run("d", "d", "loop-", ""); err != nil { // a prefix of another name
			t.Errorf("a prefix of another's name: %v", err)
		}
		for _, bad := range []string{"a.b", "a:b", "=a", "$1", "a b", "-a", "#{pid}"} {
			if _, err := run("d", "d", bad, ""); err == nil {
				t.Errorf("name %q was accepted", bad)
			}
		}
		panes, err := s.Panes(t.Context())
		if err != nil || len(panes) != 3 {
			t.Errorf("%d panes, %v", len(panes), err)
		}
		state(t, s, first.Target(), Live)
	})
}

func TestSpawnDeath(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		for name, argv := range map[string][]string{"none": {"/no/such/program", "x"}, "one": {"/no/such/program"}, "true": {"true", "x"}} {
			sp, _ := request(t, "loop-"+name)
			sp.Argv = argv
			made := spawn(t, s, sp)
			if !made.Died || made.Ready || !made.Dead {
				t.Errorf("%v: %+v", argv, made)
			}
			state(t, s, made.Target(), Dead)
		}
		sp, _ := request(t, "loop-dies", "dies")
		if made := spawn(t, s, sp); !made.Died || made.DeadStatus != "3" && made.DeadStatus != "" {
			t.Errorf("dies: %+v", made)
		}
		sp, _ = request(t, "loop-brief", "brief")
		sp.Watch = 5 * time.Second // rule 38: the probe sees a program that was ready and then died
		if made := spawn(t, s, sp); !made.Died {
			t.Errorf("brief: %+v", made)
		}
		sp, _ = request(t, "loop-stays")
		sp.Watch = 300 * time.Millisecond
		began := time.Now()
		if made := spawn(t, s, sp); made.Died || !made.Ready || time.Since(began) < sp.Watch {
			t.Errorf("stays: %+v after %v", made, time.Since(began))
		}
	})
}

func TestSpawnReadiness(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-slow", "slow", "alternate")
		if made := spawn(t, s, sp); !made.Ready {
			t.Error("a slow start was not waited for")
		}
		sp, _ = request(t, "loop-plain", "plain")
		sp.Ready = 200 * time.Millisecond
		made := spawn(t, s, sp)
		if made.Ready || made.Died {
			t.Errorf("never asked for bracketed paste: %+v", made)
		}
		if state(t, s, made.Target(), Live).Ready {
			t.Error("listed as ready")
		}
		sp, _ = request(t, "loop-none")
		sp.Detector = nil
		if made = spawn(t, s, sp); made.Died || made.Ready {
			t.Errorf("without a detector: %+v", made)
		}
		sp, _ = request(t, "loop-later", "slow")
		sp.Ready = 0
		made = spawn(t, s, sp)
		until(t, "it is ready later", func() bool { return state(t, s, made.Target(), Live).Ready })
		sp, _ = request(t, "loop-late", "slow")
		sp.Ready = 50 * time.Millisecond
		made = spawn(t, s, sp) // our client is ended while it waits; the detector signals later
		until(t, "it is ready late", func() bool { return state(t, s, made.Target(), Live).Ready })
	})
}

// A program whose hook is waited for is ready once both came, whichever was first.
func TestSpawnHook(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		came := func(p Pane) {
			t.Helper()
			if _, err := s.Mark(t.Context(), Mark{Pane: p.Pane, Ref: p.Ref, State: "idle", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		sp, _ := request(t, "loop-hook")
		sp.Hook, sp.Ready = true, 200*time.Millisecond
		made := spawn(t, s, sp)
		until(t, "it asked", func() bool { return state(t, s, made.Target(), Live).Asked })
		if made.Ready || state(t, s, made.Target(), Live).Ready {
			t.Error("ready without its hook")
		}
		came(made.Pane)
		if now := state(t, s, made.Target(), Live); !now.Ready || now.Asked {
			t.Errorf("after its hook: %+v", now)
		}
		sp, _ = request(t, "loop-hook-waits")
		sp.Hook = true
		go func() { // what the hook of the program itself does
			for t.Context().Err() == nil {
				if panes, err := s.Panes(t.Context()); err == nil {
					for _, p := range panes {
						if p.Token == sp.Token && p.Asked {
							_, _ = s.Mark(t.Context(), Mark{Pane: p.Pane, Ref: p.Ref, State: "idle", At: time.Now()})
							return
						}
					}
				}
			}
		}()
		if made := spawn(t, s, sp); !made.Ready {
			t.Error("the hook did not end the wait")
		}
		sp, _ = request(t, "loop-hook-first", "slow")
		sp.Hook, sp.Ready = true, 0
		made = spawn(t, s, sp)
		came(made.Pane)
		if now := state(t, s, made.Target(), Live); now.Ready || now.Asked {
			t.Errorf("before it asked: %+v", now)
		}
		until(t, "it asked as well", func() bool { return state(t, s, made.Target(), Live).Ready })
	})
}

func TestSpawnCancelledKeepsThePane(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-c", "plain")
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		made, err := s.Spawn(ctx, sp)
		if !errors.Is(err, context.DeadlineExceeded) || made.Token != sp.Token {
			t.Fatalf("%+v, %v", made, err)
		}
		state(t, s, made.Target(), Live)
	})
}

func TestSpawnNoDir(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		sp, _ := request(t, "loop-d")
		sp.Dir += "/gone"
		if _, err := s.Spawn(t.Context(), sp); !errors.Is(err, ErrNoDir) {
			t.Error(err)
		}
		if _, err := s.Panes(t.Context()); !errors.Is(err, ErrNoServer) {
			t.Errorf("a server was started: %v", err)
		}
	})
}

func TestRespawn(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		p, _ := running(t, s, "loop-r")
		again, file := request(t, "loop-r")
		again.Argv[2] = file
		again.Env = []string{"X=1"}
		if _, err := s.Respawn(t.Context(), p, again); !errors.Is(err, ErrNotOurs) {
			t.Errorf("a live pane was taken: %v", err)
		}
		if err := s.EndHarness(t.Context(), p.Target(), time.Second); err != nil {
			t.Fatal(err)
		}
		dead := state(t, s, p.Target(), Dead)
		again.Argv = append(again.Argv, "alternate", strings.Repeat("'\n   # x\"$;", 2000))
		made, err := s.Respawn(t.Context(), dead, again)
		if err != nil || !made.Ready || made.Pane.Pane != p.Pane || made.Session != p.Session || made.Token != again.Token || made.Name != "loop-r" {
			t.Fatalf("%+v, %v", made, err)
		}
		state(t, s, p.Target(), Absent) // the former token finds nothing
		now := state(t, s, made.Target(), Live)
		if !now.Ready || now.PID == p.PID {
			t.Errorf("%+v", now)
		}
		if _, err := s.Respawn(t.Context(), dead, again); !errors.Is(err, ErrNotOurs) {
			t.Errorf("respawned twice: %v", err)
		}
		if err := s.EndHarness(t.Context(), made.Target(), time.Second); err != nil {
			t.Fatal(err)
		}
		sp, _ := request(t, "loop-r", "dies")
		if made, err = s.Respawn(t.Context(), made.Pane, sp); err != nil || !made.Died {
			t.Errorf("died again: %+v, %v", made, err)
		}
		if state(t, s, made.Target(), Dead).Ready {
			t.Error("readiness of the former program was kept")
		}
	})
}

func TestSpawnTwoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s Server) {
		errs := make(chan error, 8)
		for range cap(errs) {
			sp, _ := request(t, "loop-same")
			go func() { _, err := s.Spawn(context.Background(), sp); errs <- err }()
		}
		won := 0
		for range cap(errs) {
			switch err := <-errs; {
			case err == nil:
				won++
			case !errors.Is(err, ErrNameTaken):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d spawned under one name (rule 35)", won)
		}
	})
}
