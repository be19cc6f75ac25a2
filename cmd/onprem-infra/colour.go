package main

import (
	"io"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
)

// verdicts are the words of a verdict where they begin a line, or stand in a table's second column.
var verdicts = regexp.MustCompile(`(?m)^(\S+ {2,})?(OK|ok|UNKNOWN|DEGRADED|DOWN|FAIL)(:| )`)

// coloured has the verdicts of a text in colour where a terminal shows it: the words alone say the
// same without.
func coloured(w io.Writer, text string) string {
	if !terminal.Colours(w) {
		return text
	}
	return highlighted(text)
}

func highlighted(text string) string {
	return verdicts.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.Trim(found[strings.LastIndex(strings.TrimRight(found, " "), " ")+1:], ": ")
		at := strings.LastIndex(found, word)
		colour := map[string]string{"OK": "32", "ok": "32", "DEGRADED": "33", "UNKNOWN": "33"}[word]
		if colour == "" {
			colour = "1;31"
		}
		return found[:at] + "\x1b[" + colour + "m" + word + "\x1b[0m" + found[at+len(word):]
	})
}
