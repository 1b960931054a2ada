package tmux

import (
	"context"
	"strconv"
	"strings"
)

// Member is one session of an item, and where its jump keys lead.
type Member struct {
	Session            string // $N
	Next, Prev, Parent string // $N, "" for nowhere
	Name, Title        string // short ref; anybody's words
	State              string // becomes its @loop_state, unless ""
	Closed             bool   // kept to be read: it is led from, and not counted
}

// Ring is what the sessions of one item on one server are told of each other.
type Ring struct {
	Identity
	Members []Member
	Gone    int // live conversations that have no session any more
}

// titleMax is how many characters of a title are shown in menus.
const titleMax = 60

// SetRings tells the sessions of each item where their jump keys lead and how
// many of them wait or are dead. tmux itself counts, from @loop_state, so that
// one invocation does it all; and only what differs is set, as every set draws
// each client's status line anew. Sessions that are gone are passed over, and
// a server that is not the ring's own is left alone.
func (s Server) SetRings(ctx context.Context, all ...Ring) error {
	var cmds [][]string
	for _, r := range all {
		cmds = append(cmds, r.commands()...)
	}
	if len(cmds) == 0 {
		return nil
	}
	_, err := s.do(ctx, cmds...)
	return err
}

func (r Ring) commands() [][]string {
	var states, rings, counts [][]string
	every, live, marks := "|", "|", "|"
	for _, m := range r.Members {
		if !sessionID.MatchString(m.Session) {
			continue
		}
		every += m.Session + "|"
		marks += m.mark() + "|"
		if !m.Closed {
			live += m.Session + "|"
		}
		if m.State != "" {
			states = append(states, m.when("1", [2]string{"@loop_state", m.State}))
		}
		rings = append(rings, m.when("#{!=:#{@loop_ring},"+m.mark()+"}", m.options()...))
		counts = append(counts, guard(m.Session+":", []string{same("session_id", m.Session)}, [][]string{
			{"set-option", "-F", "-t", m.Session + ":", "@loop_waiting", "#{@loop_w}"},
			{"set-option", "-F", "-t", m.Session + ":", "@loop_dead", "#{@loop_d}"},
		}, nil))
	}
	each := func(of, what string) string { return "#{S:#{?#{m:*|#{session_id}|*," + of + "}," + what + ",}}" }
	count := func(state string) string { return "#{n:" + each(live, "#{?"+same("@loop_state", state)+",x,}") + "}" }
	cmds := append(states,
		[]string{"if-shell", "-F", "#{m:*x*," + each(every, "#{?#{m:*|#{@loop_ring}|*,"+marks+"},,x}") + "}", script(rings)},
		[]string{"set-option", "-gF", "@loop_w", count("waiting")},
		[]string{"set-option", "-gF", "@loop_d", "#{e|+:" + count("dead") + "," + strconv.Itoa(r.Gone) + "}"},
		[]string{"if-shell", "-F", "#{m:*1*," + each(every, "#{!=:#{@loop_waiting}/#{@loop_dead},#{@loop_w}/#{@loop_d}}") + "}", script(counts)},
		[]string{"set-option", "-gu", "@loop_w"},
		[]string{"set-option", "-gu", "@loop_d"})
	if conds := (Target{Identity: r.Identity}).server(); len(conds) > 0 {
		cmds = [][]string{{"if-shell", "-F", all(conds), script(cmds)}}
	}
	return cmds
}

// options are what a session is told of its ring.
func (m Member) options() [][2]string {
	words := []rune(strings.Join(strings.Fields(clean(m.Title)), " "))
	if len(words) > titleMax {
		words = append(words[:titleMax], '…')
	}
	title := Literal(string(words))
	return [][2]string{
		{"@loop_next", m.Next}, {"@loop_prev", m.Prev}, {"@loop_parent", m.Parent},
		{"@loop_title", title}, {"@loop_label", quoting.Replace(Literal(m.Name) + "  " + title)}, {"@loop_ring", m.mark()},
	}
}

// mark tells one ring of a session from another.
func (m Member) mark() string {
	return m.Session + ":" + digest(strings.Join([]string{m.Next, m.Prev, m.Parent, m.Name, m.Title}, "\n"))
}

// when sets options of a session that is there, if a condition holds of it.
func (m Member) when(cond string, options ...[2]string) []string {
	var sets [][]string
	for _, o := range options {
		sets = append(sets, []string{"set-option", "-t", m.Session + ":", o[0], o[1]})
	}
	return guard(m.Session+":", []string{same("session_id", m.Session), cond}, sets, nil)
}

// SetHeld tells the status line how many events are held, where the plugin is
// loaded and it is news.
func (s Server) SetHeld(ctx context.Context, n int) error {
	text, set := "", []string{"set-option", "-gu", "@loop_held"}
	if n > 0 {
		text = strconv.Itoa(n)
		set = []string{"set-option", "-g", "@loop_held", text}
	}
	_, err := s.do(ctx, []string{"if-shell", "-F", all([]string{"#{!=:#{" + undoOption + "},}", "#{!=:#{@loop_held}," + text + "}"}), script([][]string{set})})
	return err
}
