package seeds

import (
	"slices"
	"testing"
)

// TestEach holds that each seed runs once with its own result, and what progress is reported.
func TestEach(t *testing.T) {
	results := map[uint64]uint64{}
	var begun []int
	Each(10, 1234, func(seed uint64) uint64 { return seed * seed },
		func(seed, result uint64) {
			if _, twice := results[seed]; twice {
				t.Errorf("seed %d runs twice", seed)
			}
			results[seed] = result
		}, func(n int) { begun = append(begun, n) })
	for seed := uint64(10); seed < 10+1234; seed++ {
		if results[seed] != seed*seed {
			t.Errorf("seed %d has %d", seed, results[seed])
		}
	}
	if len(results) != 1234 || !slices.Equal(begun, []int{0, 500, 1000}) {
		t.Errorf("%d results, reported %v", len(results), begun)
	}
	Each(1, 0, func(uint64) int { t.Error("a run"); return 0 }, func(uint64, int) { t.Error("a result") }, func(int) { t.Error("a report") })
}
