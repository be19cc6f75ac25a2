package machine

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine/disk"
)

// GivenHosts are hosts that were not read from a file.
func GivenHosts(hosts []Host) Hosts {
	h := Hosts{At: document.Field("hosts"), Given: len(hosts) > 0, Provisioned: Provisioned(hosts)}
	for i, v := range hosts {
		path := fmt.Sprintf("hosts[%d]", i)
		text := func(field, value string) document.Scalar[string] {
			return document.Scalar[string]{Value: value, At: document.Field(path + "." + field),
				Given: value != "", OK: value != ""}
		}
		m := host{at: document.Field(path), name: text("name", v.Name),
			role: text("role", v.Role), card: text("bootMAC", v.BootMACAddress),
			bootMode: text("bootMode", v.BootMode),
			profile:  text("hardwareProfile", v.HardwareProfile),
			disk:     disk.Given(v.RootDisk, path+".rootDisk"),
			bmc: controller{at: document.Field(path + ".bmc"), given: true,
				credentials: text("bmc.credentials.file", v.BMC.Credentials),
				verify:      text("bmc.verify", v.BMC.Verify)},
		}
		address := v.BMC.Address
		m.bmc.text = text("bmc.address", "")
		if address.Host != "" {
			m.bmc.text = text("bmc.address", address.String())
		}
		h.all = append(h.all, m)
	}
	return h
}
