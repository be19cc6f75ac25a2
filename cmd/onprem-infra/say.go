package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
)

// say tells a person something, beside a verb's result. On a terminal, which would break a long
// line within a word, it is broken between words; elsewhere a line stays a line, for programs that
// read lines.
func say(w io.Writer, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if terminal.Is(w) {
		text = narrow(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// narrow breaks those lines of a text that are wider than a terminal.
func narrow(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		if len([]rune(body)) <= columns() {
			out.WriteString(line)
			continue
		}
		plain := strings.TrimLeft(body, " ")
		out.WriteString(folded(body[:len(body)-len(plain)], plain))
	}
	return out.String()
}
