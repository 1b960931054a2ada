package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// spawnWindow is the time in which sessions that start themselves are counted.
const spawnWindow = time.Hour

func (s *Store) spawns() string { return filepath.Join(s.local(), "spawns") }

// Spawn takes one of limit places for a session that starts itself within an
// hour, or says when one is free again. A place that was taken is not given
// back, whatever becomes of the session.
func (s *Store) Spawn(ctx context.Context, limit int, now time.Time) (free time.Time, ok bool, err error) {
	unlock, err := s.lock(ctx, "spawns.lock", or(s.LockTimeout, 10*time.Second))
	if err != nil {
		return now, false, err
	}
	defer unlock()
	taken, err := s.taken(now)
	if err != nil {
		return now, false, err
	}
	if free, ok = room(taken, limit, now); !ok {
		return free, false, nil
	}
	b, err := json.Marshal(append(taken, now.UTC()))
	if err != nil {
		return now, false, err
	}
	return now, true, replace(s.spawns(), filepath.Join(s.local(), ".spawns.tmp"), append(b, '\n'))
}

// MaySpawn is Spawn without taking the place.
func (s *Store) MaySpawn(limit int, now time.Time) (free time.Time, ok bool, err error) {
	taken, err := s.taken(now)
	if err != nil {
		return now, false, err
	}
	free, ok = room(taken, limit, now)
	return free, ok, nil
}

// taken gives the starts of the last hour, oldest first. One that lies in the
// future was written by a clock that went wrong, and counts as now.
func (s *Store) taken(now time.Time) ([]time.Time, error) {
	b, err := readFile(s.spawns())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []time.Time
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, &DamagedError{s.spawns(), fmt.Errorf("it counts the sessions of the last hour: %w", err)}
	}
	for i := range all {
		if all[i].After(now) {
			all[i] = now.UTC()
		}
	}
	all = slices.DeleteFunc(all, func(at time.Time) bool { return now.Sub(at) >= spawnWindow })
	slices.SortFunc(all, time.Time.Compare)
	return all, nil
}

func room(taken []time.Time, limit int, now time.Time) (free time.Time, ok bool) {
	switch {
	case limit <= 0:
		return now.Add(spawnWindow), false
	case len(taken) < limit:
		return now, true
	}
	return taken[len(taken)-limit].Add(spawnWindow), false
}
