// Package layout fits text for people into the columns of a terminal.
package layout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is how many columns a line may have.
type Width int

// The widths of lines: the terminal's within bounds in which prose can be read, and the usual one
// without a terminal.
const (
	usual    Width = 100
	least    Width = 60
	greatest Width = 160
)

// Of is the width of lines on a terminal with so many columns, 0 for none.
func Of(columns int) Width {
	if columns == 0 {
		return usual
	}
	return min(greatest, max(least, Width(columns)))
}

// Wrap breaks a line between words. A word that is longer stands alone.
func (w Width) Wrap(line string) string { return w.Break("", "    ", line) }

// Fold wraps a line after a lead, such as an indent. It indents further lines by four columns
// more than the lead.
func (w Width) Fold(lead, line string) string {
	return w.Break(lead, strings.Repeat(" ", 4+len(lead)-len(strings.TrimLeft(lead, " "))), line)
}

// Break breaks a text between words, with a lead before the first line, and an indent before each
// further one.
func (w Width) Break(lead, indent, text string) string {
	var out strings.Builder
	out.WriteString(lead)
	column, first := utf8.RuneCountInString(lead), true
	for word := range strings.FieldsSeq(text) {
		switch width := utf8.RuneCountInString(word); {
		case first:
			column += width
		case column+1+width > int(w):
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

// Narrow folds the lines of a text that are wider.
func (w Width) Narrow(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(body) <= int(w) {
			out.WriteString(line)
			continue
		}
		plain := strings.TrimLeft(body, " ")
		out.WriteString(w.Fold(body[:len(body)-len(plain)], plain))
	}
	return out.String()
}

// Fill fills the paragraphs of a text. Lines with an indent, such as a table, stay as they are.
func (w Width) Fill(text string) string {
	var out, paragraph strings.Builder
	flush := func() {
		if paragraph.Len() > 0 {
			out.WriteString(w.Break("", "", paragraph.String()))
			paragraph.Reset()
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		if body := strings.TrimRight(line, "\n"); body == "" || strings.HasPrefix(body, " ") {
			flush()
			out.WriteString(body + "\n")
			continue
		}
		paragraph.WriteString(line)
	}
	flush()
	return strings.TrimSuffix(out.String(), "\n")
}

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
