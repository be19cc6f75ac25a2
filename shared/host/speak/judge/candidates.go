package judge

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Candidates has each configuration tested once, beside the rounds: a withdrawal must not wait for
// that.
type Candidates struct {
	Tester interface {
		Test(context.Context, frr.Config) (refused, err error)
	}
	Wake chan<- struct{} // when a test has ended
	last *candidate      // nil before the first one
}

// candidate is a configuration whose test has begun.
type candidate struct {
	config       frr.Config
	cancel       context.CancelFunc
	done         chan struct{} // closed after the test
	refused, err error         // what it has found
}

// Consider reports whether a configuration may run: not during its test. If the test itself fails
// it may: the host would be without VIPs, and what the running daemons have is read back too.
func (c *Candidates) Consider(ctx context.Context, config frr.Config) (good bool, trouble error) {
	if c.last != nil && !reflect.DeepEqual(c.last.config, config) {
		c.last.cancel()
		c.last.config = frr.Config{} // one that is the candidate again is tested anew
		if !c.last.tested() {
			return false, nil // its end wakes the loop; two tests would use the same sockets
		}
		c.last = nil
	}
	if c.last == nil {
		c.begin(ctx, config)
	}
	switch {
	case !c.last.tested():
		return false, nil
	case c.last.refused != nil:
		all := strings.ReplaceAll(c.last.refused.Error(), "\n", "; ") // it is one trouble
		return false, fmt.Errorf("FRR refuses the configuration, and the one before goes on, if "+
			"there is one: %s", all)
	case c.last.err != nil:
		return true, fmt.Errorf("the configuration is used without a test, which failed: %w",
			c.last.err)
	}
	return true, nil
}

func (c *Candidates) begin(ctx context.Context, config frr.Config) {
	ctx, cancel := context.WithCancel(ctx)
	one := &candidate{config: config, cancel: cancel, done: make(chan struct{})}
	c.last = one
	go func() {
		defer loop.Wake(c.Wake)
		defer close(one.done)
		one.refused, one.err = c.Tester.Test(ctx, config)
	}()
}

func (c *candidate) tested() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// End cancels a test, and waits for its end.
func (c *Candidates) End() {
	if c.last != nil {
		c.last.cancel()
		<-c.last.done
	}
}
