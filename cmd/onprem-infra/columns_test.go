package main

import "testing"

func TestFitting(t *testing.T) {
	for width, want := range map[int]int{0: 100, 20: 60, 80: 80, 120: 120, 400: 160} {
		if got := fitting(width); got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", width, got, want)
		}
	}
}
