package layout

import (
	"cmp"
	"regexp"
	"strings"
)

// judged matches the words of a text that judge, each in its place.
var judged = regexp.MustCompile(`(?m)^(?:` + strings.Join([]string{
	// a verdict: alone, behind an indent or in a table's second column
	`(?:\S* {2,})?(OK|ok|UNKNOWN|DEGRADED|DOWN|FAIL)[: ]`,
	// an effect on a host, below the file that differs
	` {2}(nothing|later|reload|restart|unknown|may-move|moves|two-holders): `,
	// the check of a numbered finding; one without a severity is an error
	`\d+\. (\[[^\]]+\](?: (?:error|warning))?)`,
	// the severity of a finding, behind its place or below it
	`(?: +|\S.*?: )?(error|warning):(?: |$)`,
}, "|") + `)`)

// Highlight colours the words of a text that judge: verdicts, effects and severities.
func Highlight(text string) string {
	colours := map[string]string{
		"OK": "32", "ok": "32", "nothing": "32", "later": "32",
		"DEGRADED": "33", "UNKNOWN": "33", "reload": "33", "restart": "33", "unknown": "33",
		"warning": "33",
	}
	var out strings.Builder
	done := 0
	for _, at := range judged.FindAllStringSubmatchIndex(text, -1) {
		from, to := 0, 0
		for i := 2; i < len(at); i += 2 { // one of the groups has matched
			from, to = max(from, at[i]), max(to, at[i+1])
		}
		word := text[from:to]
		colour := cmp.Or(colours[word[strings.LastIndex(word, " ")+1:]], "1;31")
		out.WriteString(text[done:from] + "\x1b[" + colour + "m" + word + "\x1b[0m")
		done = to
	}
	out.WriteString(text[done:])
	return out.String()
}
