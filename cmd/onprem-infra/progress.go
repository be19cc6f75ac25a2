package main

import (
	"os"

	"github.com/onprem-infra/onprem-infra/shared/host/terminal"
	"github.com/onprem-infra/onprem-infra/shared/progress"
)

// startProgress shows a line on the terminal of standard error. It is nil where nobody looks, where
// the terminal cannot draw over a line, and where the verb is to be quiet.
func startProgress(std streams, quiet bool, text string) *progress.Line {
	if quiet || !terminal.Is(std.err) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return progress.Start(std.err, text)
}
