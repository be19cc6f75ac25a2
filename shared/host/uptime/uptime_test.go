package uptime

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNow holds that the clock is the kernel's, and goes on.
func TestNow(t *testing.T) {
	first := Now()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	last := Now()
	kernels := time.Duration(seconds * float64(time.Second))
	if err != nil || last < first || (kernels-first).Abs() > 5*time.Second && !virtual(kernels, first) {
		t.Errorf("%v, then %v; the kernel's: %v, %v", first, last, kernels, err)
	}
}

// virtual reports whether /proc/uptime is that of a container, which some engines write, and is less.
func virtual(container, host time.Duration) bool { return container > 0 && container < host }
