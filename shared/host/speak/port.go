package speak

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/bfdport"
)

// bfd is what is known of the port of BFD.
type bfd struct {
	port    bfdport.Port
	taken   string // what else has used it since this program started; empty for nothing
	checked time.Time
	pid     int // of bfdd then
}

// between is the time between two checks of the port while bfdd runs.
const between = 10 * time.Second

// checkPort checks whether another process receives BFD's packets: in each round before bfdd
// runs, once after its start, and every 10 s while it runs. A finding counts until this program
// ends: to use BFD again would reset sessions.
func (s *speaker) checkPort(c frr.Config) error {
	pid := s.daemons.PID(frr.BFD)
	if pid != 0 && !s.daemons.Configured(frr.BFD) {
		return nil // its own sockets may not be there yet
	}
	if s.bfd.taken != "" || c.Timing.BFD == (bgp.BFD{}) ||
		pid != 0 && pid == s.bfd.pid && time.Since(s.bfd.checked) < between {
		return nil
	}
	s.bfd.checked, s.bfd.pid = time.Now(), pid
	var err error
	s.bfd.taken, err = s.bfd.port.Taken(bfdport.Of(c), pid)
	return err
}

// trouble is the error for the status if the port is taken, with the remedy.
func (b bfd) trouble() error {
	hold, _ := bgp.TimingOf(bgp.ProfileHold)
	return fmt.Errorf("BFD cannot be used: %s, and receives the packets of this program's "+
		"sessions too. They are without BFD, and routers find out after %v that the host is gone. "+
		"Have the other program leave the port to this one, and then start this one anew: it does "+
		"not use BFD before, as that would reset its sessions", b.taken, hold.Hold)
}

// without is the configuration without BFD, and with the shortest timers of BGP (ProfileHold).
func without(c frr.Config) frr.Config {
	c.Timing, _ = bgp.TimingOf(bgp.ProfileHold)
	return c
}
