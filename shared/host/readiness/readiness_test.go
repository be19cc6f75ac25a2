package readiness

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var ownMAC = mac.MAC{0x52, 0x54, 0, 0, 0, 1}

var ip = netip.MustParseAddr

// host is a FAKE bootstrap machine on whose link nothing is wrong.
func host(links ...addr.Ethernet) Host {
	if len(links) == 0 {
		links = []addr.Ethernet{{Name: "ens4", MAC: ownMAC, MTU: 1500, Enabled: true, Carrier: true}}
	}
	return Host{Machine: true, Plan: &provision.Plan{Network: "managed", CIDR: netip.MustParsePrefix("172.22.0.0/24"),
		BootstrapIP: ip("172.22.0.2"), IP: ip("172.22.0.3"), MACs: []mac.MAC{{0x52, 0x54, 0, 0, 0, 1}}, Interface: "ens4"},
		Probes: provisioning.Probes{
			Links:     func() ([]addr.Ethernet, error) { return links, nil },
			Servers:   func(context.Context, string) ([]offer.Server, bool, error) { return nil, false, nil },
			WhoHas:    func(string, netip.Addr) ([]string, error) { return nil, nil },
			Listeners: func() ([]sockets.Listener, error) { return nil, nil },
			Programs:  func(uint32) []string { return []string{"dnsmasq"} },
			Index:     func(string) int { return 4 },
			Switch:    func(context.Context, string) (*lldp.Neighbor, error) { return nil, nil },
		}}
}

// answers has a DHCP server on the link.
func (h Host) answers(from string) Host {
	h.Probes.Servers = func(context.Context, string) ([]offer.Server, bool, error) {
		return []offer.Server{{Kind: offer.DHCP, Source: ip(from), ID: ip(from), MAC: "52:54:00:00:00:99"}}, false, nil
	}
	return h
}

// has has a program on ports of the machine.
func (h Host) has(network string, ports ...uint16) Host {
	h.Probes.Listeners = func() (all []sockets.Listener, err error) {
		for _, p := range ports {
			all = append(all, sockets.Listener{Local: netip.AddrPortFrom(netip.IPv4Unspecified(), p), Network: network})
		}
		return all, nil
	}
	return h
}

// taken has another host answer for each address.
func (h Host) taken() Host {
	h.Probes.WhoHas = func(string, netip.Addr) ([]string, error) { return []string{"52:54:00:00:00:99"}, nil }
	return h
}

