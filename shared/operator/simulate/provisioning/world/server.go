package world

import (
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

// Server is a DHCP server of the cluster, with the packet filter around it.
type Server struct {
	Name      string
	Site      Site
	Phase     provision.Phase
	OpenShift bool // that of the pod metal3, which answers all hosts
	Running   bool
	Addressed bool      // its host has the address
	Kept      []mac.MAC // whose requests the filter lets through
	Local     []mac.MAC // which boot from their disks
	Until     time.Duration
	Renews    bool          // its program opens the fence again and again
	Program   bool          // its program runs
	Last      time.Duration // when that last opened it

	given  int
	leases []provisioning.Reservation
}

// Serves reports whether its answers leave its host.
func (w *World) Serves(s *Server) bool {
	on, _ := w.place(s.Site)
	open := s.Renews || w.Now < s.Until || w.Defect == schedule.Unfenced && s.Until > 0
	return on && s.Running && open && (s.Addressed || w.Defect == schedule.Unfenced)
}

// Servers are those of the cluster.
func (w *World) Servers() (all []*Server) {
	all = append(all, w.Boot.Server)
	for _, h := range w.Hosts[:w.Nodes] {
		if h.Seat.Server != nil {
			all = append(all, h.Seat.Server)
		}
	}
	return all
}

// AnswerOf is what a server that serves answers a host.
func (w *World) AnswerOf(s *Server, h *Host) (Answer, bool) {
	p := w.Plan.Provisioning
	if s.OpenShift {
		return Answer{p.IP, pooled(p.DHCP.First, h.Plan.MAC, 0)}, true
	}
	server := served.Server(p, s.Phase)
	i := w.leaseOf(s, h)
	switch {
	case w.Defect == schedule.Unfiltered && i < 0:
		return Answer{server, pooled(p.DHCP.First, h.Plan.MAC, 0)}, true
	case i < 0 || !slices.Contains(s.Kept, h.Plan.MAC):
		return Answer{}, false
	case w.Defect == schedule.OtherAnswers:
		s.given++
		return Answer{server, pooled(p.DHCP.First, h.Plan.MAC, s.given)}, true
	}
	return Answer{server, s.leases[i].Address}, true
}

// Local reports whether a server that answers a host has it boot from its disk.
func (w *World) Local(s *Server, h *Host) bool {
	i := w.leaseOf(s, h)
	return i >= 0 && (s.leases[i].Local || slices.Contains(s.Local, h.Plan.MAC))
}

// leaseOf is the place of a host in a server's list; -1 if it has none.
func (w *World) leaseOf(s *Server, h *Host) int {
	if s.OpenShift {
		return -1
	}
	if s.leases == nil {
		n, _ := served.Network(w.Plan.Provisioning, s.Phase, served.Place{})
		s.leases = n.Reservations
	}
	return slices.IndexFunc(s.leases, func(r provisioning.Reservation) bool {
		return r.MAC == h.Plan.MAC
	})
}

// pooled is an address that dnsmasq chooses by the MAC of a host.
func pooled(first netip.Addr, m mac.MAC, more int) netip.Addr {
	hash := fnv.New32a()
	_, _ = hash.Write(m[:]) // a hash takes all
	for range hash.Sum32()%64 + uint32(more)%64 {
		first = first.Next()
	}
	return first
}
