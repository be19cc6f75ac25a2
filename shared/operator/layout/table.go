package layout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// gutter is between two columns of a table.
const gutter = "  "

// narrowest is the least width of a table's last column.
const narrowest = 24

// Table is a table whose last column wraps. If there is no room for that, each row is a paragraph
// with a line for each column.
func (w Width) Table(head []string, rows [][]string) string {
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
		for word := range strings.FieldsSeq(row[last]) {
			room = max(room, utf8.RuneCountInString(word))
		}
	}
	if column+room > int(w) {
		return w.paragraphs(head, rows)
	}
	var text strings.Builder
	for _, row := range slices.Insert(slices.Clone(rows), 0, head) {
		lead := ""
		for i, cell := range row[:last] {
			lead += pad(cell, widths[i]) + gutter
		}
		if row[last] == "" {
			text.WriteString(strings.TrimRight(lead, " ") + "\n")
			continue
		}
		text.WriteString(w.Break(lead, strings.Repeat(" ", column), row[last]))
	}
	return text.String()
}

// paragraphs are the rows of a table that is too wide.
func (w Width) paragraphs(head []string, rows [][]string) string {
	var text strings.Builder
	for _, row := range rows {
		text.WriteString(head[0] + " " + row[0] + "\n")
		text.WriteString(w.facts("    ", head[1:], row[1:]))
	}
	return text.String()
}

// Facts are names with what they stand for, a line each.
func (w Width) Facts(names, texts []string) string { return w.facts("", names, texts) }

func (w Width) facts(indent string, names, texts []string) string {
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(name))
	}
	var out strings.Builder
	for i, text := range texts {
		if text != "" {
			lead := indent + pad(names[i], width) + gutter
			out.WriteString(w.Break(lead, strings.Repeat(" ", utf8.RuneCountInString(lead)), text))
		}
	}
	return out.String()
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
