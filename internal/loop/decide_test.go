package loop

import (
	"fmt"
	"strings"
	"testing"
)

// rows are the rules of who may and when, on events, records and settings: see
// play for how they are written. \n stands for a new line.
var rows = []struct {
	rule                     int
	event, records, settings string
	want                     string
}{
	// 20: What names nothing, or is of no concern, is settled.
	{20, "push 15 octocat", "15", "", "settled ignored-event"},
	{20, "comment 0 octocat | hello", "15", "", "settled no-ref"},

	// 21: one login has many forms, and nobody is nobody.
	{21, "comment 15 octocat | hello", "15", "users=OctoCat", "15: deliver 15"},
	{21, "comment 15 dependabot | hello", "15", "users=dependabot[bot]", "15: deliver 15"},
	{21, "comment 15 dependabot | hello", "15", "users=app/dependabot", "15: deliver 15"},
	{21, "comment 15 octocat-evil | hello", "15", "", "15: settled unauthorized"},
	{21, "comment 15 octoca | hello", "15", "", "15: settled unauthorized"},
	{21, "comment 15 - | hello", "15", "", "15: settled unauthorized"},
	{21, "comment 15 - | hello", "15", "users=", "15: settled unauthorized"},
	{21, "issue.labeled 15 -", "15", "", "15: settled unauthorized"},

	// 22: own text comes before everything; copied by a stranger it silences only himself.
	{22, "comment 15 octocat | done <!-- gh-loop -->", "15", "", "settled own-text"},
	{22, "comment 15 octocat | <!-- gh-loop -->\nloop stop", "15", "", "settled own-text"},
	{22, "comment 15 mallory | loop stop <!-- gh-loop -->", "15", "", "settled own-text"},
	{22, "comment 15 octocat | `<!-- gh-loop -->`", "15", "", "settled own-text"},
	{22, "comment 15 octocat | < !-- gh-loop -->", "15", "", "15: deliver 15"},
	{22, "issue.edited 15 octocat | <!-- gh-loop -->", "15", "", "15: deliver 15"},
	{22, "comment pr16>15 mallory | <!-- gh-loop -->", "15", "", "settled own-text"},

	// 23: whose words may reach an agent.
	{23, "comment 15 octocat | hello", "15", "", "15: deliver 15"},
	{23, "comment 15 mallory | hello", "15", "", "15: settled unauthorized"},
	{23, "comment 15 mallory/OWNER | hello", "15", "", "15: settled unauthorized"},
	{23, "comment 15 mallory/OWNER | hello", "15", "users=@collaborators", "15: deliver 15"},
	{23, "comment 15 hubot/MEMBER | hello", "15", "users=@collaborators", "15: deliver 15"},
	{23, "comment 15 hubot/COLLABORATOR | hello", "15", "users=@Collaborators", "15: deliver 15"},
	{23, "comment 15 hubot/CONTRIBUTOR | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 hubot/FIRST_TIMER | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 hubot/NONE | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 hubot | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 -/OWNER | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 collaborators/NONE | hello", "15", "users=@collaborators", "15: settled unauthorized"},
	{23, "comment 15 mallory | hello", "15", "users=octocat+@collaborators", "15: settled unauthorized"},
	{23, "comment 15 octocat/NONE | hello", "15", "users=@collaborators+octocat", "15: deliver 15"},
	{23, "comment 15 me | hello", "15", "users= login=me", "15: deliver 15"},
	{23, "comment 15 me | hello", "15", "users=octocat login=me", "15: settled unauthorized"},
	{23, "comment 15 me | hello", "15", "users=", "15: settled unauthorized"},
	{23, "comment 15 boss host=ghe.corp | hello", "15", "users= login=me", "15: deliver 15"},
	{23, "comment 15 me host=ghe.corp | hello", "15", "users= login=me", "15: settled unauthorized"},
	{23, "comment 15 me host=other.corp | hello", "15", "users= login=me", "15: settled unauthorized"},
	{23, "review pr16>15 mallory | hello", "15 16", "", "15: settled unauthorized"},
	{23, "check pr16 -", "15 16", "", "15: deliver 16"},
	{23, "check pr16 -", "15 16", "users=", "15: deliver 16"},
	{23, "check pr16 -", "15 16:stranger", "", "15: deliver 15"},
	{23, "comment pr16 octocat | hello", "15 16:stranger", "", "15: deliver 16 known"},
	{23, "comment pr16 mallory | hello", "15 16:stranger", "", "15: settled unauthorized"},
	{23, "comment pr16 mallory | hello", "15 16", "", "15: settled unauthorized"},
	{23, "pr.reopened pr16>15 mallory", "15", "", "15: settled reopened +pr stranger"},
	{23, "issue.labeled 15 mallory", "15", "", "15: settled unauthorized"},
	{23, "issue.closed 15 mallory", "15", "", "15: close-record closed-item => 15:event"},
	{23, "issue.closed 15 -", "15", "users=", "15: close-record closed-item => 15:event"},
	{23, "issue.reopened 15 mallory", "15:event", "", "15: reopen reopened => 15:active"},
	{23, "issue.reopened 15 mallory", "15", "", "15: settled reopened"},
	{23, "comment.edited 15 octocat editor=mallory | hello", "15", "", "15: settled unauthorized"},
	{23, "comment.edited 15 octocat editor=mallory | loop stop", "15", "", "15: settled unauthorized"},
	{23, "comment.edited 15 octocat editor=hubot | hello", "15", "users=octocat+hubot", "15: deliver 15"},
	{23, "comment.edited 15 mallory editor=octocat | hello", "15", "", "15: settled unauthorized"},
	{23, "comment.edited 15 mallory/OWNER editor=hubot | hello", "15", "users=@collaborators", "15: settled unauthorized"},

	// 24: control words: whole, in any case, by somebody who may; never forwarded.
	{24, "comment 15 octocat | loop stop", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | LOOP Stop", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | Please: loop stop. Thanks", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | (loop   stop)", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | hello\nloop stop\nbye", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | **loop stop**", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | loop stopwatch", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | the sloop stop", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | loop stop-gap", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | see path/loop stop", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | loop\nstop", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | loop. stop", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | loop stöp", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | loop stopé", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | `loop stop`", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | ```\nloop stop\n```", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | <!-- loop stop -->", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | > loop stop\nwhy?", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat | > loop stop\nloop pause", "15", "", "15: command pause => 15:paused"},
	{24, "comment 15 mallory | loop stop", "15", "", "15: settled unauthorized"},
	{24, "comment 15 - | loop stop", "15", "", "15: settled unauthorized"},
	{24, "issue.opened 15 octocat | loop stop", "15", "", "15: deliver 15"},
	{24, "issue.edited 15 octocat | loop stop", "15", "", "15: deliver 15"},
	{24, "check pr16 - | loop stop", "15 16", "", "15: deliver 16"},
	{24, "review pr16 octocat | loop stop", "15 16", "", "15: command stop => 15:stop 16:item"},
	{24, "comment 15 octocat | loop start\nloop stop", "15", "", "15: settled control-ambiguous"},
	{24, "comment 15 octocat | loop stop, loop stop!", "15", "", "15: command stop => 15:stop"},
	{24, "comment 15 mallory | loop start\nloop stop", "15", "", "15: settled unauthorized"},
	{24, "comment 15 octocat | loop stop", "15", "off=stop", "15: deliver 15"},
	{24, "comment 15 octocat | loop stop\nloop pause", "15", "off=stop", "15: command pause => 15:paused"},
	{24, "comment 15 octocat | halt", "15", "halt", "15: command stop => 15:stop"},
	{24, "comment 15 octocat | loop stop", "15", "halt", "15: deliver 15"},
	{24, "comment.edited 15 octocat | loop stop", "15", "", "15: command stop => 15:stop"},
	{24, "comment.edited 15 octocat was=stop | loop stop, please", "15", "", "15: settled duplicate"},
	{24, "comment.edited 15 octocat was=start | loop stop", "15", "", "15: command stop => 15:stop"},
	{24, "comment.edited 15 octocat was=stop | never mind", "15", "", "15: deliver 15"},
	{24, "comment 15 octocat id=a | loop stop", "15 seen=a", "", "15: settled duplicate"},

	// 24: the verbs.
	{24, "comment 15 octocat | loop start", "15", "", "15: command start => 15:active"},
	{24, "comment 15 octocat | loop start", "15:paused", "", "15: command start => 15:active"},
	{24, "comment 15 octocat | loop pause", "15 16", "", "15: command pause => 15:paused 16:active"},
	{24, "comment 15 octocat | loop pause", "15:paused", "", "15: command pause => 15:paused"},
	{24, "comment 15 octocat | loop resume", "15:paused", "", "15: command resume => 15:active"},
	{24, "comment 15 octocat | loop resume", "15", "", "15: command resume => 15:active"},
	{24, "comment 15 octocat | loop cleanup", "15 16 17:event", "", "15: command cleanup => 15:stop 16:item 17:event"},

	// 24: the target is the first live record that owns any of the refs, else the first ref.
	{24, "comment pr16>15 octocat | loop stop", "15", "", "15: command stop +pr => 15:stop 16:item"},
	{24, "comment pr16 octocat | loop pause", "15 16", "", "15: command pause => 15:paused 16:active"},
	{24, "comment pr16>15,17 octocat | loop stop", "15 16, 17 16", "", "15: command stop => 15:stop 16:item; 17: settled control"},
	{24, "comment pr16>15,17 octocat | loop stop", "15:event, 17", "", "17: command stop +pr => 17:stop 16:item"},
	{24, "comment pr16 octocat | loop stop", "16, 15 16", "", "16: command stop => 16:stop"},
	{24, "comment pr16>15 octocat | loop start", "", "", "command start 15"},
	{24, "comment pr16 octocat | loop start", "", "", "command start 16"},
	{24, "comment 15 octocat | loop start", "", "", "command start 15"},
	{24, "comment 15 octocat | loop start", "15:stop", "nodir", "command start 15"},
	{24, "comment 15 octocat | loop start", "", "nodir", "settled control-rejected"},
	{24, "comment 15 octocat | loop stop", "", "", "command stop 15"},
	{24, "comment 15 octocat | loop pause", "", "nodir", "command pause 15"},
	{24, "comment 15 octocat | loop cleanup", "15:event", "", "command cleanup 15"},
	{24, "comment 15 octocat | loop resume", "", "", "settled control-rejected"},
	{24, "comment 15 octocat | loop resume", "", "last=pause", "command resume 15"},
	{24, "comment 15 mallory | loop start", "", "always free", "settled unauthorized"},
	{24, "comment 15 - | loop start", "", "always free", "settled unauthorized"},
	{24, "comment 15 octocat | loop start loop stop", "", "always free", "settled control-ambiguous"},
	{24, "comment.edited 15 octocat was=start | loop start!", "", "always free", "settled duplicate"},
	{24, "comment.edited 15 octocat editor=mallory | loop start", "", "always free", "settled unauthorized"},

	// 25: an event that matches no record.
	{25, "comment 15 octocat | hello", "", "", "settled unmatched"},
	{25, "comment 15 octocat | hello", "", "last=start", "settled unmatched"},
	{25, "comment 15 mallory | hello", "", "", "settled unauthorized"},
	{25, "comment 15 octocat | hello", "", "labeled last=start", "settled unmatched"},
	{25, "comment 15 octocat label | hello", "", "labeled last=start", "spawn 15"},
	{25, "comment 15 octocat label | hello", "", "labeled", "settled awaiting-start"},
	{25, "comment 15 octocat label | hello", "", "labeled free", "spawn 15"},
	{25, "issue.labeled 15 octocat label", "", "labeled last=start", "spawn 15"},
	{25, "issue.labeled 15 mallory label", "", "labeled last=start", "settled unauthorized"},
	{25, "issue.opened 15 mallory label", "", "labeled free", "settled unauthorized"},
	{25, "comment 15 octocat | hello", "", "always", "settled awaiting-start"},
	{25, "comment 15 octocat | hello", "", "always last=start", "spawn 15"},
	{25, "comment 15 octocat | hello", "", "always last=resume", "spawn 15"},
	{25, "comment 15 octocat | hello", "", "always free", "spawn 15"},
	{25, "comment 15 mallory | hello", "", "always free", "settled unauthorized"},
	{25, "comment 15 - | hello", "", "always free", "settled unauthorized"},
	{25, "comment 15 octocat | hello", "", "always free nodir", "settled declined-tree"},
	{25, "issue.opened 15 octocat", "", "always free", "spawn 15"},
	{25, "pr.opened pr16>15 octocat", "", "always free", "spawn 15"},
	{25, "pr.opened pr16 octocat", "", "always free", "spawn 16"},
	{25, "issue.closed 15 octocat", "", "always free last=start", "settled nothing-to-close"},
	{25, "pr.closed pr16>15 octocat", "", "always free", "settled nothing-to-close"},
	{25, "issue.reopened 15 octocat", "", "always free last=start", "settled unmatched"},
	{25, "issue.reopened 15 mallory", "", "always free", "settled unmatched"},
	{25, "check pr16 -", "", "always last=start", "spawn 16"},
	{25, "check pr16 -", "", "always", "settled awaiting-start"},
	{25, "check pr16 -", "", "always free", "settled unauthorized"},
	{25, "check pr16 -", "", "", "settled unmatched"},

	// 44: what was said last holds: stopped is stopped, whatever would start it.
	{44, "comment 15 octocat | hello", "", "always free last=stop", "settled awaiting-start"},
	{44, "comment 15 octocat | hello", "", "always free last=cleanup", "settled awaiting-start"},
	{44, "comment 15 octocat | hello", "", "always free last=pause", "settled paused"},
	{44, "comment 15 octocat | hello", "15:stop", "always free", "settled awaiting-start"},
	{44, "comment 15 octocat | hello", "15:stop", "always last=start", "settled awaiting-start"},
	{44, "issue.labeled 15 octocat label", "15:stop", "labeled last=start", "settled awaiting-start"},
	{44, "check pr16 -", "16:stop", "always last=start", "settled awaiting-start"},
	{44, "issue.reopened 15 octocat", "15:stop", "always free", "15: settled awaiting-start"},
	{44, "pr.reopened pr16 octocat", "15 16:stop", "", "15: settled awaiting-start"},
	{44, "comment 15 octocat | hello", "15:event", "always free", "settled closed-item"},
	{44, "comment 15 octocat | hello", "15:close", "always last=start", "settled closed-item"},
	{44, "comment 15 octocat | loop start", "15:stop", "", "command start 15"},

	// 44: pause settles what comes, for the item and its pull requests.
	{44, "comment 15 octocat | hello", "15:paused", "", "15: settled paused"},
	{44, "comment pr16 octocat | hello", "15:paused 16", "", "15: settled paused"},
	{44, "comment pr16>15 octocat | hello", "15:paused", "", "15: settled paused +pr"},
	{44, "comment pr16 octocat | hello", "15 16:paused", "", "15: settled paused"},
	{44, "comment pr16 octocat | hello", "15 16:paused", "mode=never", "15: settled paused"},
	{44, "comment pr17 octocat | hello", "15 16:paused 17", "", "15: deliver 17"},
	{44, "comment 15 octocat | hello", "15 16:paused", "", "15: deliver 15"},
	{44, "check pr16 -", "15:paused 16", "", "15: settled paused"},
	{44, "comment 15 mallory | hello", "15:paused", "", "15: settled unauthorized"},
	{44, "issue.closed 15 octocat", "15:paused 16", "", "15: close-record closed-item => 15:event 16:item"},

	// 28: a record learns the pull request before any filter, but from no close.
	{28, "comment pr16>15 octocat | hello", "15", "", "15: deliver 16 +pr"},
	{28, "comment pr16>15 mallory | hello", "15", "", "15: settled unauthorized +pr stranger"},
	{28, "comment pr16>15 octocat | hello", "15 16", "", "15: deliver 16"},
	{28, "comment pr16 octocat | hello", "16", "", "16: deliver 16"},
	{28, "pr.closed pr16>15 octocat", "15", "", "15: settled nothing-to-close"},
	{28, "pr.reopened pr16>15 octocat", "15", "", "15: settled reopened +pr"},

	// 30, 31: which conversation.
	{30, "comment pr16 octocat | hello", "15 16:event", "", "15: deliver 15"},
	{30, "check pr16 -", "15 16:stop", "", "15: deliver 15"},
	{30, "comment pr16>15,17 octocat | hello", "15 16, 17 16", "", "15: deliver 16; 17: deliver 16"},
	{31, "comment pr16 octocat | hello", "15 16", "mode=never", "15: deliver 15"},
	{31, "comment pr16 octocat | hello", "15 mode=always 16", "mode=never", "15: deliver 16"},
	{31, "comment pr16 octocat | hello", "15 16", "mode=cross-repository", "15: deliver 15"},
	{31, "comment pr16 octocat | hello", "15 mode=nonsense 16", "mode=never", "15: deliver 15"},

	// 36: seen is seen, whoever says it.
	{36, "comment 15 octocat id=a | hello", "15 seen=a", "", "15: settled duplicate"},
	{36, "comment 15 mallory id=a | hello", "15 seen=a", "", "15: settled duplicate"},
	{36, "comment pr16 octocat id=a | hello", "15 seen=a 16", "", "15: deliver 16"},
	{36, "comment pr16 octocat id=a | hello", "15 16:event 16.seen=a", "", "15: settled duplicate"},
	{36, "comment 15 octocat nokey | hello", "15", "", "15: deliver 15"},

	// 41: the object that closed ends, nothing else. Everything at once.
	{41, "issue.closed 15 octocat", "15 16 17:event 18:stop", "", "15: close-record closed-item => 15:event 16:item 17:event 18:stop"},
	{41, "pr.closed pr16 octocat", "15 16 17", "", "15: close-endpoint closed-endpoint => 15:active 16:event 17:active"},
	{41, "pr.closed pr16 octocat", "16, 15 16", "", "16: close-record closed-item => 16:event; 15: close-endpoint closed-endpoint => 15:active 16:event"},
	{41, "pr.closed pr16>15,17 octocat", "15 16, 17 16, 18", "", "15: close-endpoint closed-endpoint => 15:active 16:event; 17: close-endpoint closed-endpoint => 17:active 16:event"},
	{41, "pr.closed pr16 octocat", "15 16:event", "", "15: settled nothing-to-close"},
	{41, "issue.closed 15 octocat", "15:event", "", "15: settled nothing-to-close"},
	{41, "issue.closed 15 octocat", "", "", "settled nothing-to-close"},

	// 42: what was reopened is live again, with what closed because of it.
	{42, "issue.reopened 15 octocat", "15:event 16:item 17:event", "", "15: reopen reopened => 15:active 16:active 17:event"},
	{42, "issue.reopened 15 octocat", "15:close", "", "15: reopen reopened => 15:active"},
	{42, "pr.reopened pr16 octocat", "15 16:event", "", "15: reopen reopened => 15:active 16:active"},
	{42, "pr.reopened pr16 octocat", "15 16", "", "15: settled reopened"},
}

// Rules 20 to 26, 28, 30, 31, 36, 41, 42 and 44.
func TestWhoMayAndWhen(t *testing.T) {
	if len(rows) < 150 {
		t.Errorf("only %d rows", len(rows))
	}
	for i, row := range rows {
		t.Run(fmt.Sprintf("rule %d, row %d", row.rule, i), func(t *testing.T) {
			ev := strings.ReplaceAll(row.event, `\n`, "\n")
			if got := play(t, ev, row.records, row.settings); got != row.want {
				t.Errorf("event    %s\nrecords  %s\nsettings %s\n    got  %s\n    want %s", row.event, row.records, row.settings, got, row.want)
			}
			// Rule 26: decided twice on the same input, it decides the same.
			if again := play(t, ev, row.records, row.settings); again != row.want {
				t.Errorf("a second time: %s", again)
			}
		})
	}
}
