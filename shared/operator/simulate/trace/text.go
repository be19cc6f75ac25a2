package trace

import (
	"fmt"
	"time"
)

// Text is the run in a few lines: its holders by time, and broken rules.
func (r Result) Text() string {
	var text string
	for _, h := range r.Holders {
		holders := "nobody"
		if len(h.Hosts) > 0 {
			holders = fmt.Sprint(h.Hosts)
			holders = holders[1 : len(holders)-1]
		}
		text += fmt.Sprintf("%12v  %12v  %s\n", h.From.Round(100*time.Microsecond),
			(h.To - h.From).Round(100*time.Microsecond), holders)
	}
	for _, b := range r.Broken {
		text += fmt.Sprintln("broken:", b)
	}
	return text
}
