package address

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// held is a driver whose room holds the address.
func held(t *testing.T, own netip.Prefix) *driver {
	d := drive(t, planOf(own))
	for range 5 {
		d.round()
	}
	if !d.report.Ready || !d.report.On {
		t.Fatalf("the address is not held: %+v\n%s", d.report, d.log.String())
	}
	return d
}

func TestRoom_OnAndOff(t *testing.T) {
	d := drive(t, planOf(four))
	d.orders = orders.Orders{}
	d.expect("", false, true, "off")
	d.orders = on
	d.expect("enable ens4", false, false, "enables ens4")
	d.expect("ask ens4, add ens4 172.22.0.2/24, announce ens4", false, false, "asks whether")
	d.expect("", true, true, "holds 172.22.0.2/24 on ens4 ("+cardMAC+")")
	d.expect("", true, true, "holds")
	if d.report.Generation != on.Generation || !d.report.Follows(on, d.now) {
		t.Errorf("%+v does not follow the orders", d.report)
	}
	d.orders = off
	d.expect("delete 3 172.22.0.2/24", true, false, "removes")
	d.expect("", false, true, "off")
	if !d.report.Follows(off, d.now) || d.claim != (Claim{}) {
		t.Errorf("%+v does not follow the orders, or %+v is left", d.report, d.claim)
	}
	if d.unit.ready != 1 {
		t.Errorf("the unit was ready %d times", d.unit.ready)
	}
	for _, line := range []string{"enabled the link", "added the address", "removed the address"} {
		if n := strings.Count(d.log.String(), `msg="`+line+`"`); n != 1 {
			t.Errorf("%d lines of %q in the log:\n%s", n, line, d.log.String())
		}
	}
}

// After a reboot the phase machine asks the network which machine has the cluster's address, and the card
// is down. Without orders, as before that has begun, nothing changes.
func TestRoom_EnabledWhileOff(t *testing.T) {
	d := drive(t, planOf(four))
	d.orders = orders.Orders{}
	d.expect("", false, true, "off")
	d.orders = off
	d.expect("enable ens4", false, true, "off")
	d.expect("", false, true, "off")
	if !d.report.Follows(off, d.now) {
		t.Errorf("%+v", d.report)
	}
	snapshot, err := d.Links()
	if on, err2 := Link(d.p, d.cards, snapshot); err != nil || err2 != nil || on != "ens4" {
		t.Errorf("the link is %q, %v, %v", on, err, err2)
	}
	d.cards = d.cards[:1]
	if on, err := Link(d.p, d.cards, snapshot); err == nil {
		t.Errorf("a link %q without the card", on)
	}
}

// The probe is asked again, as the other host may have been switched off.
func TestRoom_Taken(t *testing.T) {
	d := drive(t, planOf(four))
	d.card("ens4").Enabled, d.others = true, []string{otherMAC}
	d.expect("ask ens4", false, false, "asks")
	asked := 1
	for range 9 {
		asked += len(d.round())
		if r := d.report; r.On || r.Ready || !strings.Contains(r.Why, otherMAC) {
			t.Fatalf("%+v, want the other host's MAC", r)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times in 10 s, want 2", asked)
	}
	var page metrics.Page
	d.room.Metrics(&page)
	if text := string(page.Text()); !strings.Contains(text, "onprem_provisioning_address 0") ||
		!strings.Contains(text, "onprem_provisioning_address_taken 1") {
		t.Errorf("metrics:\n%s", text)
	}
	d.others = nil
	for range 6 {
		d.round()
	}
	if !d.report.Ready {
		t.Errorf("the other host has gone: %+v", d.report)
	}
}

// TestRoom_TakenByANode holds what a person reads about the address that the machine shares with the
// cluster: a node that has it is not to be switched off.
func TestRoom_TakenByANode(t *testing.T) {
	node, err := mac.Parse(otherMAC)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		sharing provisioning.Sharing
		phase   provision.Phase
		others  []string
		want    string
	}{
		{provisioning.One, provision.Bootstrap, []string{otherMAC}, "stop it until this machine's phase is takeover"},
		{provisioning.One, provision.Bootstrap, []string{otherMAC, "52:54:00:aa:bb:cd"}, "switch that host off"},
		{provisioning.One, provision.Cluster, []string{otherMAC}, "switch that host off"},
		{provisioning.Two, provision.Bootstrap, []string{otherMAC}, "switch that host off"},
	} {
		p := planOf(four)
		p.Provisioning.Address, p.Provisioning.IP = tt.sharing, four.Addr()
		p.Provisioning.Hosts = []provision.Host{{Name: "m0", MAC: node, Phase: tt.phase}}
		d := drive(t, p)
		d.card("ens4").Enabled, d.others = true, tt.others
		d.round()
		if d.round(); d.report.On || !strings.Contains(d.report.Why, tt.want) {
			t.Errorf("%s, %s, %v: %q", tt.sharing, tt.phase, tt.others, d.report.Why)
		}
		// It comes while the machine has the address, as behind a cable that was pulled.
		d = drive(t, p)
		for range 5 {
			d.round()
		}
		d.card("ens4").Carrier = false
		d.round()
		d.card("ens4").Carrier, d.others = true, tt.others
		d.round()
		if d.round(); !d.report.On || !strings.Contains(d.report.Why, tt.want) {
			t.Errorf("held, %s, %s, %v: %q", tt.sharing, tt.phase, tt.others, d.report.Why)
		}
	}
}

