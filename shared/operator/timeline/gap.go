package timeline

import "time"

// Gap is a time after an announcement in which no lane announces the VIP.
type Gap struct {
	From, To time.Duration
	Open     bool     // it lasts until the end of the timeline
	Serving  []string // the lanes that serve the VIP meanwhile, for some time of it
}
