package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// toBridge does what a network plugin does at its start: the machine's address moves from its interface to a bridge over it.
const toBridge = `
nic=$(ip -o -4 addr show to 192.0.2.10 | cut -d' ' -f2)
ip link add br-ex type bridge
ip link set br-ex address "$(cat "/sys/class/net/$nic/address")" up
ip link set "$nic" master br-ex
ip addr del 192.0.2.10/24 dev "$nic"
ip addr add 192.0.2.10/24 dev br-ex
ip route replace default via 192.0.2.1
echo "$nic"
`

// TestLongAddressMoves holds K-11: an interface under keepalived is put into a bridge, and the VIP follows the machine's address there.
func TestLongAddressMoves(t *testing.T) {
	needLong(t)
	c, _ := booted(t)
	nic := strings.TrimSpace(run(t, c, "sh", "-euc", toBridge))
	moved := time.Now()
	eventually(t, 5*time.Second, func() error {
		addresses := run(t, c, "ip", "-o", "addr", "show", "to", chain.APIVIP.String())
		if !strings.Contains(addresses, " br-ex ") || strings.Contains(addresses, " "+nic+" ") {
			return fmt.Errorf("the VIP is here: %q", addresses)
		}
		return nil
	})
	t.Logf("the VIP followed from %s to br-ex in %s", nic, time.Since(moved).Round(10*time.Millisecond))
	serves(t, c)
}
