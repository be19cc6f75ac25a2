package adverts

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestWarmth holds that each peer is asked for at once and then every 10 s, and that many peers are
// asked for a few at a time, no more often than their number allows.
func TestWarmth(t *testing.T) {
	for _, tt := range []struct {
		peers int
		want  []string // in the first 25 s
	}{
		{peers: 0},
		{peers: 4, want: []string{"0s 0-4", "10s 0-4", "20s 0-4"}},
		{peers: 20, want: []string{"0s 0-16", "1s 16-20", "10s 0-16", "11s 16-20",
			"20s 0-16", "21s 16-20"}},
		{peers: 161, want: []string{"0s 0-16", "1s 16-32", "2s 32-48", "3s 48-64", "4s 64-80",
			"5s 80-96", "6s 96-112", "7s 112-128", "8s 128-144", "9s 144-160",
			"10s 160-161", "11s 0-16", "12s 16-32", "13s 32-48", "14s 48-64", "15s 64-80",
			"16s 80-96", "17s 96-112", "18s 112-128", "19s 128-144", "20s 144-160",
			"21s 160-161", "22s 0-16", "23s 16-32", "24s 32-48"}},
	} {
		var w warmth
		var got []string
		begin := time.Now()
		for at := time.Duration(0); at < 25*time.Second; at += 50 * time.Millisecond {
			if from, to := w.next(tt.peers, begin.Add(at)); from != to {
				got = append(got, fmt.Sprintf("%v %d-%d", at, from, to))
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d peers: %v, want %v", tt.peers, got, tt.want)
		}
	}
}
