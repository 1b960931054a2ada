package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Paste asks for a text to be typed at a pane and submitted.
type Paste struct {
	Target
	Text      string // control characters but newline and tab are taken out
	Nonce     string // the text's last words, unlike any others: what is looked for before the submit
	Bracketed bool   // the program has asked for bracketed paste; otherwise Text must be one line

	Delay    time.Duration  // between the text's being seen and the submit
	Patience time.Duration  // how long the text is looked for
	Composer *regexp.Regexp // seen on the screen, it counts as the text
	NoLook   bool           // submit without having seen the text
	Front    string         // only while this program is in front; "" for any
	Delivery string         // what the delivery is called; Mark gives it back once the harness says that it was submitted
	At       time.Time      // now
	Settles  time.Duration  // how long after it was typed a text may still show: Finish says Unseen

	shown string // letters and digits that must stand on the screen, "" for none
}

// Verdict is what came of a delivery. An error is none of these.
type Verdict string

// The verdicts. Refused: the pane is not the target's, is dead, takes no input,
// or its harness asks its user something, and nothing was typed. Unseen: the text was typed, and not submitted,
// as it was not seen; Finish can do that later. Missing: Finish did not see it, and it was not typed just now.
const (
	Delivered Verdict = "delivered"
	Refused   Verdict = "refused"
	Unseen    Verdict = "unseen"
	Missing   Verdict = "missing"
)

// DeliverError says that it is not known what came of a delivery.
type DeliverError struct {
	MayBePasted bool // the text may be in the pane already; if not, it certainly is not
	Err         error
}

// Error says what is known.
func (e *DeliverError) Error() string {
	if e.MayBePasted {
		return "the text may have been typed already: " + e.Err.Error()
	}
	return "nothing was typed: " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *DeliverError) Unwrap() error { return e.Err }

// asked is printed before the server is given the text. Where it is missing
// when our process has ended, the server never had the text.
const asked = "ASKED"

// Deliver types a text and submits it with one Return, in two invocations if
// the text is seen at once. Checking the pane and pasting are one queue, and no
// buffer is left behind. Errors are *DeliverError.
func (s Server) Deliver(ctx context.Context, p Paste) (Verdict, error) {
	text := clean(p.Text)
	if p.Bracketed {
		text = "\x1b[200~" + text + "\x1b[201~"
	} else if strings.ContainsRune(text, '\n') {
		return "", &DeliverError{Err: errors.New("a program without bracketed paste takes each line of a text as submitted")}
	}
	t, err := s.find(ctx, p.Target)
	if errors.Is(err, ErrNotOurs) {
		return Refused, nil
	} else if err != nil {
		return "", &DeliverError{Err: err}
	}
	p.Target = t
	buffer := "loop-" + Token()
	cmds := [][]string{{"display-message", "-p", asked}, {"load-buffer", "-b", buffer, "-"}, p.pasting(buffer, p.typing()...)}
	words, _ := encode(false, append(cmds, pause(min(p.Delay, shows)), p.capture()))
	out, err := s.Run(ctx, strings.NewReader(text), words...)
	began, rest, _ := strings.Cut(out, "\n")
	word, screen, _ := strings.Cut(rest, "\n")
	switch {
	case word == refused:
		return Refused, nil
	case word != delivered || err != nil:
		if began == asked {
			s.drop(ctx, buffer)
		}
		may := word == delivered || began == asked && !errors.Is(err, ErrNoServer)
		return "", &DeliverError{MayBePasted: may, Err: orSenseless(s, err)}
	}
	return s.submit(ctx, p, screen)
}

// Finish submits a text that an earlier Deliver typed, if it is seen now, and
// types nothing else.
func (s Server) Finish(ctx context.Context, p Paste) (Verdict, error) {
	t, err := s.find(ctx, p.Target)
	if errors.Is(err, ErrNotOurs) {
		return Refused, nil
	}
	var said, screen string
	var ok bool
	if err == nil {
		p.Target, p.NoLook, p.Composer = t, false, nil
		screen, ok, err = s.screen(ctx, p, []string{"display-message", "-p", "-t", p.Pane, "#{@loop_typed}\t#{@loop_since}"})
		said, screen, _ = strings.Cut(screen, "\n")
	}
	switch {
	case err != nil: // what was typed went with a server that is gone
		return "", &DeliverError{MayBePasted: !errors.Is(err, ErrNoServer), Err: err}
	case !ok:
		return Refused, nil
	case p.sees(screen):
		return s.submit(ctx, p, screen)
	case p.settling(said):
		return Unseen, nil
	}
	return Missing, nil
}

