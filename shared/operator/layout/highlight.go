package layout

import (
	"cmp"
	"regexp"
	"strings"
)

// verdicts matches verdicts at the start of a line or in a table's second column.
var verdicts = regexp.MustCompile(`(?m)^(\S+ {2,})?(OK|ok|UNKNOWN|DEGRADED|DOWN|FAIL)(:| )`)

// Highlight colours the verdicts of a text.
func Highlight(text string) string {
	colours := map[string]string{"OK": "32", "ok": "32", "DEGRADED": "33", "UNKNOWN": "33"}
	return verdicts.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.Trim(found[strings.LastIndex(strings.TrimRight(found, " "), " ")+1:], ": ")
		at := strings.LastIndex(found, word)
		colour := cmp.Or(colours[word], "1;31")
		return found[:at] + "\x1b[" + colour + "m" + word + "\x1b[0m" + found[at+len(word):]
	})
}
