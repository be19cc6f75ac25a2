package units

import "github.com/onprem-infra/onprem-infra/shared/asset"

// ResolvPrepender keeps a node first in its own resolv.conf, and kubeletUnit from starting before that is so for the first time of a boot. The names are
// those that operators know.
func ResolvPrepender(kubeletUnit string) ([]asset.Unit, error) {
	var list []asset.Unit
	for _, u := range []struct {
		name    string
		enabled bool
	}{{"on-prem-resolv-prepender.path", true}, {"on-prem-resolv-changed.service", true}, {"on-prem-resolv-prepender.service", false}} {
		one, err := verbatim(u.name, u.enabled)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	text, err := files.ReadFile("10-mco-on-prem-wait-resolv.conf")
	if err != nil {
		return nil, err
	}
	gate := asset.DropIn{Name: "10-mco-on-prem-wait-resolv.conf", Contents: text}
	return append(list, asset.Unit{Name: kubeletUnit, DropIns: []asset.DropIn{gate}, By: "units"}), nil
}
