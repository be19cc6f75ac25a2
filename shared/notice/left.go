package notice

import (
	"encoding/json"
	"net/netip"
)

// BootstrapLeft says whether the object of the bootstrap machine says that it has left for good: it names nobody any more. That the object is gone
// altogether may mean that it has not been written yet.
func BootstrapLeft(data map[string]string) bool {
	addresses := []netip.Addr{{}}
	err := json.Unmarshal([]byte(data[addressesKey]), &addresses)
	return err == nil && len(addresses) == 0
}
