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

// NodeIP chooses the node's addresses before kubelet, which is the unit of that name, and once in a boot. There is one for all platforms.
func NodeIP(kubelet string) (asset.Unit, error) {
	return beforeKubelet("nodeip-configuration.service", kubelet)
}

// WaitForNodeIP holds kubelet back until the node's addresses can be used, on a node whose network was configured after they were chosen.
func WaitForNodeIP(kubelet string) (asset.Unit, error) {
	return beforeKubelet("wait-for-node-ip.service", kubelet)
}

// WaitForBrEx holds OpenShift's look at the host's name back until the OVN bridge is up. It does nothing where nothing makes that bridge.
func WaitForBrEx() (asset.Unit, error) { return verbatim("wait-for-br-ex-up.service", true) }

// stockKubelet is what kubelet's unit is called in our unit files.
const stockKubelet = "kubelet.service"

// beforeKubelet is a unit that stands before kubelet, whatever kubelet's unit is called.
func beforeKubelet(name, kubelet string) (asset.Unit, error) {
	u, err := verbatim(name, true)
	if err != nil || kubelet == stockKubelet {
		return u, err
	}
	options, err := unit.DeserializeOptions(bytes.NewReader(u.Contents))
	if err != nil {
		return asset.Unit{}, fmt.Errorf("set kubelet in %s: %w", name, err)
	}
	for _, o := range options {
		if words := strings.Fields(o.Value); o.Section == "Unit" && o.Name == "Before" && slices.Contains(words, stockKubelet) {
			words[slices.Index(words, stockKubelet)] = kubelet
			o.Value = strings.Join(words, " ")
			u.Contents, err = io.ReadAll(unit.Serialize(options))
			return u, err
		}
	}
	return asset.Unit{}, fmt.Errorf("set kubelet in %s: the unit has no Before=%s", name, stockKubelet)
}
