package vip

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// on is a machine on which the link of that name, and none else, has the addresses.
func on(name string, prefixes ...string) addr.Snapshot {
	s := links(prefixes...)
	s.Links[0].Name = name
	s.Links = append(s.Links, addr.Link{Index: 9, Name: "other", Up: true})
	return s
}

// TestInstanceFollowsItsAddress holds K-11 and K-12: the interface is put into a bridge under a
// keepalived that holds the VIP, while the API says nothing. The next round already proposes the
// bridge; nothing waits for the API, which may be away because of that very move. While the address
// is nowhere, the instance stays for a bounded time and then goes.
func TestInstanceFollowsItsAddress(t *testing.T) {
	r, h, d, _ := room(t, nil)
	now := time.Now()
	r.options.Now = func() time.Time { return now }
	h.verdict = &release.Verdict{Hold: true, Why: "the local API is gone, which may be a restart"}
	for _, step := range []struct {
		name  string
		after time.Duration
		links addr.Snapshot
		on    string // the interface of the proposal in force; empty: keepalived is told to stop
	}{
		{name: "at boot", links: on("enp1s0", host...), on: "enp1s0"},
		{name: "moved to a bridge", after: time.Second, links: on("br-ex", host...), on: "br-ex"},
		{name: "and back", after: time.Second, links: on("enp1s0", host...), on: "enp1s0"},
		{name: "nowhere for a moment", after: election.AddressGap - time.Millisecond, links: on("enp1s0"), on: "enp1s0"},
		{name: "nowhere for too long", after: time.Millisecond, links: on("enp1s0")},
		{name: "on a bridge again", after: time.Hour, links: on("br-ex", host...), on: "br-ex"},
	} {
		now = now.Add(step.after)
		h.links = step.links
		stops := d.stops
		if err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
		if stopped := d.stops > stops; stopped != (step.on == "") {
			t.Fatalf("%s: stopped %v", step.name, stopped)
		}
		if last := string(h.proposed[len(h.proposed)-1]); step.on != "" && !strings.Contains(last, "interface "+step.on+"\n") {
			t.Errorf("%s: want the instance on %s, proposed is\n%s", step.name, step.on, last)
		}
	}
}
