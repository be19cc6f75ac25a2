package layout

import (
	"fmt"
	"time"
)

// Since formats a UTC time with its age, to follow a state; empty for the zero time.
func Since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", t.Format(time.DateTime+"Z"), Age(now.Sub(t)))
}

// Age formats a duration in its two largest units, as in "3 h 5 min ago".
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s ago", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%d h %d min ago", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h ago", d/day, d%day/time.Hour)
}
