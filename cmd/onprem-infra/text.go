package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/progress"
)

// width is the width of lines on this terminal.
var width = sync.OnceValue(func() layout.Width { return layout.Of(terminal.Width(os.Stdout)) })

func columns() int { return int(width()) }

func wrapped(line string) string { return width().Wrap(line) }

func tabled(head []string, rows [][]string) string { return width().Table(head, rows) }

// printMessage prints a message beside a verb's result. On a terminal long lines are broken between
// words; elsewhere a line stays a line, for programs that read lines.
func printMessage(w io.Writer, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if terminal.Is(w) {
		text = coloured(w, width().Narrow(text))
	}
	_, err := io.WriteString(w, text)
	return err
}

// rowColumns is how many columns a row may have: elsewhere than on a terminal it stays a line, as a
// message does.
func rowColumns(w io.Writer) int {
	if terminal.Is(w) {
		return columns()
	}
	return math.MaxInt
}

// coloured highlights the words of a text that judge on a terminal that has colours.
func coloured(w io.Writer, text string) string {
	if !terminal.Colours(w) {
		return text
	}
	return layout.Highlight(text)
}

// startProgress shows a line on the terminal of standard error. It is nil where there is no
// terminal, where that cannot draw over a line, and where the verb is to be quiet.
func startProgress(std streams, quiet bool, text string) *progress.Line {
	if quiet || !terminal.Is(std.err) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return progress.Start(std.err, text)
}
