package meter

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// Speaker adds what FRR's parent reports to a page of its monitor: the parent itself serves that
// on the loopback alone. It adds nothing if the last report is older than announcing.Stale.
func Speaker(dir speakdir.Dir) func(*metrics.Page) {
	return func(p *metrics.Page) {
		s, err := dir.Status()
		if err != nil || s.At.IsZero() || time.Since(s.At) > announcing.Stale {
			return
		}
		metrics.Speaker(s).Onto(p)
		clients(p, s)
	}
}
