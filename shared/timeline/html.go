package timeline

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
)

// Page is a file of pictures.
type Page struct {
	Title     string
	Note      string
	Head      []string   // of a table above the pictures; none for no table
	Rows      [][]string // of that table, each as long as Head
	Timelines []Timeline
}

// HTML writes pictures as one file, under the title of the first.
func HTML(w io.Writer, timelines ...Timeline) error {
	p := Page{Title: "Timeline", Timelines: timelines}
	if len(timelines) > 0 {
		p.Title = timelines[0].Title
	}
	return p.Write(w)
}

// style is for a laptop's screen of 1366 pixels, and for paper.
const style = `body{font:14px/1.45 system-ui,sans-serif;color:#222;background:#fff;max-width:1240px;margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 2px}p{margin:2px 0 10px;color:#444}
table{border-collapse:collapse;margin:14px 0}th,td{padding:4px 14px 4px 0;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
svg{display:block;width:100%;height:auto}section{break-inside:avoid}`

// mark tells a page of ours from any other HTML file.
const mark = `<meta name="generator" content="onprem-infra">`

// IsPage says whether a text is a page that Write has made.
func IsPage(text []byte) bool { return bytes.Contains(text[:min(len(text), 1024)], []byte(mark)) }

// Write writes the page. Everything is in it: no script, no font and no picture is asked of anybody.
func (p Page) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"+mark+"<meta name=\"viewport\" content=\"width=device-width\">"+
		"<title>%s</title>\n<style>%s</style></head><body>\n<h1>%s</h1>\n", html.EscapeString(p.Title), style, html.EscapeString(p.Title))
	paragraph(out, p.Note)
	p.table(out)
	for _, t := range p.Timelines {
		fmt.Fprintf(out, "<section><h2>%s</h2>\n", html.EscapeString(t.Title))
		paragraph(out, t.Note)
		fmt.Fprintf(out, "%s</section>\n", draw(t))
	}
	fmt.Fprint(out, "</body></html>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

func paragraph(out io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(out, "<p>%s</p>\n", html.EscapeString(text))
	}
}

func (p Page) table(out io.Writer) {
	if len(p.Head) == 0 {
		return
	}
	row := func(tag string, cells []string) {
		var text strings.Builder
		for _, cell := range cells {
			fmt.Fprintf(&text, "<%s>%s</%s>", tag, html.EscapeString(cell), tag)
		}
		fmt.Fprintf(out, "<tr>%s</tr>\n", text.String())
	}
	fmt.Fprint(out, "<table>\n")
	row("th", p.Head)
	for _, cells := range p.Rows {
		row("td", cells)
	}
	fmt.Fprint(out, "</table>\n")
}
