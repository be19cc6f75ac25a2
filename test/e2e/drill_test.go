package e2e

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// drill is something that goes wrong on a machine which is well, and the state that must come of
// it.
type drill struct {
	fault  string        // what is done, in a few words
	inject func()        // does it; the time runs from its start
	within time.Duration // the longest that the right state may take
	// right says what happened once the state is right, and until then what is not.
	right func() (happened string, err error)
}

// run is a subtest, and a line of the report.
func (d drill) run(t *testing.T) bool {
	t.Helper()
	return t.Run(d.fault, func(t *testing.T) {
		l := line{fault: d.fault, happened: "NOT RIGHT"}
		start := time.Now()
		defer func() {
			l.took = time.Since(start)
			drilled.add(l)
		}()
		d.inject()
		var happened string
		eventually(t, d.within-time.Since(start), func() (err error) {
			happened, err = d.right()
			return err
		})
		l.happened = happened
	})
}

// line is what one drill showed.
type line struct {
	fault, happened string
	took            time.Duration
}

func (l line) String() string {
	return fmt.Sprintf("%-60s | %8.2f s | %s", l.fault, l.took.Seconds(), l.happened)
}

// report has the drills of all tests.
type report struct {
	sync.Mutex
	lines []line
}

var drilled report

func (r *report) add(l line) {
	r.Lock()
	defer r.Unlock()
	r.lines = append(r.lines, l)
	fmt.Println(l)
}

// TestMain prints the drills once more and together.
func TestMain(m *testing.M) {
	code := m.Run()
	if len(drilled.lines) > 0 {
		fmt.Printf("\n%-60s | %10s | %s\n", "fault", "until right", "what happened")
		for _, l := range drilled.lines {
			fmt.Println(l)
		}
	}
	os.Exit(code)
}
