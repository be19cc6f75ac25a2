package provision

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// Input is what a plan follows from, checked.
type Input struct {
	Settings  provisioning.Settings
	Hosts     []machine.Host // each has a role
	Masters   int            // replicas of the control plane; 0 if there are as many as hosts
	OpenShift bool
	Elects    bool         // VRRP elects the holders of VIPs
	VIPs      []netip.Addr // all of them
	APIVIPs   []netip.Addr // the primary family first
	Machines  []netip.Prefix
	Zone      string // the domain of the cluster's names
}

// defaultLease is dnsmasq's.
const defaultLease = time.Hour

// Compile makes the plan, and proves what it states. It is nil for hosts that are not provisioned.
func Compile(in Input) (*Plan, error) {
	s := in.Settings
	if s.Network == "" {
		return nil, nil
	}
	p := &Plan{Network: s.Network, Interface: s.Interface, MACs: slices.Clone(s.MACs),
		NTP: slices.Clone(s.DHCP.NTP), BMCCAFile: s.BMCCAFile, VolumeClaim: s.VolumeClaim,
		ExpectedServers: slices.Clone(s.ExpectedServers),
		BootstrapIP:     s.BootstrapIP, IP: s.IP}
	if s.Network != provisioning.Disabled {
		p.addresses(in)
	}
	var errs []error
	masters := 0
	for _, h := range in.Hosts {
		if h.Role == machine.Master {
			masters++
		}
		planned, err := p.host(in, h, in.Masters > 0 && masters > in.Masters)
		if err != nil {
			errs = append(errs, fmt.Errorf("host %q: %w", h.Name, err))
		}
		p.Hosts = append(p.Hosts, planned)
	}
	timers := defaultTimers()
	if s.Network == provisioning.Managed {
		p.dhcp(in)
		timers.Lease = time.Duration(p.DHCP.LeaseSeconds) * time.Second
	}
	p.Deadlines = timers.deadlines()
	p.NoProxy, p.TLSNames = p.noProxy(in), p.tlsNames()
	proof, err := p.prove()
	if p.Proof = proof; in.Elects && p.ServesCluster() {
		p.Proof = append(p.Proof, oneHolder)
	}
	if err := errors.Join(append(errs, timers.Fit(), err)...); err != nil {
		return nil, err
	}
	return p, nil
}

// CIDR is the provisioning network of settings that have one.
func CIDR(s provisioning.Settings) netip.Prefix {
	if s.CIDR.IsValid() {
		return s.CIDR.Masked()
	}
	return subnet.Default()
}

// addresses completes the network and the addresses on it.
func (p *Plan) addresses(in Input) {
	s := in.Settings
	p.CIDR = CIDR(s)
	p.Address = cmp.Or(s.Address, provisioning.One)
	if s.Address == "" && in.OpenShift {
		p.Address = provisioning.Two
	}
	bootstrap, cluster := subnet.Servers(p.CIDR)
	if !p.IP.IsValid() {
		p.IP = cluster
	}
	switch {
	case p.Address == provisioning.One:
		p.BootstrapIP = netip.Addr{}
	case !p.BootstrapIP.IsValid():
		p.BootstrapIP = bootstrap
	}
}

// host plans one host, without its address.
func (p *Plan) host(in Input, h machine.Host, spare bool) (Host, error) {
	a := h.BMC.Address
	planned := Host{Name: h.Name, Role: h.Role, Spare: h.Role == machine.Master && spare,
		Phase: Bootstrap, MAC: h.MAC(), BMC: a.String(), Driver: a.Driver,
		Verify: cmp.Or(h.BMC.Verify, machine.VerifyCA), Kernel: p.kernel(in),
		BootMode: cmp.Or(h.BootMode, machine.UEFI)}
	if h.Role == machine.Worker || planned.Spare {
		planned.Phase = Cluster
	}
	switch {
	case a.VirtualMedia:
		planned.Boot = VirtualMedia
	case a.UEFIHTTP:
		planned.Boot = UEFIHTTP
	case h.BootMode == machine.Legacy:
		planned.Boot = PXEBIOS
	default:
		planned.Boot = PXEUEFI
	}
	at, err := p.ironic(in, planned.Phase)
	if err != nil {
		return planned, err
	}
	planned.Ironic = url(at, portIronic())
	if planned.Boot == VirtualMedia {
		at, err := p.media(in, planned.Phase, a.IP())
		if err != nil {
			return planned, err
		}
		if !p.movesMedia(in, planned.Phase) {
			planned.Media = url(at, portMedia())
		}
	}
	return planned, nil
}

// dhcp plans what our servers answer: to each host its own address, in the phase that it belongs
// to.
func (p *Plan) dhcp(in Input) {
	s := in.Settings.DHCP
	lease := cmp.Or(s.Lease, defaultLease)
	d := &DHCP{Unknown: cmp.Or(s.Unknown, provisioning.Refuse), First: s.First, Last: s.Last,
		LeaseSeconds: int(lease.Seconds()), Gateway: s.Gateway, DNS: slices.Clone(s.DNS),
		Bootstrap: []mac.MAC{}, Cluster: []mac.MAC{}}
	p.DHCP = d
	if !d.First.IsValid() {
		d.First, d.Last = subnet.Free(p.CIDR, p.taken())
	}
	if d.First.Is6() {
		d.Block = subnet.BlockBits
	}
	table := assign(d.First, d.Last, p.taken(), p.Hosts)
	for i, h := range p.Hosts {
		switch {
		case h.Phase == Bootstrap:
			d.Bootstrap = append(d.Bootstrap, h.MAC)
		case p.ServesCluster():
			d.Cluster = append(d.Cluster, h.MAC)
		default:
			continue
		}
		p.Hosts[i].Address = table[h.MAC].Addr()
	}
	if d.Unknown == provisioning.Pool && p.ServesCluster() {
		whole := subnet.Span{First: d.First, Last: d.Last}
		d.Pool = whole.Gaps(append(subnet.Spans(p.taken()), p.reserved()...))
	}
	slices.SortFunc(d.Bootstrap, mac.MAC.Compare)
	slices.SortFunc(d.Cluster, mac.MAC.Compare)
}

// taken are the addresses of the provisioning network that no host gets.
func (p *Plan) taken() []netip.Addr {
	all := []netip.Addr{p.IP}
	if p.BootstrapIP.IsValid() {
		all = append(all, p.BootstrapIP)
	}
	if p.DHCP != nil {
		all = append(all, p.DHCP.DNS...)
		if p.DHCP.Gateway.IsValid() {
			all = append(all, p.DHCP.Gateway)
		}
	}
	return all
}
