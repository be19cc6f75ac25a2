package main

import (
	"strings"
	"unicode/utf8"
)

// columns is how wide a terminal is at the least.
const columns = 100

// wrapped breaks a line between words, so that it fits a terminal; a word that is longer stands alone.
func wrapped(line string) string { return folded("", line) }

// folded is wrapped with something before the first word, such as an indent; further lines stand four columns deeper than that begins.
func folded(lead, line string) string {
	var text strings.Builder
	text.WriteString(lead)
	indent := strings.Repeat(" ", 4+utf8.RuneCountInString(lead)-utf8.RuneCountInString(strings.TrimLeft(lead, " ")))
	column, first := utf8.RuneCountInString(lead), true
	for _, word := range strings.Fields(line) {
		switch width := utf8.RuneCountInString(word); {
		case first:
			column += width
		case column+1+width > columns:
			text.WriteString("\n" + indent)
			column = len(indent) + width
		default:
			text.WriteString(" ")
			column += 1 + width
		}
		text.WriteString(word)
		first = false
	}
	return text.String() + "\n"
}