// While the link had no carrier another host may have come, which is reported and named: hosts that
// are being installed need the address.
func TestRoom_TakenLater(t *testing.T) {
	d := held(t, four)
	d.card("ens4").Carrier = false
	d.expect("", true, false, "no carrier")
	d.card("ens4").Carrier, d.others = true, []string{otherMAC, "52:54:00:aa:bb:cd"}
	d.expect("ask ens4", true, true, "holds")
	d.expect("", true, false, "the hosts with the MACs "+otherMAC)
	d.others = nil
	for range 5 {
		d.round()
	}
	d.expect("", true, true, "holds")
}

func TestRoom_PutsBack(t *testing.T) {
	for _, own := range []netip.Prefix{four, six} {
		d := held(t, own)
		for range 3 {
			d.takeAway("ens4")
			d.expect("add ens4 "+own.String()+", announce ens4", false, false, "puts")
			d.expect("", true, true, "holds")
		}
		var page metrics.Page
		d.room.Metrics(&page)
		if text := string(page.Text()); !strings.Contains(text, "restored_total 3") {
			t.Errorf("metrics:\n%s", text)
		}
	}
}

// TestRoom_NotAdded holds that an address which could not be added is asked for anew, and does not
// count as put back.
func TestRoom_NotAdded(t *testing.T) {
	d := drive(t, planOf(four))
	d.card("ens4").Enabled, d.fails["Add"] = true, errFake
	d.expect("ask ens4, add ens4 172.22.0.2/24", false, false, "asks")
	delete(d.fails, "Add")
	d.expect("ask ens4, add ens4 172.22.0.2/24, announce ens4", false, false, errFake.Error())
	d.expect("", true, true, "holds")
	var page metrics.Page
	if d.room.Metrics(&page); !strings.Contains(string(page.Text()), "restored_total 0") {
		t.Errorf("metrics:\n%s", page.Text())
	}
}

func TestRoom_Restart(t *testing.T) {
	d := held(t, four)
	if err := d.room.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(d.card("ens4").Addresses, four) {
		t.Fatal("the address went with the program")
	}
	d.restart()
	d.expect("ask ens4", true, true, "holds")
	d.expect("", true, true, "holds")
	d.takeAway("ens4")
	d.expect("add ens4 172.22.0.2/24, announce ens4", false, false, "puts")

	d.takeAway("ens4") // while the program does not run
	d.restart()
	d.expect("ask ens4, add ens4 172.22.0.2/24, announce ens4", false, false, "asks")

	d.orders = off
	d.restart()
	if err := d.room.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(d.card("ens4").Addresses) > 0 || d.claim != (Claim{}) {
		t.Errorf("the orders are off: %v, %+v", d.card("ens4").Addresses, d.claim)
	}
}

func TestRoom_Release(t *testing.T) {
	d := held(t, four)
	if err := d.room.Release(t.Context()); err != nil || len(d.card("ens4").Addresses) > 0 {
		t.Errorf("%v, %v", d.card("ens4").Addresses, err)
	}
	d.did = nil
	if err := d.room.Release(t.Context()); err != nil || len(d.did) > 0 {
		t.Errorf("nothing is there any more: %v, %v", d.did, err)
	}
}

// What was claimed has gone while the program did not run: it claims nothing any more.
func TestRoom_Forgets(t *testing.T) {
	d := held(t, four)
	d.takeAway("ens4")
	d.orders = off
	d.restart()
	d.expect("", false, true, "off")
	if d.claim != (Claim{}) {
		t.Errorf("%+v is still claimed", d.claim)
	}
}

