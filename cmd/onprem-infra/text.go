package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// width is the width of lines on this terminal.
var width = sync.OnceValue(func() layout.Width { return layout.Of(terminal.Width(os.Stdout)) })

func columns() int { return int(width()) }

func wrapped(line string) string { return width().Wrap(line) }

func tabled(head []string, rows [][]string) string { return width().Table(head, rows) }

// printMessage prints a message beside a verb's result. On a terminal long lines are broken between words;
// elsewhere a line stays a line, for programs that read lines.
func printMessage(w io.Writer, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if terminal.Is(w) {
		text = width().Narrow(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// verdicts are verdicts at the start of a line or in a table's second column.
var verdicts = regexp.MustCompile(`(?m)^(\S+ {2,})?(OK|ok|UNKNOWN|DEGRADED|DOWN|FAIL)(:| )`)

// coloured has the verdicts of a text in colour on a terminal.
func coloured(w io.Writer, text string) string {
	if !terminal.Colours(w) {
		return text
	}
	return highlighted(text)
}

func highlighted(text string) string {
	colours := map[string]string{"OK": "32", "ok": "32", "DEGRADED": "33", "UNKNOWN": "33"}
	return verdicts.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.Trim(found[strings.LastIndex(strings.TrimRight(found, " "), " ")+1:], ": ")
		at := strings.LastIndex(found, word)
		colour := cmp.Or(colours[word], "1;31")
		return found[:at] + "\x1b[" + colour + "m" + word + "\x1b[0m" + found[at+len(word):]
	})
}
