package supervised

import "time"

var pauses = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
	10 * time.Second}

// Pause is the time that the supervisor waits before it tries something again, such as to start
// keepalived, after so many failures in a row: the first time none.
func Pause(failures int) time.Duration { return pauses[min(failures, len(pauses)-1)] }
