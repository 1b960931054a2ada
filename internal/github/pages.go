package github

// further pages back to where the thing was read before. A list that never
// ends does, here, with a page that has nothing on it.
func (r *round) further(t *thing) error {
	floor := t.floor()
	for n := 1; n < pagesAtMost; n++ {
		vars := map[string]any{"ids": []string{t.id}}
		if p := t.node.Comments; p != nil && p.Info.Before && p.Info.Start != "" && reaches(p, floor) {
			vars["comments"] = p.Info.Start
		}
		if p := t.node.Reviews; p != nil && p.Info.Before && p.Info.Start != "" && reaches(p, floor) {
			vars["reviews"] = p.Info.Start
		}
		if p := t.node.checks().Contexts; p != nil && p.Info.After && p.Info.End != "" {
			vars["checks"] = p.Info.End
		}
		if len(vars) == 1 {
			return nil
		}
		a, err := r.ask(r.ctx, detailQuery, vars)
		if r.again(err) {
			continue
		}
		if err != nil {
			return err
		}
		more := &thing{id: t.id}
		r.fill(a, "nodes", []*thing{more}, func(t *thing, n *node) { t.node = n })
		if more.node == nil {
			t.node.Partial = true
			return nil
		}
		t.node.take(more.node, vars)
	}
	return nil
}

// floor is the oldest time since which somebody has not read; "" if somebody
// sees the thing for the first time, for which the newest are enough.
func (t *thing) floor() string {
	floor := ""
	for _, w := range t.watched {
		if w.Read.Known() && (floor == "" || w.Read.Floor < floor) {
			floor = w.Read.Floor
		}
	}
	return floor
}

// reaches says whether even the oldest of a page is not older than the floor,
// so that there may be more.
func reaches(p *page[words], floor string) bool {
	if floor == "" {
		return false
	}
	for _, w := range p.all() {
		if max(w.CreatedAt, w.SubmittedAt) < floor {
			return false
		}
	}
	return true
}

// take adds a further page to what was read.
func (n *node) take(more *node, asked map[string]any) {
	n.Partial = n.Partial || more.Partial
	join := func(name string, p, q *page[words]) {
		if asked[name] == nil {
			return
		}
		if q == nil {
			n.Partial = true
			p.Info.Before = false
			return
		}
		p.Nodes = append(q.Nodes, p.Nodes...)
		p.Info = q.Info
		p.Info.Before = p.Info.Before && len(q.Nodes) > 0
	}
	join("comments", n.Comments, more.Comments)
	join("reviews", n.Reviews, more.Reviews)
	if asked["checks"] != nil {
		p, q := n.checks().Contexts, more.checks().Contexts
		if q == nil {
			n.Partial = true
			p.Info.After = false
			return
		}
		p.Nodes = append(p.Nodes, q.Nodes...)
		p.Info = q.Info
		p.Info.After = p.Info.After && len(q.Nodes) > 0
	}
}