// TestRun holds what keeps DHCP off, what does not, and what another machine cannot see.
func TestRun(t *testing.T) {
	elsewhere := func(h Host) Host { h.Machine = false; return h }
	ended := func(h Host) Host { h.Ended = true; return h }
	unmanaged := func(h Host) Host { h.Plan.Network = "unmanaged"; return h }
	machineHas := func(h Host) Host {
		h.Probes.WhoHas = func(string, netip.Addr) ([]string, error) { return []string{ownMAC.String()}, nil }
		return h
	}
	proxies := func(h Host) Host {
		h.Probes.Servers = func(context.Context, string) ([]offer.Server, bool, error) {
			return []offer.Server{{Kind: offer.DHCP, MAC: "52:54:00:00:00:99"}, {Kind: offer.ProxyDHCP, MAC: "52:54:00:00:00:98"}}, false, nil
		}
		return h
	}
	expects := func(h Host, server string) Host { h.Plan.ExpectedServers = []string{server}; return h }
	flagged := func(h Host) Host { h.Expected.Addresses = []netip.Addr{ip("172.22.0.200")}; return h }
	serves := func(h Host) Host { h.Serves = true; return h }
	other := addr.Ethernet{Name: "ens3", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 7}, MTU: 1500, Enabled: true, Carrier: true,
		Addresses: []netip.Prefix{netip.MustParsePrefix("172.22.0.9/16")}}
	own := addr.Ethernet{Name: "ens4", MAC: ownMAC, MTU: 1500, Enabled: true, Carrier: true}
	for _, tt := range []struct {
		name string
		host Host
		want []string // how the blocking ones begin, then after "-" the warnings
	}{
		{"all is well", host(), []string{"-"}},
		{"another DHCP server", host().answers("172.22.0.200"), []string{"dhcp-foreign", "-"}},
		{"the cluster's server answers too early", host().answers("172.22.0.3"), []string{"dhcp-foreign", "-"}},
		{"the cluster's server answers after the end", ended(host().answers("172.22.0.3")), []string{"-"}},
		{"our own server answers after the end", ended(host().answers("172.22.0.2")), []string{"dhcp-foreign", "-"}},
		{"the cluster has its address after the end", ended(host().taken()), []string{"-"}},
		{"the cluster has its address too early", host().taken(), []string{"prov-taken", "prov-taken", "-"}},
		{"a program has the port of DHCP after the end", ended(host().has("udp", 67)), []string{"-"}},
		{"our own server answers", serves(host().answers("172.22.0.2")), []string{"-"}},
		{"the cluster's server, seen from elsewhere", elsewhere(host().answers("172.22.0.3")), []string{"-"}},
		{"the user's own server answers", unmanaged(host().answers("172.22.0.200")), []string{"-"}},
		{"the user's own server answers, seen from elsewhere", elsewhere(unmanaged(host().answers("172.22.0.200"))), []string{"-"}},
		{"the user's own server answers after the end", ended(unmanaged(host().answers("172.22.0.200"))), []string{"-"}},
		{"another DHCP server that is expected by its address", expects(host().answers("172.22.0.200"), "172.22.0.200"), []string{"-"}},
		{"the same by its MAC", expects(host().answers("172.22.0.200"), "52:54:00:00:00:99"), []string{"-"}},
		{"the same by a flag", flagged(host().answers("172.22.0.200")), []string{"-"}},
		{"another one than is expected", expects(host().answers("172.22.0.200"), "172.22.0.201"), []string{"dhcp-foreign", "-"}},
		{"the user's own server by its address", unmanaged(expects(host().answers("172.22.0.200"), "172.22.0.200")), []string{"-"}},
		{"another one than the user's own", unmanaged(expects(host().answers("172.22.0.200"), "172.22.0.201")), []string{"dhcp-foreign", "-"}},
		{"the user's own server does not answer", unmanaged(host()), []string{"-", "dhcp-missing"}},
		{"a proxy beside the user's own server", unmanaged(proxies(host())), []string{"-", "dhcp-proxy"}},
		{"the user's own server answers, and the address is taken", unmanaged(host().answers("172.22.0.200").taken()), []string{"prov-taken", "prov-taken", "-"}},
		{"the machine has its address, seen from elsewhere", elsewhere(machineHas(host(other))), []string{"-"}},
		{"the same, beside the user's own server", elsewhere(unmanaged(machineHas(host(other).answers("172.22.0.200")))), []string{"-"}},
		{"no link", host(addr.Ethernet{Name: "eth0", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 2}}), []string{"prov-link", "-"}},
		{"no link elsewhere", elsewhere(host(addr.Ethernet{Name: "ens4", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 2}})), []string{"-", "not seen: the provisioning network"}},
		{"the link by an address elsewhere", elsewhere(host(other).answers("172.22.0.200")), []string{"dhcp-foreign", "-"}},
		{"the network on two links", host(own, other), []string{"prov-overlap", "-"}},
		{"a port of DHCP is taken", host().has("udp", 67), []string{"prov-ports", "-"}},
		{"our own services run", host().has("tcp", 6180, 6385), []string{"-"}},
		{"our own DHCP runs", serves(host().has("udp", 67, 69)), []string{"-"}},
		{"a port is taken elsewhere", elsewhere(host().has("tcp", 6180)), []string{"prov-ports", "-"}},
	} {
		blocking, warnings := tt.host.Run(t.Context())
		got := append(append(slices.Clone(blocking), "-"), warnings...)
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestExamine_Disabled holds that without a network of our own nothing is asked.
func TestExamine_Disabled(t *testing.T) {
	h := host().answers("172.22.0.200")
	h.Plan.Network, h.Probes.Links = "disabled", nil
	if r := h.Examine(t.Context()); len(r.Findings)+len(r.Unseen) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestAddBMC holds that a BMC which is not reached stops the machine on which Ironic runs, and is
// unseen elsewhere.
func TestAddBMC(t *testing.T) {
	f := preflight.Finding{Check: preflight.CheckReach, Severity: preflight.Unseen, Host: "master-0", Text: "silent", Remedy: "run it there", Vantage: preflight.Vantage}
	var here, there, memory Report
	Host{Machine: true}.addBMC(&here, f)
	Host{}.addBMC(&there, f)
	f.Check = preflight.CheckMemory
	Host{Machine: true}.addBMC(&memory, f)
	if name := progress.Check(here.Findings[0].String()); name != "bmc-reach:master-0" {
		t.Errorf("a person accepts it as %q", name)
	}
	if len(here.Findings) != 1 || here.Findings[0].Severity != severe || len(here.Unseen) != 0 {
		t.Errorf("here: %+v", here)
	}
	if len(there.Findings) != 0 || len(there.Unseen) != 1 || len(memory.Findings) != 0 || len(memory.Unseen) != 1 {
		t.Errorf("elsewhere: %+v; memory: %+v", there, memory)
	}
}

func TestOwnClock(t *testing.T) {
	for name, tt := range map[string]struct {
		ahead []time.Duration
		seen  string
	}{
		"none":              {nil, ""},
		"one BMC alone":     {[]time.Duration{time.Hour}, ""},
		"right":             {[]time.Duration{time.Second, -time.Second}, ""},
		"BMCs differ":       {[]time.Duration{time.Hour, 2 * time.Hour}, ""},
		"this host is late": {[]time.Duration{time.Hour, time.Hour + time.Second}, "it is 1h0m0s behind the clocks of 2 BMCs"},
		"this host is fast": {[]time.Duration{-time.Hour, -time.Hour}, "it is 1h0m0s ahead of the clocks of 2 BMCs"},
	} {
		f, wrong := ownClock(tt.ahead)
		if wrong != (tt.seen != "") || !strings.HasPrefix(f.Seen, tt.seen) {
			t.Errorf("%s: %t %+v", name, wrong, f)
		}
	}
}

// TestText holds what an operator reads.
func TestText(t *testing.T) {
	r := Report{At: time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC), Link: "ens4", Mode: offer.Managed, Checks: make([]string, 28),
		Hosts: []report.Row{{Host: "master-0", BMC: "https://192.0.2.7", Power: "Off", Boot: "PXE, UEFI", RootDisk: "-", RunnerUp: "-", Ready: "no: bmc-login",
			Firmware: `vendor "Dell", firmware "7.10"`}},
		Findings: []Finding{{Check: "bmc-login", Severity: "error", Host: "master-0", Vantage: preflight.Vantage,
			Fault: facts.Fault{Subject: "host master-0", Seen: "the BMC rejects the user", Do: "fix the password"}}},
		Unseen: []string{"memory of master-0: the BMC reports\nno memory"}}
	text := r.Text(layout.Of(72))
	r.Findings = nil
	r.Link = ""
	golden.Check(t, []byte(text+"\n"+r.Text(layout.Of(200))))
	for line := range strings.Lines(text) {
		if len(line) > 73 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
}
