package metrics

import (
	"maps"
	"slices"
)

// What a bootstrap machine reports of its DHCP server, which answers hosts that are provisioned.
var (
	DHCPServing = gauge("onprem_dhcp_serving",
		"1 while the DHCP and TFTP server does all that it is ordered to.")
	DHCPHosts   = gauge("onprem_dhcp_hosts", "Hosts that the DHCP server answers.")
	DHCPAnswers = counter("onprem_dhcp_answers_total",
		"Messages that the DHCP server has sent to hosts, by their kind.", "message")
	DHCPIgnored = counter("onprem_dhcp_ignored_total",
		"Messages of hosts that the DHCP server has received and does not answer.")
	DHCPForeign = counter("onprem_dhcp_foreign_total",
		"Reports of servers on the provisioning network that are none of the cluster's, by what "+
			"they configure hosts. Each server is reported once a second at most.", "kind")
)

// DHCPServer is that server.
type DHCPServer struct {
	Serving bool
	Hosts   int
}

// Onto adds the metrics to a page.
func (s DHCPServer) Onto(p *Page) {
	p.Flag(DHCPServing, s.Serving)
	p.Add(DHCPHosts, float64(s.Hosts))
}

// DHCPSeen is what was seen of that server, and of others on its network. Its maps have every kind,
// also one of which nothing was seen.
type DHCPSeen struct {
	Answers map[string]uint64 // by message
	Ignored uint64
	Foreign map[string]uint64 // by kind of server
}

// Onto adds the metrics to a page.
func (s DHCPSeen) Onto(p *Page) {
	for _, message := range slices.Sorted(maps.Keys(s.Answers)) {
		p.Add(DHCPAnswers, float64(s.Answers[message]), message)
	}
	p.Add(DHCPIgnored, float64(s.Ignored))
	for _, kind := range slices.Sorted(maps.Keys(s.Foreign)) {
		p.Add(DHCPForeign, float64(s.Foreign[kind]), kind)
	}
}
