package corefile

import (
	"bytes"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/comment"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// RenderHosts writes HostsPath: a line for each address of each host, in the order given, with the
// names that a node has today in OpenShift: "ADDRESS SHORT SHORT.ZONE". A question for the address
// is answered with both, in this order. The zone of an address is left out: no answer can hold it.
// Equal values give equal bytes.
func RenderHosts(header string, zone record.Name, hosts []Host) []byte {
	var out bytes.Buffer
	if header != "" {
		fmt.Fprintf(&out, "# %s\n", comment.Text(header))
	}
	for _, h := range hosts {
		for _, a := range h.Addresses {
			fmt.Fprintf(&out, "%s %s %s.%s\n", a.WithZone(""), h.Short, h.Short, zone)
		}
	}
	return out.Bytes()
}
