package router

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// known is a cluster of seven masters, more than there are ranks, that know each other.
func known() *world.World {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := schedule.Of(timing)
	c.Masters = 7
	w := world.New(c, schedule.Schedule{})
	for _, h := range w.Hosts {
		h.On = true
		for i := range h.Knows {
			h.Knows[i] = true
		}
	}
	return w
}

// TestAdvertise holds that an advert goes to each configured peer that can be reached, once.
func TestAdvertise(t *testing.T) {
	w := known()
	h := w.Hosts[0]
	h.Knows[1] = false
	w.Hosts[2].Links.InCut = 1
	w.Hosts[3].On = false
	Advertise(w, h, 100)
	sent := map[int]int{}
	for !w.Queue.Empty() {
		if e := w.Queue.Pop(); e.Kind == world.EvAdvert {
			sent[int(e.Host)]++
		}
	}
	if len(sent) != 1 || sent[4] != 1 {
		t.Errorf("adverts by host: %v, want one to host 4: 1 is unknown, 2 and 3 cannot be reached, "+
			"and 5 and 6 have no rank", sent)
	}
}

// TestAddVIP_Outdated holds that an address on its way to the interface does not arrive after the
// router has stepped down.
func TestAddVIP_Outdated(t *testing.T) {
	w := known()
	h := w.Hosts[0]
	h.Router.Runs = true
	takeOver(w, h)
	adding := h.Router.Adding
	stepDown(w, h, world.Backup)
	if AddVIP(w, h, adding); h.Router.HasVIP {
		t.Error("a backup has the VIP")
	}
}
