package notice

import (
	"encoding/json"
	"net/netip"
)

// BootstrapGone is the annotation of a control plane node's own Node that reports that the
// bootstrap machine has left for good, if that machine has published nothing. Its value is Gone.
const (
	BootstrapGone = "onprem-infra.io/bootstrap"
	Gone          = "gone"
)

// BootstrapLeft reports whether the bootstrap machine has left for good, by its object: it lists
// no address any more. A missing object may not have been written yet.
func BootstrapLeft(data map[string]string) bool {
	addresses := []netip.Addr{{}}
	err := json.Unmarshal([]byte(data[addressesKey]), &addresses)
	return err == nil && len(addresses) == 0
}