// typing notes at the pane that the text is being typed.
func (p Paste) typing() [][]string {
	if p.Delivery == "" {
		return nil
	}
	return [][]string{{"set-option", "-p", "-t", p.Pane, "@loop_typed", p.Nonce + " " + strconv.FormatInt(p.At.UnixMilli(), 10)}}
}

// settling says, of what the pane says of itself, whether the text was typed at
// it so lately that it may still show. Its harness has said nothing new since:
// that may be the answer to a dialog, which swallowed the text.
func (p Paste) settling(said string) bool {
	text, state, _ := strings.Cut(said, "\t")
	at := typed(text)
	return strings.HasPrefix(text, p.Nonce+" ") && p.At.Sub(at) < p.Settles && !since(state).After(at)
}

// rounds is how often a text that is seen may be gone again when Return is due.
const rounds = 3

// submit waits until the text is seen and then, Delay later, presses Return if it
// is there still. Seen first, as the delay is for the program, which may be slow to
// read: Gemini CLI makes a newline of a Return that it reads within 40 ms of a
// paste. Still there, as a program may take its composer away meanwhile, with the
// text in it, and lose a Return: Gemini CLI does while it loads a conversation.
func (s Server) submit(ctx context.Context, p Paste, screen string) (Verdict, error) {
	pieces := false
	for range rounds {
		seen, ok, err := s.untilSeen(ctx, p, screen)
		if err != nil || !ok {
			return Unseen, err
		}
		due := p
		if !pieces {
			due.shown = p.anchor(seen)
		}
		verdict, err := s.press(ctx, due)
		if verdict != Refused {
			return verdict, err
		}
		if screen, ok, err = s.typed(ctx, p); err != nil || !ok {
			return Unseen, err
		}
		pieces = p.sees(screen) // there all the time, but not within one row
	}
	return Unseen, nil
}

// untilSeen looks for the text for as long as Patience lasts.
func (s Server) untilSeen(ctx context.Context, p Paste, screen string) (seen string, ok bool, err error) {
	wait, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	for !p.NoLook && !p.sees(screen) {
		if !sleep(wait, 100*time.Millisecond) {
			return "", false, nil
		}
		if screen, ok, err = s.typed(ctx, p); err != nil || !ok {
			return "", false, err
		}
	}
	return screen, true, nil
}

// typed is screen once the text was typed.
func (s Server) typed(ctx context.Context, p Paste) (string, bool, error) {
	screen, ok, err := s.screen(ctx, p)
	if err != nil {
		err = &DeliverError{MayBePasted: true, Err: err}
	}
	return screen, ok, err
}

// anchor is the longest run of letters and digits in what was seen: tmux itself
// can look for that, within one row, in the queue that presses Return.
func (p Paste) anchor(screen string) string {
	longest := func(text string) (most string) {
		for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(run) > len(most) {
				most = run
			}
		}
		return most
	}
	switch nonce := longest(p.Nonce); {
	case p.NoLook:
		return ""
	case nonce != "" && strings.Contains(screen, nonce):
		return nonce
	case p.Composer != nil:
		return longest(p.Composer.FindString(screen))
	}
	return ""
}

// press is Return. Refused: it was not pressed.
func (s Server) press(ctx context.Context, p Paste) (Verdict, error) {
	buffer := "loop-" + Token()
	cmds := [][]string{pause(p.Delay), {"set-buffer", "-b", buffer, "\r"}}
	if p.Delivery != "" { // before the Return: the harness may answer at once
		cmds = append(cmds, guard(p.Pane, p.conditions(), [][]string{{"set-option", "-p", "-t", p.Pane, "@loop_sent", said(p.Nonce, p.Delivery)}}, nil))
	}
	cmds = append(cmds, p.pasting(buffer),
		pause(takesIn),
		guard(p.Pane, append(p.ours(), same("pane_dead", "0")), [][]string{{"display-message", "-p", alive}}, nil))
	limited := s
	limited.Timeout = s.timeout() + p.Delay
	out, err := limited.do(ctx, cmds...)
	switch word, rest, _ := strings.Cut(out, "\n"); {
	case word == delivered && strings.TrimSpace(rest) == alive && err == nil:
		return Delivered, nil
	case word == delivered && err == nil:
		return "", &DeliverError{MayBePasted: true, Err: errDiedOver}
	case word == refused:
		return Refused, nil
	}
	s.drop(ctx, buffer)
	return "", &DeliverError{MayBePasted: true, Err: orSenseless(s, err)}
}

