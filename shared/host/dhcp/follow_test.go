package dhcp

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFollower holds that one link is watched at a time, and none after the end.
func TestFollower(t *testing.T) {
	var mu sync.Mutex
	var log []string
	f := &Follower{Watcher: Watcher{Listens: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, err.Error())
	}}}
	seen := func(link string, count int) bool {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, line := range log {
			if strings.Contains(line, link) {
				n++
			}
		}
		return n == count
	}
	for _, link := range []string{"no-such-link-a", "no-such-link-a", "no-such-link-b"} {
		f.Watch(link)
		for end := time.Now().Add(20 * time.Second); !seen(link, 1); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not watched once: %q", link, log)
			}
		}
	}
	f.Watch("")
	f.Watch("")
	if !seen("no-such-link-a", 1) || !seen("no-such-link-b", 1) {
		t.Errorf("watched %q", log)
	}
}
