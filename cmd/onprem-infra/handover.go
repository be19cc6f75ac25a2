package main

import (
	"log/slog"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/bootstrap/provisioning/address"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/handedover"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// ownCluster is what a plan has of the cluster's own provisioning.
func ownCluster(p plan.Plan) handover.Cluster {
	c := handover.Cluster{Metal3: metal3.Knows(p), Operator: p.Flavour().Machines,
		Returns: p.Provisioning.Own().IsValid(), Cards: map[string]string{},
		Listed: p.Provisioning.Address == provisioning.One && p.Provisioning.Interface == ""}
	if p.Provisioning.Network != provisioning.Disabled {
		c.Address = p.Provisioning.IP
	}
	for _, h := range p.Provisioning.Hosts {
		c.Cards[h.MAC.String()] = h.Name
		if h.Phase == provision.Cluster {
			c.Hosts = append(c.Hosts, h.Name)
		}
	}
	return c
}

// handedCluster is the cluster as the bootstrap machine hands provisioning over to it: by the
// credentials of that machine's own API server, an administrator's.
func handedCluster(p plan.Plan, kubeconfig string, log *slog.Logger,
	nodes func() []addr.Candidate) *handedover.Cluster {
	o := handedover.Options{Address: p.Provisioning.IP,
		API:    kube.NewAPI(kubeconfig, log).OrAt(apiServers(p, nodes)),
		Client: machines.Client{ControlPlane: p.ControlPlaneLabel, Namespace: p.Namespace},
		Link:   func() (string, error) { return bootLink(p) }}
	if !p.Flavour().Machines {
		o.Client.Place = object.AnyHosts()
	}
	return handedover.New(o)
}

// bootLink names this machine's link on the network that hosts boot from.
func bootLink(p plan.Plan) (string, error) {
	cards, err := link.Ethernets()
	if err != nil {
		return "", err
	}
	links, err := link.Network{}.Links()
	if err != nil {
		return "", err
	}
	return address.Link(p, cards, links)
}

// apiServers are the control plane nodes' API servers, and those at the VIPs: this machine's own
// API server ends before the handover does, and the machine may still hold the VIP then.
func apiServers(p plan.Plan, nodes func() []addr.Candidate) func() []netip.AddrPort {
	return func() (all []netip.AddrPort) {
		for _, n := range nodes() {
			for _, a := range n.InternalIPs {
				all = append(all, netip.AddrPortFrom(a, p.Ports[port.API]))
			}
		}
		for _, vip := range p.VIPs.API {
			all = append(all, netip.AddrPortFrom(vip, p.Ports[port.API]))
		}
		return all
	}
}
