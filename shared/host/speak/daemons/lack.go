package daemons

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// lack is what a daemon has refused of a configuration. To give it that again in each round would
// keep it busy, and fill its log.
type lack struct {
	of    frr.Config
	err   error // nil for nothing
	pause time.Duration
	next  time.Time // when it is given that again
}

// The pauses until a daemon is given again what it has refused. Each is twice as long as the one
// before it.
const (
	firstPause  = 2 * time.Second
	latestPause = 5 * time.Minute
)

// again is the lack after another refusal. For another configuration the pauses begin anew.
func (l lack) again(of frr.Config, refused error, now time.Time) lack {
	pause := firstPause
	if l.err != nil && same(l.of, of) {
		pause = min(2*l.pause, latestPause)
	}
	text := strings.ReplaceAll(refused.Error(), "\n", "; ") // it is one trouble
	return lack{of: of, pause: pause, next: now.Add(pause), err: fmt.Errorf("%s: the daemon has "+
		"the rest, and is given that again at growing intervals, and after a change", text)}
}

// holds reports whether a daemon has refused a part of a configuration, and its pause is not
// over. A configuration without VIPs stands for the same one with any VIPs announced.
func (l lack) holds(of frr.Config, now time.Time) bool {
	return l.err != nil && now.Before(l.next) && same(l.of, of) &&
		(of.Announced == nil || maps.Equal(l.of.Announced, of.Announced))
}

// same compares two configurations but for what is announced.
func same(a, b frr.Config) bool {
	a.Announced, b.Announced = nil, nil
	return reflect.DeepEqual(a, b)
}
