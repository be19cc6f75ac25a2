package nodeip

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Desired is what shall be written down.
type Desired struct {
	Choice addr.NodeAddresses
	Remote bool
	Kept   netip.Addr // what was chosen earlier in this boot and stays; then nothing is written
	Files  []File     // in the order in which they are written; those without text are removed
}

// File is one file. A nil text says that there must be none.
type File struct {
	Path string
	Text []byte
}

// Decide chooses the node's addresses and says what is written about them. The error says that no
// address qualifies; the choice then still tells why not.
func (r *Room) Decide(seen Snapshot) (Desired, loop.Reasons, error) {
	choice, err := addr.ForNode(seen.Host, r.node.Wish)
	want := Desired{Choice: choice}
	if seen.Primary.IsValid() {
		want.Kept = seen.Primary
		return want, loop.Reasons{fmt.Sprintf("%s was chosen in this boot and is in %s", seen.Primary, Primary)}, nil
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

// remote says whether the node is one that cannot hold the VIPs: there are some, they are ours to
// hold, and none is in a network of the node. Elsewhere than on bare metal a VIP may be routed to
// the node whatever its networks are. A hint is no VIP: where an operator wants the node to be
// known does not bring a VIP nearer.
func remote(node Node, choice addr.NodeAddresses) bool {
	return len(node.VIPs) > 0 && !choice.VIPLocal && !node.UserManaged && strings.EqualFold(node.Platform, "baremetal")
}

// files are everything that is written about the addresses, of which there is at least one.
func files(node Node, addresses []netip.Addr, remote bool) []File {
	primary := addresses[0].String()
	var all []string
	byFamily := map[int]string{}
	for _, a := range addresses {
		all = append(all, a.String())
		byFamily[a.BitLen()] = a.String()
	}
	environment := fmt.Sprintf(`"KUBELET_NODE_IP=%s" "KUBELET_NODE_IPS=%s"`, primary, strings.Join(all, ","))
	var marker []byte
	if remote {
		environment += ` "CUSTOM_KUBELET_LABELS=` + node.RemoteLabel + `"`
		marker = []byte{}
	}
	return []File{
		{RemoteWorker, marker},
		{systemdUnits + "/" + node.KubeletUnit + ".d/20-nodenet.conf", []byte("[Service]\nEnvironment=" + environment + "\n")},
		{systemdUnits + "/crio.service.d/20-nodenet.conf", fmt.Appendf(nil, "[Service]\nEnvironment=\"CONTAINER_STREAM_ADDRESS=%s\"\n", primary)},
		{IPv4, text(byFamily[32])},
		{IPv6, text(byFamily[128])},
		{Primary, []byte(primary)},
	}
}

// text is nil for a family that the node has not.
func text(address string) []byte {
	if address == "" {
		return nil
	}
	return []byte(address)
}
