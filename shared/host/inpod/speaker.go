package inpod

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Speaker is FRR's container in a static pod: onprem-speak withdraws the VIPs on request.
type Speaker struct{ parent[spoken.Status] }

// NewSpeaker takes the request to withdraw the VIPs, and the speaker's status.
func NewSpeaker(
	p plan.Plan, leave func(now bool) error, status func() (spoken.Status, error),
) *Speaker {
	url := fmt.Sprintf("http://localhost:%d/healthz", p.Ports[port.Speaker])
	return &Speaker{parent[spoken.Status]{name: "FRR's parent",
		health: probe.NewHTTP(url, localhost.Dial), leave: leave, status: status,
		left:  func(s spoken.Status) bool { return s.At.IsZero() || s.Left },
		stays: "has not withdrawn the VIPs"}}
}
