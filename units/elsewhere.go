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

// openShifts are the units and files of OpenShift's hosts that our units name.
var openShifts = []string{
	"crio-wipe.service", "kubelet-dependencies.target", "ovs-configuration.service",
	"-/etc/mco/proxy.env",
}

// Fit removes from a unit what only OpenShift's hosts have, unless the hosts are of OpenShift.
func Fit(openShift bool) func(asset.Unit, error) (asset.Unit, error) {
	return func(u asset.Unit, err error) (asset.Unit, error) {
		if openShift || err != nil {
			return u, err
		}
		if u.Contents, err = withoutOpenShift(u.Contents); err != nil {
			return asset.Unit{}, fmt.Errorf("remove OpenShift's units from %s: %w", u.Name, err)
		}
		u.DropIns = slices.Clone(u.DropIns)
		for i, d := range u.DropIns {
			if u.DropIns[i].Contents, err = withoutOpenShift(d.Contents); err != nil {
				return asset.Unit{}, fmt.Errorf(
					"remove OpenShift's units from %s of %s: %w", d.Name, u.Name, err,
				)
			}
		}
		return u, nil
	}
}

// FitAll is Fit for several units.
func FitAll(openShift bool) func([]asset.Unit, error) ([]asset.Unit, error) {
	return func(list []asset.Unit, err error) ([]asset.Unit, error) {
		list = slices.Clone(list)
		for i, u := range list {
			if err == nil {
				list[i], err = Fit(openShift)(u, nil)
			}
		}
		return list, err
	}
}

// withoutOpenShift is a unit's text without the words in openShifts. A text without any is not
// changed.
func withoutOpenShift(text []byte) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var kept []*unit.UnitOption
	changed := false
	for _, o := range options {
		words := strings.Fields(o.Value)
		left := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
			return slices.Contains(openShifts, w)
		})
		if len(left) == len(words) {
			kept = append(kept, o)
			continue
		}
		if changed = true; len(left) > 0 {
			kept = append(kept, unit.NewUnitOption(o.Section, o.Name, strings.Join(left, " ")))
		}
	}
	if !changed {
		return text, nil
	}
	return io.ReadAll(unit.Serialize(kept))
}
