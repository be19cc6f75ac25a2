package scrape_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// pace is the time between two scrapes.
const pace = 30 * time.Second

// anHour is a little more than that.
const anHour = 70 * time.Minute

// scenario is a fault that no tape has: it is health with the changes that are listed here, and why
// is the reason that the lab cannot record it.
type scenario struct {
	name, why string
	values    map[string][2]float64 // TARGET SERIES: before the fault, and during it
	during    time.Duration
	want      []string
}

// written are all such scenarios.
func written() []scenario {
	return []scenario{
		{name: "another host answers for the VIP", why: "in the lab it takes minutes until nodes are sure of it",
			values: map[string][2]float64{`other/vip onprem_vip_clashes{vip="192.0.2.5",kind="api",fault="duplicate-address"}`: {0, 1}}, during: 3 * time.Minute, want: []string{"OnpremVIPClash"}},
		{name: "unicast passes one way", why: "in the lab nothing passes that way, and not VRRP alone",
			values: map[string][2]float64{`holder/vip onprem_vip_clashes{vip="192.0.2.5",kind="api",fault="one-way"}`: {0, 1}}, during: 10 * time.Minute, want: []string{"OnpremVIPMisheard"}},
		{name: "a name that is another's", why: "the lab's cluster has no multicast DNS",
			values: map[string][2]float64{`other/mdns onprem_mdns_names{state="lost"}`: {0, 1}}, during: 10 * time.Minute, want: []string{"OnpremNameLost"}},
		{name: "CoreDNS has not been told of its new Corefile", why: "who does not run has nothing to be told, and whoever hangs is restarted by the kubelet, of which the lab has none",
			values: map[string][2]float64{`other/dns onprem_dns_stale_seconds`: {5, 40}}, during: 5 * time.Minute, want: []string{"OnpremNamesStale"}},
		{name: "the API has never spoken to a monitor that is not told of all API servers", why: "in the lab its node's other monitors would not have heard it either",
			values: map[string][2]float64{`worker/vip onprem_watch_synced{room="cluster/vip",watch="nodes"}`: {1, 0}}, during: 20 * time.Minute, want: []string{"OnpremWatchOld"}},
		{name: "no name server beyond the cluster", why: "CoreDNS's monitor of the lab goes on with another file that names one",
			values: map[string][2]float64{`other/dns onprem_dns_upstreams`: {1, 0}}, during: 10 * time.Minute, want: []string{"OnpremNamesWithoutUpstream"}},
		{name: "a closed gate", why: "in the lab a node that has never heard of the API says nothing of its gate",
			values: map[string][2]float64{`other/vip onprem_vip_gate_open`: {1, 0}}, during: 40 * time.Minute, want: []string{"OnpremGateClosed"}},
		{name: "one balancer does not reach an API server", why: "the lab cuts all that passes between two hosts",
			values: map[string][2]float64{`other/lb onprem_lb_backend_up{server="s0",address="192.0.2.21:6443"}`: {1, 0}}, during: 10 * time.Minute},
	}
}

// tape is health with the listed changes.
func (s scenario) tape(t *testing.T) *scrape.Tape {
	t.Helper()
	own := &scrape.Tape{About: s.name, At: []time.Duration{0, 2 * time.Second, 4 * time.Second}, Rows: map[string]map[string][]scrape.Sample{}}
	for what, values := range s.values {
		target, series, _ := strings.Cut(what, " ")
		own.Rows[series] = map[string][]scrape.Sample{target: {{Value: values[0]}, {Value: values[1]}, {Value: values[1]}}}
	}
	return own.Over(tape(t, scrape.Health))
}

// TestWritten is TestTapes for faults that are written by hand.
func TestWritten(t *testing.T) {
	path, _ := rules(t)
	for _, s := range written() {
		t.Run(s.name, func(t *testing.T) { sounds(t, path, s.tape(t), scrape.Schedule{During: s.during}, s.want) })
	}
}
