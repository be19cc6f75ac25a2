package redfish

import (
	"fmt"
	"slices"
	"strings"
)

// Outdated is the oldest firmware of an iDRAC with which metal3 inserts media, if the manager has
// an older one, else empty. Versions of iDRAC8 begin with 2, those of iDRAC9 with 3 to 7; iDRAC10
// began again at 1.
func (m Manager) Outdated() string {
	least, name := [4]int{6, 10, 30, 0}, "6.10.30.00 (iDRAC9)"
	if strings.HasPrefix(m.Firmware, "2.") {
		least, name = [4]int{2, 75, 75, 75}, "2.75.75.75 (iDRAC8)"
	}
	var v [4]int
	n, _ := fmt.Sscanf(m.Firmware, "%d.%d.%d.%d", &v[0], &v[1], &v[2], &v[3])
	if n < 2 || v[0] < 2 || slices.Compare(v[:], least[:]) >= 0 {
		return ""
	}
	return name
}
