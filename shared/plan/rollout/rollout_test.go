package rollout

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

// smallest is a cluster of which only the necessary is set.
func smallest() spec.Cluster {
	return spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
}

func mustCompile(t testing.TB, c spec.Cluster) plan.Plan {
	t.Helper()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// migrant is a cluster with these settings; each may be empty.
func migrant(timing string, mode spec.Mode, from spec.Former) spec.Cluster {
	c := smallest()
	c.Timing, c.VRRP, c.MigrateFrom = timing, mode, from
	return c
}

// proven is a cluster whose hosts have a proof of their timing.
func proven(timing string) spec.Cluster {
	c := migrant(timing, "", spec.Former{})
	c.TimingProof = map[string]uint32{"a": 900, "b": 1100, "c": 2000}
	return c
}

// TestLive holds what may be written for a live cluster.
func TestLive(t *testing.T) {
	const compat, lan, vm, multicast, unicast = "compat", "lan", "vm", spec.Multicast, spec.Unicast
	none, fromCompat, yes, done := spec.Former{}, spec.Former{Timing: compat}, Consent{Migrate: true}, Consent{Migrated: true}
	for _, tt := range []struct {
		name        string
		there, next spec.Cluster
		consent     Consent
		want        spec.Cluster
		refusal     string // a part
	}{
		{name: "nothing changes", there: migrant(compat, "", none), next: migrant(compat, "", none), want: migrant(compat, "", none)},
		{name: "what was the default is set", there: migrant("", "", none), next: migrant(mustCompile(t, smallest()).Timing.Profile, unicast, none), want: migrant(mustCompile(t, smallest()).Timing.Profile, unicast, none)},
		{name: "nothing changes, and it may", there: migrant(lan, "", none), next: migrant(lan, "", none), consent: yes, want: migrant(lan, "", none)},
		{name: "another timing", there: migrant(compat, "", none), next: migrant(lan, "", none),
			refusal: "its nodes send VRRP with timing compat (VRRPv2 for IPv4, an advert every 1000 ms), vrrp unicast, and this description has timing lan (VRRPv3 for IPv4, an advert every 100 ms), vrrp unicast."},
		{name: "another mode", there: migrant(compat, "", none), next: migrant(compat, multicast, none), refusal: "each VIP has two holders"},
		{name: "--migrated is no --migrate", there: migrant(compat, "", none), next: migrant(lan, "", none), consent: done, refusal: "or add --migrate"},
		{name: "another timing, migrated to", there: migrant(compat, "", none), next: migrant(lan, "", none), consent: yes, want: migrant(lan, unicast, fromCompat)},
		{name: "another mode, migrated to", there: migrant(vm, multicast, none), next: migrant(vm, "", none), consent: yes, want: migrant(vm, unicast, spec.Former{VRRP: multicast})},
		{name: "both", there: migrant(compat, multicast, none), next: migrant(lan, unicast, none), consent: yes, want: migrant(lan, unicast, spec.Former{Timing: compat, VRRP: multicast})},
		{name: "the description has the migration itself", there: migrant(compat, "", none), next: migrant(lan, "", fromCompat), want: migrant(lan, "", fromCompat)},
		{name: "the description migrates from elsewhere", there: migrant(vm, "", none), next: migrant(lan, "", fromCompat), refusal: "timing vm"},
		{name: "under way, once more", there: migrant(lan, "", fromCompat), next: migrant(lan, "", none), want: migrant(lan, unicast, fromCompat)},
		{name: "under way, and back without a word", there: migrant(lan, "", fromCompat), next: migrant(compat, "", none), refusal: "migrating from timing compat"},
		{name: "under way, and back", there: migrant(lan, "", fromCompat), next: migrant(compat, "", none), consent: yes, want: migrant(compat, unicast, spec.Former{Timing: lan})},
		{name: "under way, and elsewhere", there: migrant(lan, "", fromCompat), next: migrant(vm, "", none), consent: yes, refusal: "add --migrated beside --migrate"},
		{name: "it has happened", there: migrant(lan, "", fromCompat), next: migrant(lan, "", none), consent: done, want: migrant(lan, "", none)},
		{name: "it has happened, and on", there: migrant(lan, "", fromCompat), next: migrant(vm, "", none), consent: Consent{Migrate: true, Migrated: true}, want: migrant(vm, unicast, spec.Former{Timing: lan})},
		{name: "it has happened, and another one is not asked for", there: migrant(lan, "", fromCompat), next: migrant(compat, "", none), consent: done, refusal: "or add --migrate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Live(mustCompile(t, tt.there), tt.next, tt.consent)
			if refused := (Incompatible{}); tt.refusal != "" {
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.refusal) {
					t.Fatalf("%v, want a refusal with %q", err, tt.refusal)
				}
				return
			}
			if err != nil || got.Timing != tt.want.Timing || got.VRRP != tt.want.VRRP || got.MigrateFrom != tt.want.MigrateFrom {
				t.Fatalf("timing %q, vrrp %q, from %+v, %v", got.Timing, got.VRRP, got.MigrateFrom, err)
			}
			mustCompile(t, got)
		})
	}
	if _, err := Live(mustCompile(t, smallest()), migrant("quick", "", none), yes); err == nil || errors.As(err, &Incompatible{}) {
		t.Errorf("a timing that does not exist: %v", err)
	}
}

