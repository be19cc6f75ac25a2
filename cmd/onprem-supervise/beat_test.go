package main

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestBeat_WithoutConfiguration holds what the program that starts the container relies on: a
// supervisor that uses no processor time for seconds has hung, also one that has nothing to do.
// Here it has no configuration, and so no keepalived to check.
func TestBeat_WithoutConfiguration(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.until("there", 10*time.Second, func(st supervised.Status) bool { return st.Instances != nil })
	p, err := proc.Open(s.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	before := time.Duration(-1)
	for range 3 {
		time.Sleep(2500 * time.Millisecond) // two beats at least
		now, err := p.CPU()
		if err != nil {
			t.Fatal(err)
		}
		if now == before {
			t.Fatalf("it has used no processor time for 2.5 s, after %s", now)
		}
		before = now
	}
}
