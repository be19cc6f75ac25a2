package units

import "github.com/onprem-infra/onprem-infra/shared/asset"

// ResolvPrepender keeps a node first in its own resolv.conf. The drop-in gateName delays
// kubeletUnit until that is done once in a boot. The names are those that operators know.
func ResolvPrepender(kubeletUnit, gateName string) ([]asset.Unit, error) {
	list, err := verbatimAll(
		named{"on-prem-resolv-prepender.path", true}, named{"on-prem-resolv-changed.service", true},
		named{"on-prem-resolv-prepender.service", false})
	if err != nil {
		return nil, err
	}
	text, err := files.ReadFile(gateName)
	if err != nil {
		return nil, err
	}
	gate := asset.DropIn{Name: gateName, Contents: text}
	return append(list, asset.Unit{
		Name: kubeletUnit, DropIns: []asset.DropIn{gate}, By: "units",
	}), nil
}
