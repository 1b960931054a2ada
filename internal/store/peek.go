package store

// Peek reads an event that waits without claiming it; whoever has it may be
// done with it at any moment. Its ticket can only be read.
func (s *Store) Peek(seq uint64) (*Ticket, error) {
	path := s.event(seq)
	b, err := readFile(path)
	if err != nil {
		return nil, &DamagedError{path, err}
	}
	t, err := readEvent(b)
	if err != nil {
		return nil, &DamagedError{path, err}
	}
	t.Seq, t.Held = seq, readHeld(sidecar(path))
	return &t, nil
}
