package publish

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var routed, otherVIP = netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("198.51.100.6")

// reports are the Events that come of notes: ! stands before a warning.
func reports(t *testing.T, do func(*Events)) (got []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		events := NewEvents(func() (string, error) { return "node-0", nil }, func(_ context.Context, _ string, e Event) error {
			text := e.Reason + " " + e.Message
			if e.Warning {
				text = "!" + text
			}
			got = append(got, text)
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- events.Run(ctx) }()
		do(events)
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return got
}

// TestEvents_Announced holds which changes of what a node announces become Events: each once, none of a time before
// this program, and none of the first session with a router.
func TestEvents_Announced(t *testing.T) {
	route := func(e *Events, anything, behind, earlier bool) {
		e.NoteRoute(Route{At: time.Now(), VIP: routed, Anything: anything, Behind: behind, Earlier: earlier, Why: "because"})
	}
	reach := func(e *Events, bfd, up, earlier bool) {
		e.NoteReach(Reach{At: time.Now(), Router: "10.1.1.1", BFD: bfd, Up: up, Earlier: earlier, Why: "because"})
	}
	outsider := func(e *Events, there, earlier bool) {
		e.NoteOutsider(Outsider{At: time.Now(), VIP: routed, There: there, Earlier: earlier, Why: "because"})
	}
	const announced, demoted, withdrawn = "VIPAnnounced This node announces the VIP 198.51.100.5 to its routers: because",
		"VIPDemoted This node announces the VIP 198.51.100.5 behind all other nodes: because", "VIPWithdrawn This node does not announce the VIP 198.51.100.5 any more: because"
	for name, tt := range map[string]struct {
		do   func(*Events)
		want []string
	}{
		"it begins, is worse, leaves and is away": {func(e *Events) {
			route(e, false, false, false)
			route(e, true, false, false)
			route(e, true, false, false) // another grade
			route(e, true, true, false)
			route(e, false, false, false)
			route(e, false, false, false) // its address is away too
		}, []string{announced, demoted, withdrawn}},
		"it was so before": {func(e *Events) {
			route(e, true, false, true)
			route(e, true, false, false)
			route(e, true, true, true)
			route(e, true, false, false)
		}, []string{announced}},
		"a session is lost, and back": {func(e *Events) {
			reach(e, false, true, false)
			reach(e, false, false, false)
			reach(e, false, false, false)
			reach(e, false, true, false)
		}, []string{"!BGPSessionLost The BGP session with the router 10.1.1.1 is lost: because", "BGPSessionBack The BGP session with the router 10.1.1.1 is up again: because"}},
		"another session has begun by then": {func(e *Events) {
			reach(e, false, true, true)
			reach(e, false, true, false)
		}, []string{"!BGPSessionLost The BGP session with the router 10.1.1.1 is lost: because"}},
		"BFD does not come up, and does": {func(e *Events) {
			reach(e, false, true, false)
			reach(e, true, false, false)
			reach(e, true, true, false)
		}, []string{"!BFDLost BFD with the router 10.1.1.1 is lost: because", "BFDBack BFD with the router 10.1.1.1 is up again: because"}},
		"a foreign announcer": {func(e *Events) {
			outsider(e, false, false)
			outsider(e, true, false)
			outsider(e, true, false) // by another router too
			outsider(e, false, false)
		}, []string{"!VIPForeignAnnouncer A host that is not of this cluster announces the VIP 198.51.100.5, and routers send connections there: because",
			"VIPNoForeignAnnouncer No host outside of this cluster announces the VIP 198.51.100.5 any more: because"}},
		"a foreign announcer from before": {func(e *Events) { outsider(e, true, true); outsider(e, true, false) }, nil},
	} {
		if got := reports(t, tt.do); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestEvents_AnnouncedBounded holds that a session which flaps makes few Events and keeps no other one away, and that all
// VIPs of a node have theirs when it leaves.
func TestEvents_AnnouncedBounded(t *testing.T) {
	got := reports(t, func(e *Events) {
		for n := range 3600 {
			e.NoteReach(Reach{At: time.Now(), Router: "10.1.1.1", Up: n%2 == 0, Why: fmt.Sprint(n)})
			if n == 3000 {
				for _, vip := range []netip.Addr{routed, otherVIP} {
					e.NoteRoute(Route{At: time.Now(), VIP: vip, Anything: true})
					for i := range 6 {
						e.NoteRoute(Route{At: time.Now(), VIP: vip, Anything: i%2 > 0, Behind: i%2 > 0})
					}
				}
			}
			time.Sleep(time.Second)
		}
	})
	count := map[string]int{}
	for _, text := range got {
		reason, _, _ := strings.Cut(strings.TrimPrefix(text, "!"), " ")
		count[reason]++
	}
	if n := count[RouterLost] + count[RouterBack]; n < 60 || n > 70 || count[Announced]+count[Demoted]+count[Withdrawn] != 14 {
		t.Errorf("%v", count)
	}
	if last := got[len(got)-1]; !strings.Contains(last, "changes of the session with the router 10.1.1.1 before were not reported") {
		t.Errorf("the last one is %q", last)
	}
}

// TestEvents_RoutersBounded holds that the last Event of each router is what is: a node that has lost many of them
// at once has two for each.
func TestEvents_RoutersBounded(t *testing.T) {
	all := []string{"10.1.1.1", "10.1.1.2", "2001:db8:1::1", "2001:db8:1::2"}
	got := reports(t, func(e *Events) {
		for _, up := range []bool{true, false, true} {
			for _, router := range all {
				e.NoteReach(Reach{At: time.Now(), Router: router, Up: up, Why: "the link"})
			}
		}
	})
	for _, router := range all {
		if !slices.ContainsFunc(got, func(text string) bool {
			return strings.HasPrefix(text, RouterBack+" The BGP session with the router "+router)
		}) {
			t.Errorf("%s is not back: %q", router, got)
		}
	}
}
