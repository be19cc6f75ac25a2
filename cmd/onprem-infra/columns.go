package main

import (
	"strings"
	"unicode/utf8"
)

// columns is how wide a terminal is at the least.
const columns = 100

// wrapped breaks a line between words, so that it fits a terminal; a word that is longer stands alone.
func wrapped(line string) string { return broken("", "    ", line) }

// folded is wrapped with something before the first word, such as an indent; further lines stand four columns deeper than that begins.
func folded(lead, line string) string {
	return broken(lead, strings.Repeat(" ", 4+len(lead)-len(strings.TrimLeft(lead, " "))), line)
}

// broken breaks a text between words, with something before the first line, and before each further one.
func broken(lead, indent, text string) string {
	var out strings.Builder
	out.WriteString(lead)
	column, first := utf8.RuneCountInString(lead), true
	for _, word := range strings.Fields(text) {
		switch width := utf8.RuneCountInString(word); {
		case first:
			column += width
		case column+1+width > columns:
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