func TestRoom_LateCarrier(t *testing.T) {
	d := drive(t, planOf(four))
	d.card("ens4").Carrier = false
	d.expect("enable ens4", false, false, "enables")
	for range 3 {
		d.expect("", false, false, "ens4 ("+cardMAC+") has no carrier")
	}
	d.card("ens4").Carrier = true
	d.expect("ask ens4, add ens4 172.22.0.2/24, announce ens4", false, false, "asks")
	d.expect("", true, true, "holds")
}

func TestRoom_Renamed(t *testing.T) {
	d := held(t, four)
	d.index["enp2s0"] = d.index["ens4"]
	d.card("ens4").Name = "enp2s0"
	d.expect("", true, true, "on enp2s0")
	d.takeAway("enp2s0")
	d.expect("add enp2s0 172.22.0.2/24, announce enp2s0", false, false, "puts")
	d.orders = off
	d.expect("delete 3 172.22.0.2/24", true, false, "from enp2s0")
	d.expect("", false, true, "off")
}

// A card that becomes a bridge's port receives no packets of its own any more.
func TestRoom_MovesToABridge(t *testing.T) {
	d := held(t, four)
	d.card("ens4").Port = true
	d.cards = append(d.cards, addr.Ethernet{Name: "br0", MAC: theCard(), Enabled: true, Carrier: true})
	d.expect("delete 3 172.22.0.2/24", true, false, "belongs to br0")
	d.expect("ask br0, add br0 172.22.0.2/24, announce br0", false, false, "asks")
	d.expect("", true, true, "on br0")
}

// What another program has added is used and stays. Only if the cluster needs the same address
// later must it go, which is for whoever added it.
func TestRoom_AddressOfAnotherProgram(t *testing.T) {
	for _, tt := range []struct {
		sharing   provisioning.Sharing
		on, ready bool
		why       string
	}{
		{provisioning.Two, false, true, "ens4 keeps 172.22.0.2"},
		{provisioning.One, true, false, "remove it there"},
	} {
		p := planOf(four)
		p.Provisioning.Address, p.Provisioning.IP = tt.sharing, four.Addr()
		d := drive(t, p)
		d.card("ens4").Enabled = true
		d.card("ens4").Addresses = []netip.Prefix{four}
		d.expect("ask ens4", true, true, "where another program has added it")
		d.expect("", true, true, "holds")
		d.orders = off
		d.expect("", tt.on, tt.ready, tt.why)
		if err := d.room.Release(t.Context()); err != nil || len(d.card("ens4").Addresses) == 0 {
			t.Errorf("it was removed: %v", err)
		}
	}
}

// Another program adds the address between the observation and the room's own try.
func TestRoom_AnotherProgramIsFaster(t *testing.T) {
	d := drive(t, planOf(four))
	d.card("ens4").Enabled = true
	s, err := d.room.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, _ := d.room.Decide(s)
	d.card("ens4").Addresses = []netip.Prefix{four}
	if err := d.room.Apply(t.Context(), want); err != nil || d.claim != (Claim{}) {
		t.Errorf("%+v is claimed, %v", d.claim, err)
	}
	d.orders = off
	d.expect("", false, true, "keeps")
}

func TestRoom_ElsewhereOrOtherLength(t *testing.T) {
	for why, change := range map[string]func(*fakeHost){
		"ens3 has 172.22.0.2/32": func(h *fakeHost) {
			h.card("ens3").Addresses = append(h.card("ens3").Addresses, netip.MustParsePrefix("172.22.0.2/32"))
		},
		"ens4 has 172.22.0.2/16": func(h *fakeHost) {
			h.card("ens4").Addresses = []netip.Prefix{netip.MustParsePrefix("172.22.0.2/16")}
		},
	} {
		d := drive(t, planOf(four))
		d.card("ens4").Enabled = true
		change(d.fakeHost)
		d.expect("", true, false, why)
	}
}

// The plan is another one after a restart: what was added by the former one goes.
func TestRoom_OtherPlan(t *testing.T) {
	d := held(t, four)
	wide := netip.MustParsePrefix("172.22.0.2/16")
	d.p = planOf(wide)
	d.restart()
	d.expect("delete 3 172.22.0.2/24", true, false, "belongs to ens4 as 172.22.0.2/16")
	d.expect("ask ens4, add ens4 172.22.0.2/16, announce ens4", false, false, "asks")
	d.expect("", true, true, "holds")
}

