package provision

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// hostsOf are so many hosts with cards that follow from a seed; every third is a worker.
func hostsOf(seed uint32, n int) []Host {
	hosts := make([]Host, n)
	for i := range hosts {
		hosts[i].Phase, hosts[i].MAC = Bootstrap, mac.MAC{0x52, 0x54}
		binary.BigEndian.PutUint32(hosts[i].MAC[2:], seed*2654435761+uint32(i)*40503)
		if i%3 == 2 {
			hosts[i].Phase = Cluster
		}
	}
	return hosts
}

// TestAssign_Properties holds for ranges of both families, full to the last address: each card has
// an address of its own, in the range, that no server has, whatever the order of the hosts.
func TestAssign_Properties(t *testing.T) {
	for _, first := range []string{"172.22.0.10", "fd00:22::a"} {
		first := netip.MustParseAddr(first)
		property := func(seed uint32, count, more uint8) bool {
			n, each := int(count)%60+1, uint64(1)
			if first.Is6() {
				each = 16
			}
			last := subnet.Plus(first, (uint64(n)+3)*each+uint64(more)) // room for two servers
			taken := []netip.Addr{subnet.Plus(first, uint64(seed)%uint64(n)), last}
			hosts := hostsOf(seed, n)
			table, reversed := assign(first, last, taken, hosts), slices.Clone(hosts)
			slices.Reverse(reversed)
			seen := map[netip.Addr]bool{}
			for _, h := range hosts {
				block := table[h.MAC]
				if !block.IsValid() || block != block.Masked() || uint64(1)<<(block.Addr().BitLen()-block.Bits()) != each {
					t.Logf("%s has %v in %v", h.MAC, block, table)
					return false
				}
				for a := block.Addr(); block.Contains(a); a = a.Next() {
					if seen[a] || a.Less(first) || last.Less(a) || slices.Contains(taken, a) {
						t.Logf("%s has %v in %v", h.MAC, a, table)
						return false
					}
					seen[a] = true
				}
			}
			for m, a := range assign(first, last, taken, reversed) {
				if table[m] != a {
					t.Logf("%s has %v, and in another order %v", m, table[m], a)
					return false
				}
			}
			return true
		}
		if err := quick.Check(property, &quick.Config{MaxCount: 500}); err != nil {
			t.Error(err)
		}
	}
}

// TestAssign_Stable holds that a worker that is added, in front of the others by its place and its
// MAC, moves no control plane node, and few hosts at all.
func TestAssign_Stable(t *testing.T) {
	first, last := netip.MustParseAddr("172.22.0.10"), netip.MustParseAddr("172.22.0.254")
	moved, total := 0, 0
	for seed := range uint32(200) {
		hosts, worker := hostsOf(seed, 30), Host{Phase: Cluster, MAC: mac.MAC{0x50}}
		binary.BigEndian.PutUint32(worker.MAC[2:], seed)
		without := assign(first, last, nil, hosts)
		with := assign(first, last, nil, append([]Host{worker}, hosts...))
		for _, h := range hosts {
			if total++; with[h.MAC] != without[h.MAC] {
				if moved++; h.Phase == Bootstrap {
					t.Fatalf("seed %d: a worker moved a control plane node", seed)
				}
			}
		}
	}
	if t.Logf("%d of %d moved", moved, total); moved*50 > total {
		t.Errorf("%d of %d hosts moved, want 2 %% at most", moved, total)
	}
}

// blocks is a plan over IPv6 with two hosts.
func blocks() *Plan {
	p := &Plan{Address: provisioning.One, IP: netip.MustParseAddr("fd00:22::3"), DHCP: &DHCP{First: netip.MustParseAddr("fd00:22::"), Last: netip.MustParseAddr("fd00:22::8e"), Block: 124}}
	for i, name := range []string{"a", "b"} {
		m := mac.MAC{2, byte(i)}
		p.Hosts = append(p.Hosts, Host{Name: name, Phase: Bootstrap, MAC: m, Address: netip.MustParseAddr([]string{"fd00:22::10", "fd00:22::20"}[i])})
		p.DHCP.Bootstrap = append(p.DHCP.Bootstrap, m)
	}
	return p
}

