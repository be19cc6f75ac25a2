package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// gutter is between two columns of a table.
const gutter = "  "

// narrowest is how narrow the last column of a table becomes before its rows are written in another
// way.
const narrowest = 24

// tabled is a table that fits a terminal. What is too wide in the last column goes on below it;
// where there is no room for that, each row is written as a paragraph, with a line for each of its
// columns.
func tabled(head []string, rows [][]string) string {
	last := len(head) - 1
	widths, column := make([]int, len(head)), 0
	for i := range head {
		for _, row := range append(rows, head) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		if i < last {
			column += widths[i] + len(gutter)
		}
	}
	room := min(widths[last], narrowest)
	for _, row := range rows {
		for _, word := range strings.Fields(row[last]) {
			room = max(room, utf8.RuneCountInString(word))
		}
	}
	if column+room > columns() {
		return paragraphs(head, rows)
	}
	var text strings.Builder
	for _, row := range slices.Insert(slices.Clone(rows), 0, head) {
		lead := ""
		for i, cell := range row[:last] {
			lead += padded(cell, widths[i]) + gutter
		}
		if row[last] == "" {
			text.WriteString(strings.TrimRight(lead, " ") + "\n")
			continue
		}
		text.WriteString(broken(lead, strings.Repeat(" ", column), row[last]))
	}
	return text.String()
}

// paragraphs are the rows of a table that is too wide for one.
func paragraphs(head []string, rows [][]string) string {
	width := 0
	for _, name := range head[1:] {
		width = max(width, utf8.RuneCountInString(name))
	}
	var text strings.Builder
	for _, row := range rows {
		text.WriteString(head[0] + " " + row[0] + "\n")
		for i, cell := range row[1:] {
			if cell != "" {
				lead := "    " + padded(head[i+1], width) + gutter
				text.WriteString(broken(lead, strings.Repeat(" ", utf8.RuneCountInString(lead)), cell))
			}
		}
	}
	return text.String()
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}