func TestRoom_IPv6(t *testing.T) {
	d := drive(t, planOf(six))
	d.tentative = true
	d.expect("enable ens4", false, false, "enables")
	d.expect("link-local ens4", false, false, "net.ipv6.conf.ens4.disable_ipv6")
	d.expect("", false, false, "the kernel checks the link-local address")
	d.tentative = false
	d.expect("ask ens4, add ens4 fd00:1101::2/64, announce ens4", false, false, "asks")
	d.expect("", true, true, "holds")
	d.routes = []addr.Route{
		{LinkIndex: 3, Destination: six.Masked()}, {LinkIndex: 1, Destination: netip.MustParsePrefix("fd00:1101::2/128")},
	}
	d.expect("delete route fd00:1101::2", true, false, "loopback")
	d.expect("", true, true, "holds")
}

// The link-local address goes while the machine holds the address, which it still has.
func TestRoom_LinkLocalGoes(t *testing.T) {
	d := held(t, six)
	d.now = d.now.Add(again)
	d.card("ens4").Addresses = []netip.Prefix{six}
	d.expect("link-local ens4", true, false, "no link-local")
	d.expect("", true, true, "holds")
}

// An address that another program has added is one that the kernel checks.
func TestRoom_KernelFindsADuplicate(t *testing.T) {
	d := held(t, four)
	d.duplicate = true
	d.expect("", true, false, "the kernel has found another host")
}

func TestRoom_NoCard(t *testing.T) {
	d := held(t, four)
	if strings.Contains(d.report.Why, "another program") {
		t.Errorf("it holds what it has added: %q", d.report.Why)
	}
	card := *d.card("ens4")
	d.cards = d.cards[:1]
	d.expect("", false, false, "no link has the MAC "+cardMAC)
	card.Addresses, d.index["ens4"] = nil, 9
	d.cards = append(d.cards, card)
	d.expect("ask ens4, add ens4 172.22.0.2/24, announce ens4", false, false, "asks")
	d.expect("", true, true, "holds")
}

// Each request changes the link, which wakes the loop: it must not be made in each round.
func TestRoom_IPv6IsOff(t *testing.T) {
	d := drive(t, planOf(six))
	d.card("ens4").Enabled, d.without6 = true, true
	asked := 0
	for range 10 {
		asked += len(d.round())
	}
	if asked != 2 || d.report.Ready || !strings.Contains(d.report.Why, "disable_ipv6") {
		t.Errorf("asked %d times in 10 s, and reports %+v", asked, d.report)
	}
}

func TestRoom_Faults(t *testing.T) {
	for _, name := range []string{"Orders", "Claim", "Ethernets", "Links"} {
		d := held(t, four)
		d.fails[name] = errFake
		d.expect("", true, false, errFake.Error())
		delete(d.fails, name)
		d.expect("", true, true, "holds")
	}
	for _, name := range []string{"WhoHas", "Add", "Keep", "SetUp"} {
		d := drive(t, planOf(four))
		d.fails[name] = errFake
		for range 3 {
			d.round()
		}
		if d.report.Ready || !strings.Contains(d.report.Why, errFake.Error()) ||
			len(d.card("ens4").Addresses) > 0 {
			t.Errorf("%s: %+v", name, d.report)
		}
		delete(d.fails, name)
		for range 3 {
			d.round()
		}
		if !d.report.Ready {
			t.Errorf("%s, after its end: %+v", name, d.report)
		}
	}
	d := held(t, four)
	d.fails["Delete"], d.orders = errFake, off
	d.round()
	if !strings.Contains(d.report.Why, "removes") {
		t.Errorf("%+v", d.report)
	}
	d.expect("", false, true, "off") // the fake host has removed it all the same
}

// A report that cannot be written keeps the room from nothing.
func TestRoom_NoRoomForAReport(t *testing.T) {
	d := held(t, four)
	d.fails["Report"] = errFake
	d.takeAway("ens4")
	if did := d.round(); len(did) != 2 {
		t.Errorf("it did %q", did)
	}
	s, err := d.room.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(orders.Stale)
	want, _ := d.room.Decide(s)
	_ = d.room.Publish(t.Context(), want) // it never fails
	if err := d.room.Apply(t.Context(), want); err == nil {
		t.Error("the fault of the report is not reported")
	}
}

func TestRoom_NoAddressNeeded(t *testing.T) {
	p := planOf(four)
	p.Provisioning.Network, p.Provisioning.BootstrapIP = provisioning.Disabled, netip.Addr{}
	d := drive(t, p)
	d.expect("", true, true, "no address is needed")
	d.orders = off
	d.expect("", false, true, "no address is needed")
}