// TestProve_Refuses breaks a plan in each way that the proof is there for.
func TestProve_Refuses(t *testing.T) {
	good := func() *Plan {
		hosts := hostsOf(1, 6)
		first, last := netip.MustParseAddr("172.22.0.10"), netip.MustParseAddr("172.22.0.20")
		p := &Plan{Address: provisioning.One, IP: netip.MustParseAddr("172.22.0.3"), Hosts: hosts, DHCP: &DHCP{First: first, Last: last, Gateway: netip.MustParseAddr("172.22.0.1")}}
		for i, a := range assign(first, last, nil, hosts) {
			for j := range hosts {
				if hosts[j].MAC == i {
					hosts[j].Address = a.Addr()
				}
			}
		}
		for _, h := range hosts {
			if h.Phase == Bootstrap {
				p.DHCP.Bootstrap = append(p.DHCP.Bootstrap, h.MAC)
			} else {
				p.DHCP.Cluster = append(p.DHCP.Cluster, h.MAC)
			}
		}
		return p
	}
	if proof, err := good().prove(); err != nil || len(proof) != 3 {
		t.Fatalf("%v, %v", proof, err)
	}
	if proof, err := blocks().prove(); err != nil || !strings.Contains(proof[2], "2 blocks of /124") {
		t.Fatalf("%v, %v", proof, err)
	}
	for want, change := range map[string]func(*Plan){
		"'s too":                     func(p *Plan) { p.Hosts[1].Address = p.Hosts[0].Address.Next() },
		"is not free in the range":   func(p *Plan) { p.Hosts[1].Address = netip.MustParseAddr("fd00:22::21") },
		"host \"b\": fd00:22:: is":   func(p *Plan) { p.Hosts[1].Address = netip.MustParseAddr("fd00:22::") },
		"host \"b\": fd00:22::80 is": func(p *Plan) { p.Hosts[1].Address = netip.MustParseAddr("fd00:22::80") },
		"host \"a\": fd00:22::10 is": func(p *Plan) { p.DHCP.Block = 0 },
	} {
		p := blocks()
		change(p)
		if _, err := p.prove(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(*Plan){
		"is answered in both phases": func(p *Plan) { p.DHCP.Cluster = append(p.DHCP.Cluster, p.DHCP.Bootstrap[0]) },
		"no server answers":          func(p *Plan) { p.DHCP.Cluster = p.DHCP.Cluster[1:] },
		"is answered and is no host": func(p *Plan) { p.DHCP.Cluster = append(p.DHCP.Cluster, mac.MAC{2}) },
		"is no card":                 func(p *Plan) { p.Hosts[1].MAC = p.Hosts[0].MAC },
		"'s too":                     func(p *Plan) { p.Hosts[1].Address = p.Hosts[0].Address },
		"is not free in the range":   func(p *Plan) { p.Hosts[1].Address = p.IP },
	} {
		p := good()
		change(p)
		if _, err := p.prove(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestProve_Two holds that nothing is stated of the cluster's hosts where its DHCP server is not ours,
// not even where hosts that are not listed are to get an address.
func TestProve_Two(t *testing.T) {
	in := Input{Settings: provisioning.Settings{Network: provisioning.Managed, DHCP: provisioning.DHCP{Unknown: provisioning.Pool}}, OpenShift: true, Zone: "c.example.com"}
	for i, role := range []string{machine.Master, machine.Worker} {
		at, _ := bmc.Parse("ipmi://198.51.100.1")
		in.Hosts = append(in.Hosts, machine.Host{Name: role, Role: role, BootMACAddress: mac.MAC{2, 0, 0, 0, 0, byte(i)}.String(), BMC: machine.BMC{Address: at}})
	}
	p, err := Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.DHCP; len(d.Bootstrap) != 1 || len(d.Cluster) != 0 || d.Pool != nil || !p.Hosts[0].Address.IsValid() || p.Hosts[1].Address.IsValid() {
		t.Errorf("%+v of %+v", d, p.Hosts)
	}
	text := strings.Join(p.Proof, "\n")
	for _, want := range []string{"answers 1 of them, and no other host", "1 addresses of", "the cluster's DHCP server is not ours"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "both") {
		t.Error(text)
	}
}

// TestFit holds that times which contradict each other are found, those of metal3 beside OpenShift's
// installer among them.
func TestFit(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Timers)
		want   string
	}{
		"ours":                  {func(*Timers) {}, ""},
		"with a lease":          {func(t *Timers) { t.Lease = time.Hour }, ""},
		"metal3's":              {func(t *Timers) { t.Retry, t.CallBack = 20*time.Minute, 80*time.Minute }, "the waits for a call-back (1h20m0s) do not fit into the installation (1h0m0s): choose shorter ones, or a longer time"},
		"a retry at once":       {func(t *Timers) { t.Retry = time.Minute }, "the firmware's DHCP retries (1m0s) do not fit into the time to the next boot (1m0s): choose shorter ones, or a longer time"},
		"two boots only":        {func(t *Timers) { t.CallBack -= time.Second }, "3 boots (30m0s) do not fit into the time to the call-back (29m59s): choose shorter ones, or a longer time"},
		"a lease that runs out": {func(t *Timers) { t.Lease = 10 * time.Minute }, "the waits of the handover (10m0s) do not fit into a lease (10m0s): choose shorter ones, or a longer time"},
	} {
		timers := defaultTimers()
		tt.change(&timers)
		got := ""
		if err := timers.Fit(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestPlaces holds that a place is wholly within its range.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		first, last, want string
		count             int
	}{
		{"172.22.0.10", "172.22.0.254", "172.22.0.10/32", 245},
		{"172.22.0.10", "172.22.0.9", "invalid Prefix", 0},
		{"172.22.0.10", "fd00::", "invalid Prefix", 0},
		{"fd00::a", "fd00::fe", "fd00::10/124", 14},
		{"fd00::10", "fd00::1f", "fd00::10/124", 1},
		{"fd00::10", "fd00::1e", "invalid Prefix", 0},
		{"fd00::11", "fd00::2e", "invalid Prefix", 0},
		{"fd00::a", "fd00::ffff:ffff:ffff:ffff", "fd00::10/124", 1<<27 - 1},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "invalid Prefix", 0},
	} {
		got := subnet.PlacesOf(netip.MustParseAddr(tt.first), netip.MustParseAddr(tt.last))
		if got.First.String() != tt.want || got.Count != tt.count {
			t.Errorf("%s to %s: %v, want %s and %d", tt.first, tt.last, got, tt.want, tt.count)
		}
	}
	if got := subnet.PlacesOf(netip.Addr{}, netip.Addr{}); got.Count != 0 {
		t.Errorf("no range has %v", got)
	}
}

func TestSubnet(t *testing.T) {
	cidr := netip.MustParsePrefix("172.22.0.0/24")
	first, last := subnet.Range(cidr)
	if first.String() != "172.22.0.10" || last.String() != "172.22.0.254" || subnet.Size(first, last) != 245 || subnet.Last(cidr).String() != "172.22.0.255" {
		t.Errorf("%s to %s, %d", first, last, subnet.Size(first, last))
	}
	for _, tt := range []struct{ without, first, last string }{
		{"172.22.0.3", "172.22.0.10", "172.22.0.254"},
		{"172.22.0.10", "172.22.0.11", "172.22.0.254"},
		{"172.22.0.254", "172.22.0.10", "172.22.0.253"},
		{"172.22.0.200", "172.22.0.10", "172.22.0.199"},
		{"172.22.0.50", "172.22.0.51", "172.22.0.254"},
	} {
		a, b := subnet.Free(cidr, []netip.Addr{netip.MustParseAddr(tt.without)})
		if a.String() != tt.first || b.String() != tt.last {
			t.Errorf("without %s: %s to %s", tt.without, a, b)
		}
	}
	for text, want := range map[string]int{"fd00::/64": 1<<31 - 1, "fd00::/120": 245, "172.22.0.0/28": 5, "172.22.0.0/29": 0, "172.22.0.0/32": 0} {
		first, last := subnet.Range(netip.MustParsePrefix(text))
		size := 0
		if first.IsValid() {
			size = subnet.Size(first, last)
		}
		if size != want {
			t.Errorf("%s has %d addresses for hosts, want %d", text, size, want)
		}
	}
}