// TestLiveIDs refuses another virtual router ID for a VIP that is there, whatever the consent, and no
// other.
func TestLiveIDs(t *testing.T) {
	with := func(dns bool, ids map[string]uint8) spec.Cluster {
		c := smallest()
		if c.VRIDs = ids; dns {
			c.DNSVIP = []netip.Addr{netip.MustParseAddr("192.0.2.7")}[0]
		}
		return c
	}
	provisions := func(ids map[string]uint8) spec.Cluster {
		c, _ := spec.Parse("cluster.yaml", []byte(provisioned.Describe("one")), spec.Knobs{}) // Compile finds what is wrong
		c.VRIDs = ids
		return c
	}
	for _, tt := range []struct {
		name        string
		there, next spec.Cluster
		refusal     string
	}{
		{"what was the default is set", with(false, nil), with(false, map[string]uint8{"api": uint8(mustCompile(t, smallest()).VRRP.API.ID)}), ""},
		{"the API's", with(false, nil), with(false, map[string]uint8{"api": 9}), "and 9 in this description. Nodes get"},
		{"both", with(false, map[string]uint8{"api": 9, "ingress": 10}), with(false, map[string]uint8{"api": 19, "ingress": 20}),
			"vrids.api is 9 there and 19 in this description, vrids.ingress is 10 there and 20 in this description"},
		{"the provisioning address's", provisions(nil), provisions(map[string]uint8{"provisioning": 77}), "and 77 in this description. Nodes get"},
		{"a DNS VIP that is new", with(false, nil), with(true, nil), ""},
		{"a DNS VIP that goes", with(true, nil), with(false, nil), ""},
	} {
		_, err := Live(mustCompile(t, tt.there), tt.next, Consent{Migrate: true, Migrated: true})
		switch refused := (Incompatible{}); {
		case tt.refusal == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.refusal != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), tt.refusal)):
			t.Errorf("%s: %v, want a refusal with %q", tt.name, err, tt.refusal)
		}
	}
}

// TestResume holds that a node which remembers another way than that of its file goes over to that
// with the others, and by itself never.
func TestResume(t *testing.T) {
	none := spec.Former{}
	for _, tt := range []struct {
		name   string
		c      spec.Cluster
		spoken string
		want   string // the former way; empty for none
	}{
		{"nothing is remembered", migrant("lan", "", none), "", ""},
		{"the same", migrant("lan", "", none), "lan/unicast", ""},
		{"another timing", migrant("lan", "", none), "compat/unicast", "compat/unicast"},
		{"another timing, and the platform's is wanted", migrant("", "", none), "compat/multicast", "compat/multicast"},
		{"the file names the former way", migrant("lan", "", spec.Former{Timing: "vm"}), "compat/unicast", "vm/unicast"},
		{"a timing that is no more", migrant("lan", "", none), "slow/unicast", ""},
		{"garbage", migrant("lan", "", none), "lan", ""},
		{"it fell back, and stays there", proven("fast"), "lan/unicast", ""},
		{"it fell back, and another timing is wanted", migrant("vm", "", none), "lan/unicast", "lan/unicast"},
		{"it has yet to leave the timing to which others would fall back", proven("fast"), "lan/unicast", "lan/unicast"},
		{"from a proven timing whose proof is gone", migrant("lan", "", none), "fast/unicast", "fast/unicast"},
		{"from another timing to the proven one", proven("fast"), "vm/unicast", "vm/unicast"},
		{"a mode that is no more", migrant("lan", "", none), "compat/anycast", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Resume(tt.c, tt.spoken, strings.HasPrefix(tt.name, "it fell back"))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if p.Former != nil {
				got = p.Former.Way().String()
			}
			if got != tt.want || p.Way() != mustCompile(t, tt.c).Way() {
				t.Errorf("%s from %q, want %q", p.Way(), got, tt.want)
			}
		})
	}
	if _, err := Resume(migrant("quick", "", none), "compat/unicast", false); err == nil {
		t.Error("a timing that does not exist is accepted")
	}
}

