package timeline

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// Page is a file of pictures.
type Page struct {
	Title     string
	Note      string
	Head      []string // of a table above the pictures; none for no table
	Rows      []TableRow
	Timelines []Timeline
	// More are further pages of the same file, each with a title and a table of its own.
	More []Page
}

// TableRow is a row of a page's table.
type TableRow struct {
	Cells   []string // as many as the table's head has
	Picture string   // the title of the picture that it is about; empty for none
	Alarm   bool     // something is wrong
}

// Cells are the table's rows as text.
func (p Page) Cells() (all [][]string) {
	for _, r := range p.Rows {
		all = append(all, r.Cells)
	}
	return all
}

// mark distinguishes a page of ours from other HTML files.
const mark = `<meta name="generator" content="onprem-infra">`

// IsPage reports whether a text is a page that Write has made.
func IsPage(text []byte) bool { return bytes.Contains(text[:min(len(text), 1024)], []byte(mark)) }

// Write writes the page, without scripts, and without fonts and pictures from elsewhere.
func (p Page) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	title := html.EscapeString(p.Title)
	fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"+mark+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"+
		"<title>%s</title>\n<style>%s</style></head><body>\n", title, style())
	for i, part := range append([]Page{p}, p.More...) {
		part.body(out, i+1)
	}
	fmt.Fprint(out, "</body></html>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// body writes the n-th page of a file.
func (p Page) body(out io.Writer, n int) {
	fmt.Fprintf(out, "<h1>%s</h1>\n", html.EscapeString(p.Title))
	paragraph(out, p.Note)
	p.table(out, n)
	for i, t := range p.Timelines {
		fmt.Fprintf(out, "<section id=\"%s\"><h2>%s</h2>\n", anchor(n, i),
			html.EscapeString(t.Title))
		paragraph(out, t.Note)
		wide(out, t.Title, draw(t))
		if len(p.Head) > 0 {
			fmt.Fprintf(out, "<p class=\"back\"><a href=\"#%s\">Back to the table</a></p>\n",
				tableAnchor(n))
		}
		fmt.Fprint(out, "</section>\n")
	}
}

func paragraph(out io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(out, "<p>%s</p>\n", html.EscapeString(text))
	}
}

// wide puts a part into a box that scrolls, by keyboard too, if the window is narrower.
func wide(out io.Writer, label, content string) {
	fmt.Fprintf(out,
		"<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n%s</div>\n",
		html.EscapeString(label), content)
}

// anchor names the i-th picture of the n-th page of a file.
func anchor(n, i int) string { return pageAnchor(n, fmt.Sprintf("picture-%d", i+1)) }

func tableAnchor(n int) string { return pageAnchor(n, "table") }

// pageAnchor is a name within the n-th page of a file.
func pageAnchor(n int, name string) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("page-%d-%s", n, name)
}

// anchorOf names the picture with a title; empty where there is none.
func (p Page) anchorOf(n int, title string) string {
	for i, t := range p.Timelines {
		if title != "" && t.Title == title {
			return anchor(n, i)
		}
	}
	return ""
}

func (p Page) table(out io.Writer, n int) {
	if len(p.Head) == 0 {
		return
	}
	var text strings.Builder
	classes := p.classes()
	fmt.Fprintf(&text, "<table id=\"%s\">\n<thead><tr>", tableAnchor(n))
	for i, cell := range p.Head {
		fmt.Fprintf(&text, `<th scope="col"%s>%s</th>`, classes[i], html.EscapeString(cell))
	}
	text.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range p.Rows {
		row := "<tr>"
		if r.Alarm {
			row = "<tr class=\"alarm\">"
		}
		text.WriteString(row)
		for i, cell := range r.Cells {
			cell = html.EscapeString(cell)
			if to := p.anchorOf(n, r.Picture); i == 0 && to != "" {
				cell = fmt.Sprintf("<a href=\"#%s\">%s</a>", to, cell)
			}
			fmt.Fprintf(&text, "<td%s>%s</td>", classes[i], cell)
		}
		text.WriteString("</tr>\n")
	}
	text.WriteString("</tbody></table>\n")
	wide(out, "Table", text.String())
}

// number is a cell that is read as a number: 350, 12.5 ms, 3/100, or - for none.
var number = regexp.MustCompile(`^(-|[-+]?[0-9][0-9.,/]*( ?(ms|s|%))?)?$`)

// classes are the class attributes of the columns; empty for one without numbers or with text.
func (p Page) classes() []string {
	all := make([]string, len(p.Head))
	for i := range all {
		only, some := true, false
		for _, r := range p.Rows {
			if i < len(r.Cells) {
				only = only && number.MatchString(r.Cells[i])
				some = some || r.Cells[i] != ""
			}
		}
		if only && some {
			all[i] = ` class="number"`
		}
	}
	return all
}
