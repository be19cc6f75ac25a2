package nodeip

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

const (
	kubelet = "/etc/systemd/system/kubelet.service.d/20-nodenet.conf"
	crio    = "/etc/systemd/system/crio.service.d/20-nodenet.conf"
)

func metal(vips ...string) Node {
	return Node{Wish: addr.Wish{VIPs: addresses(vips...)}, Platform: "baremetal", KubeletUnit: "kubelet.service", RemoteLabel: "node.openshift.io/remote-worker"}
}

// TestSetWrites holds what is written, to the byte, for one family and for two, in both orders
// (N-21, N-25).
func TestSetWrites(t *testing.T) {
	both := link(2, "ens3", "192.0.2.10/24", "2001:db8::10/64")
	first6 := metal("192.0.2.5")
	first6.PreferIPv6 = true
	other := metal("192.0.2.5")
	other.KubeletUnit = "k3s-agent.service"
	for _, tt := range []struct {
		name string
		node Node
		host addr.Link
		want map[string]string
	}{
		{"one family", metal("192.0.2.5"), link(2, "ens3", "192.0.2.10/24"), map[string]string{
			kubelet: "[Service]\nEnvironment=\"KUBELET_NODE_IP=192.0.2.10\" \"KUBELET_NODE_IPS=192.0.2.10\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=192.0.2.10\"\n",
			Primary: "192.0.2.10", IPv4: "192.0.2.10",
		}},
		{"IPv6 alone", metal("2001:db8::5"), link(2, "ens3", "2001:db8::10/64"), map[string]string{
			kubelet: "[Service]\nEnvironment=\"KUBELET_NODE_IP=2001:db8::10\" \"KUBELET_NODE_IPS=2001:db8::10\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=2001:db8::10\"\n",
			Primary: "2001:db8::10", IPv6: "2001:db8::10",
		}},
		{"two families", metal("192.0.2.5"), both, map[string]string{
			kubelet: "[Service]\nEnvironment=\"KUBELET_NODE_IP=192.0.2.10\" \"KUBELET_NODE_IPS=192.0.2.10,2001:db8::10\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=192.0.2.10\"\n",
			Primary: "192.0.2.10", IPv4: "192.0.2.10", IPv6: "2001:db8::10",
		}},
		{"IPv6 first", first6, both, map[string]string{
			kubelet: "[Service]\nEnvironment=\"KUBELET_NODE_IP=2001:db8::10\" \"KUBELET_NODE_IPS=2001:db8::10,192.0.2.10\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=2001:db8::10\"\n",
			Primary: "2001:db8::10", IPv4: "192.0.2.10", IPv6: "2001:db8::10",
		}},
		{"a remote worker", metal("203.0.113.5"), link(2, "ens3", "192.0.2.10/24"), map[string]string{
			kubelet: "[Service]\nEnvironment=\"KUBELET_NODE_IP=192.0.2.10\" \"KUBELET_NODE_IPS=192.0.2.10\" \"CUSTOM_KUBELET_LABELS=node.openshift.io/remote-worker\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=192.0.2.10\"\n",
			Primary: "192.0.2.10", IPv4: "192.0.2.10", RemoteWorker: "",
		}},
		{"another kubelet", other, link(2, "ens3", "192.0.2.10/24"), map[string]string{
			"/etc/systemd/system/k3s-agent.service.d/20-nodenet.conf": "[Service]\nEnvironment=\"KUBELET_NODE_IP=192.0.2.10\" \"KUBELET_NODE_IPS=192.0.2.10\"\n",
			crio:    "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=192.0.2.10\"\n",
			Primary: "192.0.2.10", IPv4: "192.0.2.10",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := newMemory(routed(tt.host))
			logger, _ := log(t)
			if _, err := New(tt.node, host, false, logger).Set(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(host.files, tt.want) {
				t.Errorf("got %q\nwant %q", host.files, tt.want)
			}
			if last := host.order[len(host.order)-1]; last != "+"+Primary {
				t.Errorf("%s is written last: the file that marks all as written must be", last)
			}
		})
	}
}

// TestSetOnce holds N-06: in one boot the address stays, whatever changes on the host; after a
// reboot, and when what is written down is no address, it is chosen anew, and nothing of the old
// choice stays.
func TestSetOnce(t *testing.T) {
	host := newMemory(routed(link(2, "ens3", "192.0.2.10/24", "2001:db8::10/64")))
	logger, lines := log(t)
	set := func() Desired {
		t.Helper()
		host.order = nil
		want, err := New(metal("192.0.2.5"), host, false, logger).Set(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return want
	}
	set()
	host.links = routed(link(7, "br-ex", "192.0.2.99/24"))
	if want := set(); len(host.order) > 0 || host.files[Primary] != "192.0.2.10" || want.Kept != netip.MustParseAddr("192.0.2.10") {
		t.Fatalf("a second run wrote %v: %q", host.order, host.files)
	}
	if strings.Contains(lines.String(), "192.0.2.99") {
		t.Errorf("the log has an address that was not chosen:\n%s", lines.String())
	}
	for _, corrupt := range []string{"", "192.0.2.10\n", "half of an addre", "192.0.2.300"} {
		host.files[Primary] = corrupt
		host.files[RemoteWorker] = ""
		host.links = routed(link(2, "ens3", "192.0.2.77/24"))
		if want := set(); want.Kept.IsValid() {
			t.Errorf("%q is kept", corrupt)
		}
		if _, there := host.files[IPv6]; host.files[Primary] != "192.0.2.77" || host.files[IPv4] != "192.0.2.77" || there {
			t.Errorf("after %q: %q", corrupt, host.files)
		}
		if _, there := host.files[RemoteWorker]; there {
			t.Errorf("after %q the marker of a remote worker is there still", corrupt)
		}
	}
	maps.DeleteFunc(host.files, func(path, _ string) bool { return strings.HasPrefix(path, "/run/") }) // a reboot
	host.links = routed(link(2, "ens3", "192.0.2.88/24"))
	set()
	if host.files[Primary] != "192.0.2.88" || !strings.Contains(host.files[kubelet], "KUBELET_NODE_IP=192.0.2.88\"") {
		t.Errorf("after a reboot: %q", host.files)
	}
}

// TestSetHalfWay holds that a write which fails leaves no file that marks all as written, and that the
// next run writes all.
func TestSetHalfWay(t *testing.T) {
	for _, full := range []string{"kubelet.service.d", "crio.service.d", "/ipv4", "/primary-ip"} {
		host := newMemory(routed(link(2, "ens3", "192.0.2.10/24")))
		logger, _ := log(t)
		host.full = full
		if _, err := New(metal("192.0.2.5"), host, false, logger).Set(t.Context()); err == nil {
			t.Fatalf("%s could not be written and no error was returned", full)
		}
		if _, there := host.files[Primary]; there {
			t.Errorf("%s could not be written and %s is there", full, Primary)
		}
		host.full = ""
		if _, err := New(metal("192.0.2.5"), host, false, logger).Set(t.Context()); err != nil || len(host.files) != 4 {
			t.Errorf("after %s could not be written: %q, %v", full, host.files, err)
		}
	}
}

// TestRemote is N-20's truth table: behaviour 7.4 step 1, with a hint that is no VIP.
func TestRemote(t *testing.T) {
	host := routed(link(2, "ens3", "192.0.2.10/24"), link(3, "ens4", "198.51.100.10/24"))
	for _, tt := range []struct {
		name  string
		vips  []string
		hint  string
		other func(*Node)
		want  bool
	}{
		{"none is local", []string{"203.0.113.5", "203.0.113.7"}, "", nil, true},
		{"no VIPs", nil, "", nil, false},
		{"the API VIP is local", []string{"192.0.2.5", "203.0.113.7"}, "", nil, false},
		{"the ingress VIP is local, on another interface", []string{"203.0.113.5", "198.51.100.7"}, "", nil, false},
		{"the load balancer is the user's", []string{"203.0.113.5"}, "", func(n *Node) { n.UserManaged = true }, false},
		{"routers lead to the VIPs", []string{"203.0.113.5"}, "", func(n *Node) { n.Routed = true }, false},
		{"another platform", []string{"203.0.113.5"}, "", func(n *Node) { n.Platform = "vsphere" }, false},
		{"no platform", []string{"203.0.113.5"}, "", func(n *Node) { n.Platform = "" }, false},
		{"the platform as the API spells it", []string{"203.0.113.5"}, "", func(n *Node) { n.Platform = "BareMetal" }, true},
		{"a hint is local and no VIP", []string{"203.0.113.5"}, "198.51.100.0", nil, true},
		{"a hint elsewhere than the VIP, both local", []string{"192.0.2.5"}, "198.51.100.0", nil, false},
		{"a hint and no VIPs", nil, "198.51.100.0", nil, false},
		{"the VIP is on the node", []string{"192.0.2.5"}, "", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := metal(tt.vips...)
			if tt.hint != "" {
				node.Hints = addresses(tt.hint)
			}
			if tt.other != nil {
				tt.other(&node)
			}
			memory := newMemory(host)
			logger, _ := log(t)
			want, err := New(node, memory, false, logger).Set(t.Context())
			if err != nil || want.Remote != tt.want {
				t.Errorf("remote %v (%v), want %v", want.Remote, err, tt.want)
			}
			_, marked := memory.files[RemoteWorker]
			labelled := strings.Contains(memory.files[kubelet], "CUSTOM_KUBELET_LABELS=node.openshift.io/remote-worker")
			if marked != tt.want || labelled != tt.want {
				t.Errorf("marker %v, label %v, want %v", marked, labelled, tt.want)
			}
		})
	}
}

// TestDecideReasons holds the reasons with the decision, and that equal situations give equal ones.
func TestDecideReasons(t *testing.T) {
	logger, _ := log(t)
	room := New(metal("203.0.113.5"), newMemory(addr.Snapshot{}), false, logger)
	seen := Snapshot{Host: routed(link(2, "ens3", "192.0.2.10/24"))}
	want := []string{"192.0.2.10/24 of ens3: no network has a hint or a VIP, and the default route of ens3 has the metric 100", "no VIP is in a network of this node: it is a remote worker"}
	for range 2 {
		if _, why, err := room.Decide(seen); err != nil || !slices.Equal(why, want) {
			t.Errorf("%q, %v", why, err)
		}
	}
	seen.Primary = netip.MustParseAddr("192.0.2.10")
	if desired, why, err := room.Decide(seen); err != nil || len(desired.Files) > 0 || !slices.Equal(why, []string{"192.0.2.10 was chosen in this boot and is in " + Primary}) {
		t.Errorf("%+v, %q, %v", desired, why, err)
	}
}
