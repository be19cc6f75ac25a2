package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	bootstrap "github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	node "github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// The host under test, the node that it may know as its peer, and a host behind a router.
var (
	host    = []netip.Addr{netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::10")}
	peer    = []netip.Addr{netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("2001:db8::11")}
	foreign = []netip.Addr{netip.MustParseAddr("198.51.100.2"),
		netip.MustParseAddr("2001:db8:1::2")}
)

// routed adds a router to the LAN, and behind it a host that has the peer's addresses besides its
// own: it can write them into its packets.
func (l lan) routed(t *testing.T) netns.Namespace {
	t.Helper()
	router, behind := netns.New(t), netns.New(t)
	router.IP(t, fmt.Sprintf("link add ens3 type veth peer name port2 netns %s\n"+
		"link add far type veth peer name eth0 netns %s\n", l.neighbour.Path(), behind.Path()))
	l.neighbour.IP(t, "link set port2 master ens3 up\n")
	if err := router.In(func() error {
		var errs []error
		for setting, value := range map[string]string{
			"ipv4/ip_forward": "1", "ipv6/conf/all/forwarding": "1",
			"ipv4/conf/all/rp_filter": "0", "ipv4/conf/far/rp_filter": "0",
		} {
			errs = append(errs, os.WriteFile("/proc/sys/net/"+setting, []byte(value), 0o644))
		}
		return errors.Join(errs...)
	}); err != nil {
		t.Fatal(err)
	}
	router.IP(t, "link set ens3 up\naddr add 192.0.2.1/24 dev ens3\n"+
		"addr add 2001:db8::1/64 dev ens3 nodad\n"+
		"link set far up\naddr add 198.51.100.1/24 dev far\naddr add 2001:db8:1::1/64 dev far nodad\n")
	behind.IP(t, "link set lo up\nlink set eth0 up\naddr add 198.51.100.2/24 dev eth0\n"+
		"addr add 2001:db8:1::2/64 dev eth0 nodad\naddr add 192.0.2.11/32 dev eth0\n"+
		"addr add 2001:db8::11/128 dev eth0 nodad\nroute add default via 198.51.100.1\n"+
		"-6 route add default via 2001:db8:1::1\n")
	return behind
}

// attacks has a real keepalived advertise to a router's own addresses as the owner of its VIPs,
// with the highest priority, until the function that it returns is called.
func attacks(t *testing.T, from netns.Namespace, on keepalived.Interface,
	victim []keepalived.Instance, sources []netip.Addr, ttl int) (end func()) {
	t.Helper()
	config := keepalived.Config{}
	for _, i := range victim {
		of := slices.IndexFunc(host,
			func(a netip.Addr) bool { return a.BitLen() == i.VIP.BitLen() })
		i.Interface, i.Priority, i.Tracks, i.Grouped = on, 255, nil, false
		i.Known, i.Near = false, false
		if i.Source.IsValid() || ttl < 255 { // the group is not routed
			i.Source, i.Peers = sources[of], host[of:of+1]
		}
		config.Instances = append(config.Instances, i)
	}
	text := bytes.ReplaceAll(keepalived.Render(config), []byte("unicast_ttl 255"),
		fmt.Appendf(nil, "unicast_ttl %d", ttl))
	dir := t.TempDir()
	put(t, filepath.Join(dir, "keepalived.conf"), string(text))
	var printed logBuffer
	cmd := exec.Command(need.Command(t, "keepalived"), "-n", "-l", "-P", "-D",
		"-f", filepath.Join(dir, "keepalived.conf"),
		"-p", filepath.Join(dir, "pid"), "-r", filepath.Join(dir, "vrrp"))
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := from.In(cmd.Start); err != nil {
		t.Fatal(err)
	}
	end = func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}
	for deadline := time.Now().Add(10 * time.Second); printed.count("Entering MASTER") < len(victim); {
		if time.Now().After(deadline) {
			end()
			t.Fatalf("the attacker does not advertise:\n%s", printed.text.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return end
}

// part is a host's part in the election of the API VIPs, as it renders it.
type part func(t *testing.T, p plan.Plan, links addr.Snapshot) keepalived.Config

func bootstraps(nodes ...addr.Candidate) part {
	return func(_ *testing.T, p plan.Plan, links addr.Snapshot) keepalived.Config {
		room := bootstrap.New(bootstrap.Options{Plan: p, Now: time.Now})
		desired, _ := room.Decide(bootstrap.Snapshot{At: time.Now(), Links: links, Nodes: nodes,
			Verdict: release.Verdict{Hold: true}})
		return desired.Config
	}
}

// aNode has just started: it accepts adverts of unknown routers.
func aNode(nodes ...addr.Candidate) part {
	return func(_ *testing.T, p plan.Plan, links addr.Snapshot) keepalived.Config {
		room := node.New(node.Options{
			Role: role.Master, Memory: nodestate.Memory{Open: true},
			Migration: migrate.New(p, migrate.Usual(), migrate.Memory{}), Now: time.Now,
		})
		seen := node.Answer[[]member.Node]{OK: true}
		for _, n := range nodes {
			seen.Is = append(seen.Is, member.Node{Candidate: n, ControlPlane: true})
		}
		desired, _ := room.Decide(node.Snapshot{At: time.Now(), Links: links,
			Nodes: seen, Served: true})
		config := desired.Config
		config.Instances = slices.DeleteFunc(config.Instances, func(i keepalived.Instance) bool {
			return !slices.Contains(p.VIPs.API, i.VIP)
		})
		return config
	}
}

// TestFarAdverts holds that a host behind a router takes no VIP over, whatever it writes into its
// adverts, and that a peer's adverts on the link are accepted.
func TestFarAdverts(t *testing.T) {
	self := addr.Candidate{Name: "master-0", InternalIPs: host}
	other := addr.Candidate{Name: "master-1", InternalIPs: peer}
	for _, tt := range []struct {
		name    string
		part    part
		profile string
		mode    spec.Mode
		// open: adverts of a far host that writes a peer's address into IPv6 packets are accepted.
		open bool
	}{
		{"bootstrap machine before the first node, lan", bootstraps(), vrrp.ProfileLan,
			spec.Unicast, false},
		{"bootstrap machine before the first node, compat", bootstraps(), vrrp.ProfileCompat,
			spec.Unicast, false},
		{"bootstrap machine, lan", bootstraps(other), vrrp.ProfileLan, spec.Unicast, false},
		{"bootstrap machine, compat", bootstraps(other), vrrp.ProfileCompat, spec.Unicast, true},
		{"bootstrap machine, compat, multicast", bootstraps(other), vrrp.ProfileCompat,
			spec.Multicast, false},
		{"node, lan", aNode(self, other), vrrp.ProfileLan, spec.Unicast, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLAN(t)
			behind := l.routed(t)
			p, links := demo(t, spec.BareMetal, tt.profile, tt.mode), l.links(t)
			config := tt.part(t, p, links)
			if len(config.Instances) != 2 {
				t.Fatalf("instances: %+v", config.Instances)
			}
			s := newRealKeepalived(t)
			s.proposeConfig(config)
			s.start(l.host)
			s.untilMaster(20 * time.Second)
			for from, sources := range map[string][]netip.Addr{"its own address": foreign,
				"a peer's": peer} {
				victim := config.Instances
				if tt.open && from == "a peer's" {
					victim = victim[:1]
				}
				end := attacks(t, behind, "eth0", victim, sources, 60)
				time.Sleep(1500 * time.Millisecond)
				end()
				if n := s.log.count("was=MASTER"); n != 0 {
					t.Fatalf("%s, by a router: the VIPs left %d times", from, n)
				}
			}
			end := attacks(t, l.neighbour, "ens3", config.Instances, peer, 255)
			defer end()
			s.until("backup of both", 10*time.Second, func(st supervised.Status) bool {
				return st.Instances[string(config.Instances[0].Name)].State == supervised.Backup &&
					st.Instances[string(config.Instances[1].Name)].State == supervised.Backup
			})
		})
	}
}
