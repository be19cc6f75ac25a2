// Package seeds runs a simulation with many seeds on all processors.
package seeds

import (
	"runtime"
	"sync"
)

// Each runs a simulation with so many seeds from the first one on, and adds each result, one at a
// time and in no order. It reports how many runs it has begun from time to time.
func Each[R any](
	first uint64, count int, run func(seed uint64) R, add func(seed uint64, result R),
	report func(begun int),
) {
	seeds := make(chan uint64)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				result := run(seed)
				mu.Lock()
				add(seed, result)
				mu.Unlock()
			}
		})
	}
	for i := range count {
		if i%500 == 0 {
			report(i)
		}
		seeds <- first + uint64(i)
	}
	close(seeds)
	workers.Wait()
}
