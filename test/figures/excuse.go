package figures

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// Unexcused are failures, without those of clients that a busy machine may have kept waiting: at the same time
// it kept others waiting, to whose host nothing happened.
func Unexcused(failed, others traffic.Requests) (kept traffic.Requests) {
	const near = 300 * time.Millisecond
	slow := others.With(traffic.Late, traffic.Silent)
	return slices.DeleteFunc(slices.Clone(failed), func(r traffic.Request) bool {
		return (r.Outcome == traffic.Late || r.Outcome == traffic.Silent) && slices.ContainsFunc(slow, func(s traffic.Request) bool {
			return r.Start.Before(s.End.Add(near)) && s.Start.Before(r.End.Add(near))
		})
	})
}
