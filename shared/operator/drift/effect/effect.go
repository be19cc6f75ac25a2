// Package effect names what replacing a file does to a host.
package effect

import (
	"cmp"
	"fmt"
	"slices"
)

// Level is how much the host changes when the plan's file replaces its own.
type Level string

// The levels, the least first.
const (
	Nothing    Level = "nothing"     // no running process is affected
	Later      Level = "later"       // it counts from the next boot, or from a restart by hand
	Reload     Level = "reload"      // a daemon reads its configuration again; all else stays
	Restart    Level = "restart"     // a pod or a program starts, restarts or ends; the VIPs stay
	Unknown    Level = "unknown"     // the effect is not known
	MayMove    Level = "may-move"    // a VIP moves in the case that the text names
	Moves      Level = "moves"       // a VIP that this host holds moves
	TwoHolders Level = "two-holders" // for a time a VIP has two holders
)

// Levels are all of them, the least first.
func Levels() []Level {
	return []Level{Nothing, Later, Reload, Restart, Unknown, MayMove, Moves, TwoHolders}
}

// Effect is one thing that happens.
type Effect struct {
	Level Level    `json:"level"`
	Text  string   `json:"text"`         // for people; the wording may change
	Of    []string `json:"of,omitempty"` // pods that read their configuration again, or begin anew
}

// Compare orders levels, the least first.
func (l Level) Compare(other Level) int {
	return cmp.Compare(slices.Index(Levels(), l), slices.Index(Levels(), other))
}

// One is a single effect.
func One(level Level, format string, args ...any) []Effect {
	return []Effect{{Level: level, Text: fmt.Sprintf(format, args...)}}
}