// TestLive_Routers holds that a live cluster goes from VRRP to both and back with consent alone, and a node that
// gets its file late goes on from the way in which it was.
func TestLive_Routers(t *testing.T) {
	vrrp, both := smallest(), smallest()
	both.Routing = spec.Routing{Management: spec.ByBoth, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: netip.MustParsePrefix("192.0.2.0/24")}}}}
	back := both
	back.Routing.Management = spec.ByVRRP
	for name, tt := range map[string]struct{ there, next spec.Cluster }{"forth": {vrrp, both}, "back": {both, back}} {
		if name == "back" { // the description needs the routers until the change is over
			tt.next.MigrateFrom.Management = spec.ByBoth
		}
		there := mustCompile(t, tt.there)
		if _, err := Live(there, tt.next, Consent{}); name == "forth" && (err == nil || !strings.Contains(err.Error(), "routers would be led to some of them only")) {
			t.Errorf("%s, without consent: %v", name, err)
		}
		got, err := Live(there, tt.next, Consent{Migrate: true})
		if err != nil || got.MigrateFrom.Management != mustCompile(t, tt.there).Management {
			t.Errorf("%s: %+v, %v", name, got.MigrateFrom, err)
		}
	}
	p, err := Resume(both, "lan/unicast", false)
	if err != nil || p.Former == nil || p.Former.Management != spec.ByVRRP || p.Management != spec.ByBoth {
		t.Errorf("a node of VRRP alone that gets the new file: %+v, %v", p.Former, err)
	}
	if p, err := Resume(vrrp, "lan/unicast/both", false); err != nil || p.Former != nil {
		t.Errorf("a node whose new file has no routers: %+v, %v", p.Former, err)
	}
}

// TestLive_BackWithoutRouters holds that a description by VRRP alone, without a word of routers, leads back from both,
// and stays that while the change is under way.
func TestLive_BackWithoutRouters(t *testing.T) {
	both := smallest()
	both.Routing = spec.Routing{Management: spec.ByBoth, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: netip.MustParsePrefix("192.0.2.0/24")}}}}
	next := smallest()
	next.Routing.Management = spec.ByVRRP
	back, err := Live(mustCompile(t, both), next, Consent{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	p := mustCompile(t, back)
	if p.Former == nil || p.Former.BGP == nil || p.BGP != nil || p.Former.BGP.ASN != 64512 {
		t.Errorf("%+v", back)
	}
	again, err := Live(p, next, Consent{})
	if err != nil || mustCompile(t, again).Former == nil {
		t.Errorf("under way: %+v, %v", again, err)
	}
	over, err := Live(p, next, Consent{Migrated: true})
	if err != nil || mustCompile(t, over).Former != nil || over.Routing.BGP.ASN != 0 {
		t.Errorf("over: %+v, %v", over, err)
	}
	outside := next
	outside.Routing = both.Routing
	outside.Routing.Management = spec.ByBGP
	outside.APIVIPs, outside.IngressVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.5")}, []netip.Addr{netip.MustParseAddr("198.51.100.6")}
	for _, consent := range []Consent{{}, {Migrate: true}, {Migrate: true, Migrated: true}} {
		for want, tt := range map[string]struct{ there, next spec.Cluster }{
			"vrrp does not lead to bgp in place": {next, outside}, "both does not lead to bgp in place": {both, outside},
			"bgp does not lead to vrrp in place": {outside, next}, "bgp does not lead to both in place": {outside, both},
		} {
			_, err := Live(mustCompile(t, tt.there), tt.next, consent)
			if !errors.As(err, new(Incompatible)) || !strings.Contains(err.Error(), want) {
				t.Errorf("with %+v: %v, want %q", consent, err, want)
			}
		}
	}
}
