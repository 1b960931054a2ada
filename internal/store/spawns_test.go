package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// No more than the limit start within an hour, whoever asks at once, and the
// hour is told from the first of them.
func TestSpawnsWithinAnHour(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 8, 7, 10, 0, 0, 0, time.UTC)
	s := &Store{Dir: t.TempDir()}
	var got atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, ok, err := s.Spawn(ctx, 3, now); err != nil {
				t.Error(err)
			} else if ok {
				got.Add(1)
			}
		}()
	}
	wg.Wait()
	if got.Load() != 3 {
		t.Fatalf("%d of 3 places were given", got.Load())
	}
	if free, ok, err := s.Spawn(ctx, 3, now.Add(59*time.Minute)); ok || err != nil || !free.Equal(now.Add(time.Hour)) {
		t.Errorf("within the hour: %v %v %v", free, ok, err)
	}
	if free, ok, err := s.MaySpawn(4, now.Add(time.Minute)); !ok || err != nil || !free.Equal(now.Add(time.Minute)) {
		t.Errorf("a higher limit: %v %v %v", free, ok, err)
	}
	if _, ok, err := s.Spawn(ctx, 3, now.Add(time.Hour)); !ok || err != nil {
		t.Errorf("after the hour: %v %v", ok, err)
	}
	if _, ok, err := s.Spawn(ctx, 0, now.Add(24*time.Hour)); ok || err != nil {
		t.Errorf("limit 0: %v %v", ok, err)
	}
	if _, ok, err := s.MaySpawn(3, now.Add(-48*time.Hour)); !ok || err != nil { // 1 of 3, from the future
		t.Errorf("the clock went back: %v %v", ok, err)
	}
}

// What cannot be read gives no places and is left as it is.
func TestSpawnsDamaged(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	path := filepath.Join(s.Dir, "local", "spawns")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, ok, err := s.Spawn(context.Background(), 3, time.Now()); ok || !errors.As(err, &damaged) {
		t.Errorf("%v %v", ok, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "{" {
		t.Errorf("%q %v", b, err)
	}
}

// Facts keep what was heard, and travel without anything of this machine.
func TestFactsHeard(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	_, err := s.ChangePortable(context.Background(), item, func(f *Facts) error {
		f.Heard = []string{"issue_comment:1=stop"}
		f.Control = &Control{Word: "stop", By: "octocat", At: "2026-08-07T10:00:00Z", Where: "https://github.com/octo/repo/issues/15#issuecomment-1"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Portable(item)
	if err != nil || len(f.Heard) != 1 || f.Control == nil || f.Control.Word != "stop" {
		t.Errorf("%+v %v", f, err)
	}
}
