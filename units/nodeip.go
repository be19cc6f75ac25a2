package units

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// NodeIP chooses the node's addresses once in a boot, before the unit kubelet. It is the same on
// all platforms.
func NodeIP(kubelet string) (asset.Unit, error) {
	return beforeKubelet("nodeip-configuration.service", kubelet)
}

// WaitForNodeIP delays kubelet until the node's addresses can be used, if the node's network was
// configured after they were chosen.
func WaitForNodeIP(kubelet string) (asset.Unit, error) {
	return beforeKubelet("wait-for-node-ip.service", kubelet)
}

// WaitForBrEx delays OpenShift's check of the host name until the OVN bridge is up. It does nothing
// without that bridge.
func WaitForBrEx() (asset.Unit, error) { return verbatim("wait-for-br-ex-up.service", true) }

// stockKubelet is the name of kubelet's unit in our unit files.
const stockKubelet = "kubelet.service"

// beforeKubelet is a unit that is ordered before kubelet's unit.
func beforeKubelet(name, kubelet string) (asset.Unit, error) {
	u, err := verbatim(name, true)
	if err != nil || kubelet == stockKubelet {
		return u, err
	}
	if u.Contents, err = rename(u.Contents, []string{"Before"}, stockKubelet, kubelet); err != nil {
		return asset.Unit{}, fmt.Errorf("set kubelet in %s: %w", name, err)
	}
	return u, nil
}

// rename replaces the unit old in the lists of the keys, each of which must have it.
func rename(text []byte, keys []string, old, other string) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		i := slices.IndexFunc(options, func(o *unit.UnitOption) bool {
			return o.Section == "Unit" && o.Name == key &&
				slices.Contains(strings.Fields(o.Value), old)
		})
		if i < 0 {
			return nil, fmt.Errorf("the unit has no %s=%s", key, old)
		}
		words := strings.Fields(options[i].Value)
		words[slices.Index(words, old)] = other
		options[i].Value = strings.Join(words, " ")
	}
	return io.ReadAll(unit.Serialize(options))
}

// VSphereUPI disables the operator's second choice of a node's addresses, which would run beside
// ours. The operator's templates for vSphere add it, and enable it if there are no VIPs. It is not
// masked, because kubelet may require it.
func VSphereUPI() (asset.Unit, error) {
	text, err := files.ReadFile("vsphere-upi.conf")
	dropIn := asset.DropIn{Name: "10-onprem-infra.conf", Contents: text}
	return asset.Unit{Name: "nodeip-configuration-vsphere-upi.service", DropIns: []asset.DropIn{dropIn}, By: "units"}, err
}
