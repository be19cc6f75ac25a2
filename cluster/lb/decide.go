package lb

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Observe probes HAProxy first. Other read errors go into the Snapshot and do not fail it: the
// redirect depends only on HAProxy.
func (r *Room) Observe(ctx context.Context) (Snapshot, error) {
	s := Snapshot{IPv6: r.Host.IPv6()}
	var err error
	if r.Daemon != nil {
		s.Healthy, err = r.Daemon.Healthy(ctx)
		s.Late = err != nil
	}
	if r.Nodes != nil {
		s.Nodes, s.Synced = r.Nodes.Nodes()
	}
	s.Fault = errors.Join(r.recall(), r.own(&s), r.certificates(&s))
	s.Ironic = r.ironic.Observe(ctx, s.Late)
	s.Before = r.slots
	return s, nil
}

// recall reads the members of an earlier run, once.
func (r *Room) recall() error {
	if r.loaded {
		return nil
	}
	text, err := r.Host.Read(Memory)
	if err != nil {
		return fmt.Errorf("read the members of an earlier run: %w", err)
	}
	var slots []netip.Addr
	if json.Unmarshal(text, &slots) == nil { // a broken file gives no members
		r.slots = slots
	}
	r.loaded = true
	return nil
}

func (r *Room) own(s *Snapshot) error {
	text, err := r.Host.Read(OwnAddress)
	if err != nil {
		return fmt.Errorf("read the node's address: %w", err)
	}
	s.Own, _ = netip.ParseAddr(strings.TrimSpace(string(text)))
	return nil
}

// certificates reads the CA; without a kubeconfig there is none yet.
func (r *Room) certificates(s *Snapshot) (err error) {
	if s.CA, s.Name, err = r.Trust.Trust(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the cluster's CA: %w", err)
	}
	return nil
}

// Decide decides HAProxy's configuration and the redirect. Members that the API no longer lists are
// removed. If the API lists none at all, or does not answer, the last ones stay.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	members, why := r.members(s)
	ports := r.Plan.Ports
	d := Desired{Blind: s.Late, Fault: s.Fault, Config: haproxy.Config{
		Header: r.Header, Run: haproxy.Run, IPv6: s.IPv6, VIPs: r.Plan.VIPs.API, Members: members,
		Server: r.Plan.Timing.Model.Server,
		Ports: haproxy.Ports{
			LB: ports[port.LB], Ready: ports[port.LBReady], Monitor: ports[port.LBMonitor],
			Stats: ports[port.LBStats], MachineConfigLB: ports[port.MachineConfigLB],
			API: ports[port.API], MachineConfig: ports[port.MachineConfig],
			IronicLB: ports[port.IronicLB], VirtualMediaLB: ports[port.VirtualMediaLB],
		},
	}}
	reasons := loop.Reasons{why}
	d.Config.Trust, d.CA, why = trusted(s)
	reasons = append(reasons, why)
	d.Rules, why = r.rules(s)
	reasons = append(reasons, why)
	if d.Ironic, why = r.ironic.Decide(s.Ironic, hosts(s)); why != "" {
		reasons = append(reasons, why)
	}
	d.Config.Ironic = d.Ironic.Servers
	return d, reasons
}

func (r *Room) members(s Snapshot) ([]netip.Addr, string) {
	var named []netip.Addr
	if len(r.Plan.VIPs.API) > 0 {
		for _, n := range s.Nodes {
			vips := r.Plan.VIPs
			a, ok := peer.First(n, vips.API[0], s.Own, vips.All(), r.Plan.MachineNetworks)
			if ok {
				named = append(named, a)
			}
		}
	}
	slots := haproxy.Place(s.Before, named)
	if !s.Synced || len(known(slots)) == 0 {
		slots = haproxy.Place(s.Before, s.Before) // remembered members are validated too
		if len(known(slots)) == 0 {
			return slots, "no members, as the API names none"
		}
		return slots, fmt.Sprintf("members %s of an earlier time, as the API names none",
			loop.List(known(slots)))
	}
	return slots, "members " + loop.List(known(slots))
}

// hosts are all addresses of the control plane's nodes; nil until the API has named some.
func hosts(s Snapshot) (all []netip.Addr) {
	for _, n := range s.Nodes {
		if s.Synced {
			all = append(append(all, n.InternalIPs...), n.Annotated...)
		}
	}
	return all
}

// known are the members without the free slots, sorted.
func known(slots []netip.Addr) []netip.Addr {
	all := slices.DeleteFunc(slices.Clone(slots), func(a netip.Addr) bool { return !a.IsValid() })
	slices.SortFunc(all, netip.Addr.Compare)
	return all
}

// trusted names the file of the CA: another CA is another file, as HAProxy reads it only at a
// reload. HAProxy cannot verify a server that the kubeconfig names by its address; the CA must
// still have signed the certificate.
func trusted(s Snapshot) (haproxy.Trust, []byte, string) {
	if len(s.CA) == 0 {
		return haproxy.Trust{}, nil, "checks verify no certificate, as no CA is known"
	}
	if !x509.NewCertPool().AppendCertsFromPEM(s.CA) {
		return haproxy.Trust{}, nil,
			"checks verify no certificate, as there is none in what the kubeconfig calls a CA"
	}
	digest := sha256.Sum256(s.CA)
	file := fmt.Sprintf("%s/ca-%x.crt", path.Dir(haproxy.File), digest[:6])
	t := haproxy.Trust{CAFile: haproxy.Path(file)}
	if _, err := netip.ParseAddr(s.Name); err != nil {
		if name, err := record.ParseName(s.Name); err == nil {
			t.Name = name
		}
	}
	return t, s.CA, "checks verify certificates"
}

// rules follow HAProxy's health.
func (r *Room) rules(s Snapshot) (redirect.Rules, string) {
	on := r.on.Take(s.Healthy, s.Late, r.Plan.Timing.Model.Redirect.Fall)
	all := r.redirects()
	switch {
	case on:
		return all, "the VIP's connections go through HAProxy"
	case s.Late:
		return all.Off(),
			"HAProxy does not answer: the VIP's connections go to this node's own API server"
	}
	return all.Off(),
		"HAProxy has no server: the VIP's connections go to this node's own API server"
}

// redirects are the rules while HAProxy serves.
func (r *Room) redirects() redirect.Rules {
	return redirect.Of(r.Plan.VIPs.API, r.Plan.MachineNetworks, r.Plan.Ports)
}
