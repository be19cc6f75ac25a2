package main

import (
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
)

// The widths of lines: that of a terminal within bounds in which prose can be read, and the usual
// one where no terminal shows them.
const (
	usualColumns    = 100
	leastColumns    = 60
	greatestColumns = 160
)

// columns is how wide a line of text may be.
var columns = sync.OnceValue(func() int { return fitting(terminal.Width(os.Stdout)) })

func fitting(width int) int {
	if width == 0 {
		return usualColumns
	}
	return min(greatestColumns, max(leastColumns, width))
}

// wrapped breaks a line between words, so that it fits a terminal; a word that is longer stands
// alone.
func wrapped(line string) string { return broken("", "    ", line) }

// folded is wrapped with something before the first word, such as an indent; further lines stand
// four columns deeper than that begins.
func folded(lead, line string) string {
	return broken(lead, strings.Repeat(" ", 4+len(lead)-len(strings.TrimLeft(lead, " "))), line)
}

// broken breaks a text between words, with something before the first line, and before each further
// one.
func broken(lead, indent, text string) string {
	var out strings.Builder
	out.WriteString(lead)
	column, first := utf8.RuneCountInString(lead), true
	for _, word := range strings.Fields(text) {
		switch width := utf8.RuneCountInString(word); {
		case first:
			column += width
		case column+1+width > columns():
			out.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent) + width
		default:
			out.WriteString(" ")
			column += 1 + width
		}
		out.WriteString(word)
		first = false
	}
	return out.String() + "\n"
}
