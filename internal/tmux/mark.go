package tmux

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Mark asks for a harness's state to be set beside its pane. Whoever asks is
// in the pane, and says so by its id.
type Mark struct {
	Pane    string    // %N
	Ref     string    // what @loop_ref must be; "" for a pane that was registered, whose options are its own
	State   string    // "running", "waiting" or "idle"
	Asks    string    // with "waiting": the question, where there may be several at once; hex digits
	Answers string    // with "running": the question that was answered; the pane waits on while there are others
	At      time.Time // when it became so
	Nonce   string    // what was submitted holds this nonce of a delivery; "" with Settled: any
	Settled bool      // a prompt was submitted
	Clients bool      // the terminals of the clients are wanted as well
}

// Marked is what was there before, and whose pane it is.
type Marked struct {
	Was, Now         string // state before, and now
	Ref, Item, Token string
	TTY              string   // the pane's terminal
	Said             string   // what the delivery that was submitted is called; "" when it was none of ours
	Clients          []string // terminals of the clients, if wanted
}

// New says whether the mark changed the state.
func (m Mark) New(got Marked) bool { return got.Was != got.Now }

// Mark sets the state in one invocation, and makes a pane ready whose program's
// hook was all that was waited for (see Spawn.Hook). Nothing is set where the state is the
// same already, as every set draws all clients anew. ErrNotOurs: the pane is
// gone, or is not the harness's own.
func (s Server) Mark(ctx context.Context, m Mark) (Marked, error) {
	if !paneID.MatchString(m.Pane) {
		return Marked{}, ErrNotOurs
	}
	conds := []string{"#{!=:#{@loop_token},}", same("pane_dead", "0")} // the token is set on harnesses' own panes only
	said := "#{@loop_sent}"
	if !m.Settled || m.Nonce != "" && !nonceShape.MatchString(m.Nonce) {
		said = ""
	} else if m.Nonce != "" {
		said = "#{?#{m:" + m.Nonce + " *,#{@loop_sent}},#{@loop_sent},}"
	}
	scope := []string{"set-option", "-p", "-t", m.Pane}
	if m.Ref != "" {
		conds = append(conds, same("@loop_ref", m.Ref))
		scope = []string{"set-option", "-t", m.Pane}
	}
	set := func(name, value string) []string { return append(scope[:len(scope):len(scope)], name, value) }
	differs := []string{"#{!=:#{@loop_state}," + operand(m.State) + "}"}
	if m.Answers != "" {
		differs = append(differs, same("@loop_asks", ""))
	}
	then := [][]string{
		{"display-message", "-p", "-t", m.Pane, "MARKED\t#{@loop_state}\t#{@loop_ref}\t#{@loop_item}\t#{@loop_token}\t#{pane_tty}\t" + said},
	}
	then = append(append(then, m.questions(scope)...), m.came(),
		guard(m.Pane, differs, [][]string{set("@loop_state", m.State), set("@loop_since", strconv.FormatInt(m.At.UnixMilli(), 10))}, nil),
		[]string{"display-message", "-p", "-t", m.Pane, "#{@loop_state}"})
	if said != "" {
		then = append(then, guard(m.Pane, []string{"#{!=:" + said + ",}"}, [][]string{{"set-option", "-p", "-u", "-t", m.Pane, "@loop_sent"}}, nil))
	}
	if m.Clients {
		then = append(then, []string{"list-clients", "-F", "#{client_tty}"})
	}
	out, err := s.do(ctx, guard(m.Pane, conds, then, [][]string{{"display-message", "-p", refused}}))
	if err != nil {
		return Marked{}, err
	}
	return s.marked(out)
}

// came notes that a hook came: with bracketed paste asked for, the program is
// ready, and otherwise it will be once it asks. run-shell is there for the token,
// which whoever calls does not know.
func (m Mark) came() []string {
	set := []string{"set-option", "-p", "-t", m.Pane, "@loop_ready", "1"}
	unset := []string{"set-option", "-p", "-u", "-t", m.Pane, "@loop_ready"}
	signal := []string{"run-shell", "-C", "-t", m.Pane, "wait-for -S '" + channel + "#{@loop_token}'"}
	asked := guard(m.Pane, []string{same("@loop_ready", "asked"), "#{m/r:^[A-Za-z0-9_-]+$,#{@loop_token}}"}, [][]string{set, signal}, nil)
	return guard(m.Pane, []string{same("@loop_ready", "hook")}, [][]string{unset}, [][]string{asked})
}

// questions keeps the list of what the harness asks: one more, one less, or none.
func (m Mark) questions(scope []string) [][]string {
	when := func(cond string, words ...string) [][]string {
		return [][]string{guard(m.Pane, []string{cond}, [][]string{append(scope[:len(scope):len(scope)], words...)}, nil)}
	}
	listed := "#{m:* " + m.Asks + m.Answers + "*,#{@loop_asks}}"
	switch {
	case m.Asks != "":
		return when("#{==:"+listed+",0}", "-a", "@loop_asks", " "+m.Asks)
	case m.Answers != "":
		return when(listed, "-F", "@loop_asks", "#{s/ "+m.Answers+"//:@loop_asks}")
	case m.State != "waiting":
		return when("#{!=:#{@loop_asks},}", "@loop_asks", "")
	}
	return nil
}

func (s Server) marked(out string) (Marked, error) {
	first, rest, _ := strings.Cut(out, "\n")
	now, rest, _ := strings.Cut(rest, "\n")
	f := strings.SplitN(first, "\t", 7)
	switch {
	case first == refused:
		return Marked{}, ErrNotOurs
	case len(f) != 7 || f[0] != "MARKED":
		return Marked{}, s.unknown([]string{"set-option"}, 0, "", errors.New("its answer makes no sense"))
	}
	_, name, _ := strings.Cut(f[6], " ")
	return Marked{Was: f[1], Now: now, Ref: f[2], Item: f[3], Token: f[4], TTY: f[5], Said: name, Clients: strings.Fields(rest)}, nil
}

// said is how a delivery is remembered at its pane until the harness says that
// it was submitted: its nonce, and what it is called.
func said(nonce, name string) string {
	return nonce + " " + strings.Join(strings.Fields(clean(name)), " ")
}
