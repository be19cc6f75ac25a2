package bound

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// serverStart is the time in which a DHCP server answers once its host has the address: it is
// started by the kernel's report of the address, and reads its configuration.
const serverStart = vrrp.Reaction + 200*time.Millisecond

// provisioning are the moves of the address from which bare hosts are installed, until a DHCP
// server answers at its new holder. Ironic runs on one node at a time, so that a move begins when
// it answers elsewhere: how long Kubernetes takes for that is not ours.
func (e election) provisioning() []Bound {
	check := e.Checks[vrrp.CheckIronic]
	passes := time.Duration(check.Rise)*check.Interval + check.Timeout
	starts := fmt.Sprintf("then the DHCP server of the new holder answers within %d ms",
		Milliseconds(serverStart))
	loss, move := Milliseconds(e.down+serverStart), Milliseconds(passes+e.down+serverStart)
	return []Bound{
		{"provisioning-power-loss", "the holder of the provisioning address vanishes, and Ironic " +
			"answers on another node", loss, loss,
			fmt.Sprintf("a backup waits for 3 adverts of %d ms and its skew: %d ms at priority "+
				"%d; %s", e.Advert.Milliseconds(), Milliseconds(e.down), e.worst, starts)},
		{"provisioning-move", "Ironic, and with it the provisioning address, moves to another node",
			move, move,
			fmt.Sprintf("from the instant at which it answers there, %d probes have to pass: %d "+
				"ms at most; the node waits for adverts: %d ms; %s", check.Rise,
				Milliseconds(passes), Milliseconds(e.down), starts)},
	}
}
