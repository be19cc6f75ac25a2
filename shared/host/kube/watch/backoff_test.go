package watch

import (
	"testing"
	"time"
)

func crowded(w world) { w.watcher.watcher.Crowd = true }

// TestCrowd_Outage has the API away for ten minutes: two hosts of a crowd send few requests, at
// different times, and are back soon after the API is. On the control plane the pace is constant.
func TestCrowd_Outage(t *testing.T) {
	for _, closes := range []bool{false, true} {
		outage(t, closes)
	}
}

// outage has no process listen, or one that closes each connection at once, as a balancer without a
// server does.
func outage(t *testing.T, closes bool) {
	t.Helper()
	const outage = 10 * time.Minute
	asks := func(prepare ...func(world)) (times []time.Duration) {
		inVirtualTime(t, func(w world) {
			w.api.set("master-0", at("192.0.2.10"))
			expect(t, w, "master-0")
			time.Sleep(time.Minute)
			before := len(w.api.trials())
			began := time.Now()
			w.api.down.Store(true)
			w.api.closes.Store(closes)
			w.api.endWatches()
			time.Sleep(outage)
			w.api.set("master-1", at("192.0.2.11"))
			w.api.down.Store(false)
			w.names()
			for _, tried := range w.api.trials()[before:] {
				times = append(times, tried.Sub(began))
			}
			time.Sleep(lastSpread + pace)
			expect(t, w, "master-0", "master-1")
			if lists, _ := w.api.counts(); lists != 1 {
				t.Errorf("%d lists, want only the first", lists)
			}
		}, prepare...)
		return times
	}
	one, other, alone := asks(crowded), asks(crowded), asks()
	if most := int(3 * outage / lastSpread); len(one) > most || len(one) < 10 {
		t.Errorf("one of a crowd sends %d requests in %v, want %d at most", len(one), outage, most)
	}
	same := map[time.Duration]bool{}
	for _, at := range one {
		same[at] = true
	}
	for _, at := range other {
		if at > 0 && same[at] {
			t.Errorf("two of a crowd send a request %v after the API went", at)
		}
	}
	if least := int(outage/pace) - 2; len(alone) < least {
		t.Errorf("on the control plane %d requests in %v, want %d", len(alone), outage, least)
	}
}

// TestCrowd_EndedInOrder has the API end all streams in order, as a shutdown does: a crowd does not
// come back at once.
func TestCrowd_EndedInOrder(t *testing.T) {
	var waits []time.Duration
	for range 20 {
		inVirtualTime(t, func(w world) {
			w.api.set("master-0", at("192.0.2.10"))
			expect(t, w, "master-0")
			time.Sleep(time.Minute)
			began, before := time.Now(), len(w.api.trials())
			w.api.endWatches()
			time.Sleep(firstSpread + pace)
			w.names()
			tried := w.api.trials()[before:]
			if len(tried) != 1 {
				t.Fatalf("%d requests, want one", len(tried))
			}
			waits = append(waits, tried[0].Sub(began))
		}, crowded)
	}
	late := 0
	for _, wait := range waits {
		if wait > firstSpread/4 {
			late++
		}
	}
	if late < 5 {
		t.Errorf("a crowd comes back after %v, want it spread over %v", waits, firstSpread)
	}
}

// TestList_FromMemory holds that few objects are listed from the server's cache, and never older
// than what was seen; and that thousands are listed in pages, by one of a crowd from that cache.
func TestList_FromMemory(t *testing.T) {
	for _, tt := range []struct {
		paged       bool
		crowd       bool
		first, then string // resourceVersion/limit
	}{{false, false, "0/", "101/"}, {true, false, "/100", "/100"}, {true, true, "0/100", "101/100"}} {
		inVirtualTime(t, func(w world) {
			expect(t, w)
			w.api.set("master-0", at("192.0.2.10"))
			expect(t, w, "master-0")
			w.api.forget()
			w.api.endWatches()
			time.Sleep(4 * lastSpread) // whatever the random wait is
			expect(t, w, "master-0")
			w.api.mu.Lock()
			defer w.api.mu.Unlock()
			if len(w.api.listed) != 2 || w.api.listed[0] != tt.first || w.api.listed[1] != tt.then {
				t.Errorf("paged %t, crowd %t: lists of %q, want %q and then %q", tt.paged, tt.crowd, w.api.listed, tt.first, tt.then)
			}
		}, func(w world) { w.watcher.watcher.Paged, w.watcher.watcher.Crowd = tt.paged, tt.crowd })
	}
}
