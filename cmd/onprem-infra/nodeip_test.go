//go:build remote

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/nodeip"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestNodeIPInput holds the sources of the node's values: the cluster description, and the command
// line, which overrides it (N-20, N-21).
func TestNodeIPInput(t *testing.T) {
	cluster := func(lines ...string) string {
		path := filepath.Join(t.TempDir(), "cluster.json")
		text := "apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  baseDomain: example.com\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	metal := cluster("  platform: baremetal", "  machineNetworks: [192.0.2.0/24, 2001:db8::/64]", "  apiVIPs: [192.0.2.5, 2001:db8::5]", "  ingressVIPs: [192.0.2.6, 2001:db8::6]")
	six := cluster("  platform: vsphere", "  machineNetworks: [2001:db8::/64, 192.0.2.0/24]", "  apiVIPs: [2001:db8::5, 192.0.2.5]", "  ingressVIPs: [2001:db8::6, 192.0.2.6]", "  loadBalancer: UserManaged", "  kubeletUnit: k3s-agent.service")
	of := func(vips string) []string { return strings.Fields(vips) }
	wish := func(vips []string, more ...func(*nodeip.Node)) nodeip.Node {
		n := nodeip.Node{KubeletUnit: "kubelet.service"}
		n.VIPs, _ = addressesOf("VIP", vips)
		n.OVN = true
		for _, m := range more {
			m(&n)
		}
		return n
	}
	platform := func(p string) func(*nodeip.Node) { return func(n *nodeip.Node) { n.Platform = p } }
	for _, tt := range []struct {
		name string
		args []string
		env  map[string]string
		want nodeip.Node
	}{
		{"nothing", nil, nil, wish(nil)},
		{"VIPs", of("192.0.2.5 2001:db8::5"), nil, wish(of("192.0.2.5 2001:db8::5"))},
		{"an IPv4-mapped VIP is an IPv4 one", of("::ffff:192.0.2.5"), nil, wish(of("192.0.2.5"))},
		{"all flags, short", of("-6 -n Calico -l -p vsphere 192.0.2.5"), nil, wish(of("192.0.2.5"), platform("vsphere"), func(n *nodeip.Node) { n.PreferIPv6, n.OVN, n.UserManaged = true, false, true })},
		{"all flags, long", of("--prefer-ipv6 --network-type ovnkubernetes --user-managed-lb --platform BareMetal"), nil, wish(nil, platform("BareMetal"), func(n *nodeip.Node) { n.PreferIPv6, n.UserManaged = true, true })},
		{"a cluster", of("-c " + metal), nil, wish(of("192.0.2.5 2001:db8::5 192.0.2.6 2001:db8::6"), platform("baremetal"))},
		{"an IPv6 cluster with a balancer and a kubelet of its own", of("-c " + six), nil, wish(of("2001:db8::5 192.0.2.5 2001:db8::6 192.0.2.6"), platform("vsphere"), func(n *nodeip.Node) {
			n.PreferIPv6, n.UserManaged, n.KubeletUnit = true, true, "k3s-agent.service"
		})},
		{"the command line wins", of("-c " + six + " -6=false -l=false -p baremetal 203.0.113.5"), nil, wish(of("203.0.113.5"), platform("baremetal"), func(n *nodeip.Node) { n.KubeletUnit = "k3s-agent.service" })},
		{"N-18 a hint", nil, map[string]string{"NODEIP_HINT": "198.51.100.0"}, wish(nil, func(n *nodeip.Node) { n.Hints, _ = addressesOf("", of("198.51.100.0")) })},
		{"a hint of kubelet's", nil, map[string]string{"KUBELET_NODEIP_HINT": "198.51.100.0, 2001:db8:9::"}, wish(nil, func(n *nodeip.Node) { n.Hints, _ = addressesOf("", of("198.51.100.0 2001:db8:9::")) })},
		{"the first hint wins", nil, map[string]string{"NODEIP_HINT": "198.51.100.0", "KUBELET_NODEIP_HINT": "192.0.2.0"}, wish(nil, func(n *nodeip.Node) { n.Hints, _ = addressesOf("", of("198.51.100.0")) })},
		{"the lowest", nil, map[string]string{"NODEIP_PREFER": "lowest"}, wish(nil, func(n *nodeip.Node) { n.Lowest = true })},
		{"the flag wins over the lowest", of("--prefer primary"), map[string]string{"NODEIP_PREFER": "lowest"}, wish(nil)},
		{"an empty hint is none", nil, map[string]string{"NODEIP_HINT": " ", "KUBELET_NODEIP_HINT": ""}, wish(nil)},
		{"the flag wins", of("--hint 203.0.113.0"), map[string]string{"NODEIP_HINT": "198.51.100.0"}, wish(nil, func(n *nodeip.Node) { n.Hints, _ = addressesOf("", of("203.0.113.0")) })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"NODEIP_HINT", "KUBELET_NODEIP_HINT", "NODEIP_PREFER"} {
				t.Setenv(name, tt.env[name])
			}
			cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
			flags := nodeIPFlagsOf(cmd)
			tt.want.RemoteLabel = "node.openshift.io/remote-worker"
			var got nodeip.Node
			cmd.RunE = func(cmd *cobra.Command, vips []string) (err error) {
				got, err = flags.node(cmd, streams{err: io.Discard}, vips)
				return err
			}
			cmd.SetArgs(append([]string{}, tt.args...))
			if err := cmd.Execute(); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v (%v)\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// verb runs a command line in a network namespace. Its own log is left out.
func verb(t *testing.T, ns netns.Namespace, args ...string) (code int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := ns.In(func() error {
		code = run(t.Context(), args, streams{out: &stdout, err: &stderr})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), stderr.String()
}

// TestNodeIPVerbs runs the verb on real interfaces and holds its output and its exit code.
func TestNodeIPVerbs(t *testing.T) {
	t.Setenv("NODEIP_HINT", "")
	t.Setenv("KUBELET_NODEIP_HINT", "")
	t.Setenv("NODEIP_PREFER", "")
	ns := netns.New(t)
	ns.IP(t, `link set lo up
link add ens3 type veth peer name far
link add bond0.354 type veth peer name other
link set ens3 up
link set far up
link set bond0.354 up
link set other up
addr add 192.0.2.10/24 dev ens3
addr add 192.0.2.5/32 dev ens3 label vip
addr add 198.51.100.10/24 dev bond0.354
addr add 2001:db8::10/64 dev ens3 nodad
route add default via 192.0.2.1 dev ens3`)
	for _, tt := range []struct {
		args   string
		code   int
		out    []string // parts of the standard output
		errors string
	}{
		{"show", 0, []string{"192.0.2.10\n"}, ""},
		{"show -6", 0, []string{"2001:db8::10\n"}, ""},
		{"show 198.51.100.5", 0, []string{"198.51.100.10\n"}, ""},
		{"show --hint 198.51.100.0 192.0.2.5", 0, []string{"198.51.100.10\n"}, ""},
		{"show --explain 192.0.2.5", 0, []string{"192.0.2.10\nVERDICT ", "\nchosen       ens3       192.0.2.10/24 ", "the VIP 192.0.2.5 is in its network\n",
			"\ndropped      ens3       192.0.2.5/32  ", "it is a VIP, which moves between nodes\n", "\npassed over  bond0.354  198.51.100.10/24 ", "no VIP is in its network\n"}, ""},
		{"show 192.0.2", 2, nil, `VIP "192.0.2" is no address`},
		{"show --hint x", 2, nil, `--hint "x" is no address`},
		{"show --platform foo", 2, nil, `--platform "foo" is not one of: baremetal, openstack, ovirt, vsphere, nutanix, none`},
		{"show --prefer highest", 2, nil, `--prefer "highest" is not known: write primary or lowest`},
		{"show fe80::1%ens3", 2, nil, "is no address"},
		{"show -c /nonexistent", 2, nil, "there is no file /nonexistent"},
		{"nonsense", 2, nil, `node-ip has no "nonsense"; there are: forward, set, show, wait`},
	} {
		code, out, errors := verb(t, ns, append([]string{"node-ip"}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(errors, tt.errors) || (tt.out == nil) != (out == "") {
			t.Errorf("%s: exit code %d, want %d; %q, %q", tt.args, code, tt.code, out, errors)
		}
		for _, part := range tt.out {
			if !strings.Contains(out, part) {
				t.Errorf("%s: %q lacks %q", tt.args, out, part)
			}
		}
	}
	err := ns.In(func() error { // a script would go on without an address
		std := streams{out: fullDisk{}, err: io.Discard}
		if code := run(t.Context(), []string{"node-ip", "show"}, std); code != exitHost {
			t.Errorf("nothing could be printed: exit code %d", code)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	empty := netns.New(t)
	if code, out, errors := verb(t, empty, "node-ip", "show", "--explain", "192.0.2.5"); code != 1 || !strings.HasPrefix(out, "VERDICT") || !strings.Contains(errors, "no address that a node can be known by") {
		t.Errorf("on a host without addresses: exit code %d, %q, %q", code, out, errors)
	}
}

// TestNodeIPTentative holds N-05 on a real interface, where the kernel itself looks for a
// duplicate: the address is chosen while it is tentative, and taken when it can be bound.
func TestNodeIPTentative(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, `link add ens3 type veth peer name far
link set ens3 up
link set far up`)
	tentative := []byte("3") // so many seconds and more
	if err := ns.In(func() error { return os.WriteFile("/proc/sys/net/ipv6/conf/ens3/dad_transmits", tentative, 0o644) }); err != nil {
		t.Fatal(err)
	}
	ns.IP(t, "addr add 2001:db8::10/64 dev ens3")
	start := time.Now()
	code, out, errors := verb(t, ns, "node-ip", "show", "2001:db8::5")
	if code == 0 || !strings.Contains(errors, "2001:db8::10 is chosen and cannot be used yet") {
		t.Fatalf("at once: exit code %d, %q, %q after %v: is there no duplicate address detection?", code, out, errors, time.Since(start))
	}
	if code, out, errors := verb(t, ns, "node-ip", "show", "--retry-on-failure", "2001:db8::5"); code != 0 || out != "2001:db8::10\n" {
		t.Errorf("with patience: exit code %d, %q, %q", code, out, errors)
	}
}

// TestNodeHost holds how files are written: whole, for everybody to read, directories made, no
// newline added, and nothing written that is right.
func TestNodeHost(t *testing.T) {
	host := nodeHost{root: t.TempDir()}
	const path = "/run/nodeip-configuration/primary-ip"
	if _, there, err := host.Read(path); there || err != nil {
		t.Fatalf("before: %v, %v", there, err)
	}
	if err := host.Remove(path); err != nil {
		t.Errorf("remove what is not there: %v", err)
	}
	if err := host.Write(path, []byte("192.0.2.10")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(host.root + path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	if dir, err := os.Stat(filepath.Dir(host.root + path)); err != nil || dir.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", dir, err)
	}
	if text, there, err := host.Read(path); string(text) != "192.0.2.10" || !there || err != nil {
		t.Errorf("%q, %v, %v", text, there, err)
	}
	if err := host.Remove(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(host.root + path); !os.IsNotExist(err) {
		t.Errorf("removed: %v", err)
	}
	if there, err := host.Switch("/proc/sys/net/ipv6/conf/bond0.354/forwarding", "1"); there || err != nil {
		t.Errorf("a setting that is not there: %v, %v", there, err)
	}
	setting := filepath.Join(host.root, "forwarding")
	if err := os.WriteFile(setting, []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	if there, err := host.Switch("/forwarding", "1"); !there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
	if text, err := os.ReadFile(setting); string(text) != "1" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
