package nodeip

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Desired is what must be written.
type Desired struct {
	Choice addr.NodeAddresses
	Remote bool
	Kept   netip.Addr // chosen earlier in this boot; then nothing is written
	Files  []File     // in the order in which they are written; those without text are removed
}

// File is one file. It must not exist if its text is nil.
type File struct {
	Path string
	Text []byte
}

// Decide chooses the node's addresses and the files that record them. It returns an error if no
// address qualifies; the choice then holds the reason for each.
func (r *Room) Decide(seen Snapshot) (Desired, loop.Reasons, error) {
	choice, err := addr.ForNode(seen.Host, r.node.Wish)
	want := Desired{Choice: choice}
	if seen.Primary.IsValid() {
		want.Kept = seen.Primary
		return want,
			loop.Reasons{fmt.Sprintf("%s was chosen in this boot and is in %s", seen.Primary,
				Primary)}, nil
	}
	if err != nil {
		return want, nil, err
	}
	want.Remote = remote(r.node, choice)
	why := loop.Reasons{choice.Why}
	if seen.Corrupt {
		why = append(why, fmt.Sprintf("what was in %s is no address", Primary))
	}
	if want.Remote {
		why = append(why, "no VIP is in a network of this node: it is a remote worker")
	}
	want.Files = files(r.node, choice.Addresses, want.Remote)
	return want, why, nil
}

// remote reports whether the node cannot hold the VIPs: no VIP is in a network of the node. It is
// false if there are no VIPs, the user's own load balancer has them, or routers lead to them. On
// other platforms than bare metal a VIP may be routed to any node. A hint does not count as a VIP.
func remote(node Node, choice addr.NodeAddresses) bool {
	return len(node.VIPs) > 0 && !choice.VIPLocal && !node.UserManaged && !node.Routed &&
		strings.EqualFold(node.Platform, "baremetal")
}

// files record the addresses, of which there is at least one.
func files(node Node, addresses []netip.Addr, remote bool) []File {
	primary := addresses[0].String()
	var all []string
	byFamily := map[int]string{}
	for _, a := range addresses {
		all = append(all, a.String())
		byFamily[a.BitLen()] = a.String()
	}
	environment := fmt.Sprintf(`"KUBELET_NODE_IP=%s" "KUBELET_NODE_IPS=%s"`, primary,
		strings.Join(all, ","))
	var marker []byte
	if remote {
		environment += ` "CUSTOM_KUBELET_LABELS=` + node.RemoteLabel + `"`
		marker = []byte{}
	}
	return []File{
		{RemoteWorker, marker},
		{
			systemdUnits + "/" + node.KubeletUnit + ".d/20-nodenet.conf",
			[]byte("[Service]\nEnvironment=" + environment + "\n"),
		},
		{
			systemdUnits + "/crio.service.d/20-nodenet.conf",
			fmt.Appendf(nil, "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=%s\"\n", primary),
		},
		{IPv4, text(byFamily[32])},
		{IPv6, text(byFamily[128])},
		{Primary, []byte(primary)},
	}
}

// text is nil for a family that the node does not have.
func text(address string) []byte {
	if address == "" {
		return nil
	}
	return []byte(address)
}
