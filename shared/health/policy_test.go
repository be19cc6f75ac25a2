package health

import (
	"testing"
	"time"
)

// TestServers holds what clients of the balancer feel of a server's end and of its return.
func TestServers(t *testing.T) {
	c := Servers()
	if refuses, hangs, returns := c.Detects(0), c.Detects(c.Inter), c.Returns(0); refuses != 260*time.Millisecond || hangs != 700*time.Millisecond || returns != 300*time.Millisecond {
		t.Errorf("out after %v, or %v where it hangs; back after %v", refuses, hangs, returns)
	}
}

// TestRedirect holds for how long clients are led to a balancer that hangs.
func TestRedirect(t *testing.T) {
	if p := Redirect(); p.DetectsLate() != 690*time.Millisecond || p.Fall < 2 {
		t.Errorf("%+v finds a balancer that hangs within %v", p, p.DetectsLate())
	}
}

func TestDetects(t *testing.T) {
	for _, tt := range []struct {
		name         string
		first, later time.Duration
		want         time.Duration
	}{
		{name: "refused at once", want: 5 * time.Second},
		{name: "within the interval", first: time.Second, later: time.Second, want: 6 * time.Second},
		{name: "one question hangs", first: 5 * time.Second, later: 5 * time.Second, want: 26 * time.Second},
		{name: "both hang", first: 6 * time.Second, later: 5 * time.Second, want: 27 * time.Second},
	} {
		if got := BootstrapAPI().Detects(tt.first, tt.later); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestServerCheck_Times holds both bounds for a look that takes some time.
func TestServerCheck_Times(t *testing.T) {
	c := ServerCheck{Inter: 500 * time.Millisecond, FastInter: 200 * time.Millisecond, Fall: 2, Rise: 3}
	const probe = 100 * time.Millisecond
	if got, want := c.Detects(probe), 900*time.Millisecond; got != want {
		t.Errorf("Detects(%v) = %v, want %v", probe, got, want)
	}
	if got, want := c.Returns(probe), 1200*time.Millisecond; got != want {
		t.Errorf("Returns(%v) = %v, want %v", probe, got, want)
	}
}

// TestBootstrapAPI_Detects holds how long an API server that hangs keeps the VIP on the bootstrap
// machine: five questions of 5 s, a second apart.
func TestBootstrapAPI_Detects(t *testing.T) {
	if got, want := BootstrapAPI(), (Policy{Interval: time.Second, Timeout: 5 * time.Second, Fall: 5, Hang: 2200 * time.Millisecond}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := BootstrapAPI().DetectsHang(); got != 3200*time.Millisecond {
		t.Errorf("a hang is detected within %v where a node is ready, want 3.2s", got)
	}
}
