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
}

// Ring is what the sessions of one item on one server are told of each other.
type Ring struct {
	Identity
	Item    string // their @loop_item
	Members []Member
	Gone    int // conversations that have no session any more
}

// titleMax is how many characters of a title are shown in menus.
const titleMax = 60

// SetRing tells the sessions of an item where their jump keys lead and how
// their siblings are. tmux itself counts who waits or is dead, from
// @loop_state, so that one invocation does it all and nobody's screen is drawn
// again for nothing: only what differs is set. Sessions that are gone are
// passed over, and a server that is not the ring's own is left alone.
func (s Server) SetRing(ctx context.Context, r Ring) error {
	count := func(state string) string {
		return "#{n:#{S:#{?#{&&:" + same("@loop_item", r.Item) + "," + same("@loop_state", state) + "},x,}}}"
	}
	others := func(option, state string) string { // this session is no sibling of its own
		return "#{e|-:#{" + option + "}," + same("@loop_state", state) + "}"
	}
	waiting, dead := others("@loop_waits", "waiting"), others("@loop_dead", "dead")
	var cmds [][]string
	for _, m := range r.Members {
		if m.State != "" && sessionID.MatchString(m.Session) {
			cmds = append(cmds, guard(m.Session+":", []string{same("session_id", m.Session)}, [][]string{{"set-option", "-t", m.Session + ":", "@loop_state", m.State}}, nil))
		}
	}
	cmds = append(cmds, [][]string{
		{"set-option", "-gF", "@loop_waits", count("waiting")},
		{"set-option", "-gF", "@loop_dead", "#{e|+:" + count("dead") + "," + strconv.Itoa(r.Gone) + "}"},
		{"set-option", "-g", "@loop_said", "#{?" + waiting + "," + waiting + " waiting,}#{?#{&&:" + waiting + "," + dead + "}, ,}#{?" + dead + "," + dead + " dead,}"},
	}...)
	for _, m := range r.Members {
		if sessionID.MatchString(m.Session) {
			cmds = append(cmds, m.set())
		}
	}
	for _, o := range []string{"@loop_waits", "@loop_dead", "@loop_said"} {
		cmds = append(cmds, []string{"set-option", "-gu", o})
	}
	if conds := (Target{Identity: r.Identity}).server(); len(conds) > 0 {
		cmds = [][]string{{"if-shell", "-F", all(conds), script(cmds)}}
	}
	_, err := s.do(ctx, cmds...)
	return err
}

// set gives the command that brings one session up to date.
func (m Member) set() []string {
	words := []rune(strings.Join(strings.Fields(clean(m.Title)), " "))
	if len(words) > titleMax {
		words = append(words[:titleMax], '…')
	}
	title := Literal(string(words))
	differs := "#{!=:#{@loop_status},#{E:@loop_said}}"
	sets := [][]string{{"set-option", "-F", "-t", m.Session + ":", "@loop_status", "#{E:@loop_said}"}}
	for _, o := range [][2]string{
		{"@loop_next", m.Next}, {"@loop_prev", m.Prev}, {"@loop_parent", m.Parent},
		{"@loop_title", title}, {"@loop_label", quoting.Replace(Literal(m.Name) + "  " + title)},
	} {
		differs = "#{||:#{!=:#{" + o[0] + "}," + operand(o[1]) + "}," + differs + "}"
		sets = append(sets, []string{"set-option", "-t", m.Session + ":", o[0], o[1]})
	}
	return guard(m.Session+":", []string{same("session_id", m.Session), differs}, sets, nil)
}
