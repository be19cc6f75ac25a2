package e2e

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/test/chain"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// What announces VIPs: the cluster's systems, the leaf's, and the password between them.
const (
	hostsASN bgp.ASN = 64512
	leafASN  bgp.ASN = 65101
	password         = "leaf-password"
)

// VIPs that are in no network of hosts.
var (
	routedAPI     = netip.MustParseAddr("198.51.100.5")
	routedIngress = netip.MustParseAddr("198.51.100.6")
)

// routedCluster is one whose hosts announce its VIPs to the neighbour, and hold them by no VRRP.
func routedCluster() []byte { return announcedCluster("bgp", routedAPI, routedIngress) }

// announcedCluster is one whose hosts announce its VIPs to the neighbour.
func announcedCluster(management string, api, ingress netip.Addr) []byte {
	return fmt.Appendf(nil, `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: %s}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [%s]
  ingressVIPs: [%s]
  vipManagement: %s
  bgp:
    asn: %d
    timing: lan
    racks:
    - network: 192.0.2.0/24
      peers: [{address: %s, asn: %d}]
`, chain.Cluster, api, ingress, management, hostsASN, chain.NeighbourIP, leafASN)
}

// passwordsFlag is the flag with a file of routers' passwords.
func passwordsFlag(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "passwords")
	must(t, os.WriteFile(path, fmt.Appendf(nil, "%s %s\n", chain.NeighbourIP, password), 0o600))
	return "--bgp-passwords=" + path
}

// routerImage is FRR as hosts have it in a container.
func routerImage(t *testing.T) vm.Image {
	t.Helper()
	image, err := vm.FRRImage(t.Context(), chain.FRRImage, daemons.Programs)
	must(t, err)
	return image
}

// leaf is the neighbour as the hosts' router: a real FRR, to which they announce.
type leaf struct {
	*daemons.Daemons
}

// newLeaf has the neighbour take sessions from its network.
func newLeaf(t *testing.T, c *chain.Chain) leaf {
	t.Helper()
	l := leaf{daemons.Start(t, c.Neighbour, true)}
	l.Apply(frr.BFD, commands("bfd", "profile lan", "detect-multiplier 3", "receive-interval 100", "transmit-interval 100", "exit", "exit")...)
	l.Apply(frr.BGP, commands(fmt.Sprintf("router bgp %d", leafASN), "bgp router-id "+chain.NeighbourIP.String(), "no bgp ebgp-requires-policy",
		"neighbor hosts peer-group", fmt.Sprintf("neighbor hosts remote-as %d", hostsASN), "neighbor hosts bfd", "neighbor hosts bfd profile lan",
		"neighbor hosts password "+password, "bgp listen range 192.0.2.0/24 peer-group hosts", "exit")...)
	return l
}

// commands are lines of FRR's configuration.
func commands(lines ...string) []frr.Command {
	all := []frr.Command{{Text: "configure terminal", Section: true}}
	for _, l := range lines {
		all = append(all, frr.Command{Text: l, Section: strings.HasPrefix(l, "router bgp")})
	}
	return append(all, frr.Command{Text: "end"})
}

// paths are how many systems away each host is that announces a VIP, by the host's address.
func (l leaf) paths(t *testing.T, vip netip.Addr) map[string]int {
	t.Helper()
	var answer string
	must(t, l.Try(frr.BGP, func(d *host.Daemon) (err error) {
		answer, err = d.Show(t.Context(), fmt.Sprintf("show bgp ipv4 unicast %s/32 json", vip))
		return err
	}))
	var table struct {
		Paths []struct {
			ASPath   struct{ Length int }
			Nexthops []struct{ IP string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &table); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	all := map[string]int{}
	for _, p := range table.Paths {
		all[p.Nexthops[0].IP] = p.ASPath.Length
	}
	return all
}