// shows is how long a program is given to show a text before it is looked for.
const shows = 100 * time.Millisecond

// pause holds up the queue that it stands in, and nothing else.
func pause(d time.Duration) []string {
	return []string{"run-shell", "-d", strconv.FormatFloat(d.Seconds(), 'f', 3, 64)}
}

// takesIn is how long a program that was sent a Return must live on before the
// text counts as delivered: one that was killed just then never read it.
const takesIn = 20 * time.Millisecond

var errDiedOver = errors.New("the program ended before it can have read the text")

const (
	delivered = "DELIVERED"
	alive     = "ALIVE"
)

// pasting is the check and the paste with what goes with it, or the removal of
// the buffer.
func (p Paste) pasting(buffer string, with ...[]string) []string {
	paste := []string{"paste-buffer", "-r", "-d", "-b", buffer, "-t", p.Pane}
	if !p.Bracketed {
		paste = append(paste, "-p")
	}
	raw := append(append([]string{}, paste...), "-S")
	with = append(with, []string{"if-shell", "-F", "-t", p.Pane, hasPasteS, script([][]string{raw}), script([][]string{paste})}, []string{"display-message", "-p", delivered})
	return guard(p.Pane, p.conditions(), with,
		[][]string{{"delete-buffer", "-b", buffer}, {"display-message", "-p", refused}})
}

// conditions under which the pane may be typed at.
func (p Paste) conditions() []string {
	conds := append(p.ours(), same("pane_dead", "0"), same("pane_input_off", "0"), "#{!=:#{@loop_state},waiting}")
	if !p.Bracketed { // tmux asks the mode's screen for brackets, not the program's
		conds = append(conds, same("pane_in_mode", "0"))
	}
	if p.shown != "" {
		conds = append(conds, "#{C:"+p.shown+"}") // the row that it stands in, or 0
	}
	if p.Front != "" {
		conds = append(conds, same("pane_current_command", p.Front))
	}
	return conds
}

func (p Paste) capture() []string { return []string{"capture-pane", "-p", "-J", "-t", p.Pane} }

// screen reads the pane if it may still be typed at, and what else is asked.
func (s Server) screen(ctx context.Context, p Paste, ask ...[]string) (string, bool, error) {
	out, err := s.do(ctx, guard(p.Pane, p.conditions(),
		append(append([][]string{{"display-message", "-p", delivered}}, ask...), p.capture()),
		[][]string{{"display-message", "-p", refused}}))
	word, screen, _ := strings.Cut(out, "\n")
	if err == nil && word != delivered && word != refused {
		err = orSenseless(s, nil)
	}
	return screen, word == delivered, err
}

// sees looks for the text's last words, however the program wrapped and framed
// them.
func (p Paste) sees(screen string) bool {
	nonce := bare(p.Nonce)
	return nonce != "" && strings.Contains(bare(screen), nonce) || p.Composer != nil && p.Composer.MatchString(screen)
}

// bare is a text without white space and box-drawing characters.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= 0x2500 && r <= 0x257f {
			return -1
		}
		return r
	}, s)
}

// drop removes a buffer of which it is not known whether it is there.
func (s Server) drop(ctx context.Context, buffer string) {
	if s.silent() {
		return
	}
	s.Timeout = min(s.timeout(), time.Second)
	_, _ = s.do(context.WithoutCancel(ctx), []string{"delete-buffer", "-b", buffer})
}

func orSenseless(s Server, err error) error {
	if err != nil {
		return err
	}
	return s.unknown([]string{"paste-buffer"}, 0, "", fmt.Errorf("its answer makes no sense: %w", io.ErrUnexpectedEOF))
}
