package notice

import (
	"encoding/json"
	"net/netip"
)

// BootstrapGone is the annotation of a control plane node's own Node that says that the bootstrap
// machine has left for good, where that machine itself has said nothing. Its value is Gone.
const (
	BootstrapGone = "onprem-infra.io/bootstrap"
	Gone          = "gone"
)

// BootstrapLeft says whether the object of the bootstrap machine says that it has left for good: it
// names nobody any more. That the object is gone altogether may mean that it has not been written
// yet.
func BootstrapLeft(data map[string]string) bool {
	addresses := []netip.Addr{{}}
	err := json.Unmarshal([]byte(data[addressesKey]), &addresses)
	return err == nil && len(addresses) == 0
}
