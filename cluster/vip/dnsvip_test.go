package vip

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestDNSVIP holds who stands for the DNS VIP: control plane nodes that have seen the API work,
// with a router of its own, by whether their own name server answers, and together with the
// bootstrap machine for as long as that is there.
func TestDNSVIP(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.Name, c.DNSVIP = "cnf10", ip("192.0.2.7")
	w := newWorld(t, c, role.Master)
	w.served = false
	if d, _ := w.decide(); slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.VIP == c.DNSVIP }) {
		t.Error("it stands before it has seen the API work, when the bootstrap machine may have the VIP")
	}
	w.served = true
	w.bootstrap = answered(bootpeer.Published{Addresses: ips("192.0.2.20"), Beat: "1"})
	d := w.reconcile()
	got := instance(t, d, "192.0.2.7")
	if got.Name != "cnf10_DNS_0" || got.ID != 158 || got.Priority != 40 || got.AuthPass != "cnf10_dn" || !slices.Contains(got.Tracks, vrrp.CheckDNS) {
		t.Errorf("instance %+v", got)
	}
	if !slices.Equal(got.Peers, ips("192.0.2.12", "192.0.2.13", "192.0.2.20")) {
		t.Errorf("peers %v", got.Peers)
	}
	i := slices.IndexFunc(d.Config.Tracks, func(t keepalived.Track) bool { return t.Name == vrrp.CheckDNS })
	if i < 0 || d.Config.Tracks[i].Weight != 50 {
		t.Errorf("tracks %+v", d.Config.Tracks)
	}
	for _, tt := range []struct {
		name string
		r    role.Role
		dns  bool
		want bool
	}{{"a worker", role.Worker, true, false}, {"a cluster without such a VIP", role.Master, false, false}, {"a master", role.Master, true, true}} {
		c := c
		if !tt.dns {
			c.DNSVIP = family(cluster(), "IPv4").DNSVIP
		}
		w := newWorld(t, c, tt.r)
		d, _ := w.decide()
		stands := slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.ID == 158 })
		weighs := slices.ContainsFunc(election.Weights(w.plan, tt.r), func(w vrrp.Weight) bool { return w.Check == vrrp.CheckDNS })
		if stands != tt.want || weighs != tt.want {
			t.Errorf("%s: stands %v, makes the check %v, want %v", tt.name, stands, weighs, tt.want)
		}
	}
}

// TestDNSVIPRanks holds that nodes of ours alone have the rank that they have claimed, and a bonus
// for holding it.
func TestDNSVIPRanks(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.DNSVIP, c.Timing = ip("192.0.2.7"), vrrp.ProfileLan
	w := newWorld(t, c, role.Master)
	for i := range w.nodes.Is {
		w.nodes.Is[i].Rank = []string{"1", "0", "2", "", ""}[i]
	}
	d := w.reconcile()
	if got := instance(t, d, "192.0.2.7"); got.Priority != instance(t, d, "192.0.2.5").Priority || !slices.Contains(got.Tracks, "holder_dns_0") {
		t.Errorf("instance %+v", got)
	}
}

// TestDNSUnserved holds that a holder whose name server does not answer gives the DNS VIP up at
// once, beside nodes of ours only, and no other VIP for it.
func TestDNSUnserved(t *testing.T) {
	for _, tt := range []struct {
		name, timing string
		vip, answers bool
		want         string
	}{
		{"it does not answer", vrrp.ProfileLan, true, false, "[ostest_DNS_0]"},
		{"it answers", vrrp.ProfileLan, true, true, "[]"},
		{"no such VIP", vrrp.ProfileLan, false, false, "[]"},
		{"beside nodes of today", vrrp.ProfileCompat, true, false, "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := family(cluster(), "IPv4")
			if c.Timing = tt.timing; tt.vip {
				c.DNSVIP = ip("192.0.2.7")
			}
			w := newWorld(t, c, role.Master)
			w.passes[vrrp.CheckBoth], w.passes[vrrp.CheckDNS] = true, tt.answers
			w.reconcile()
			w.reconcile()
			if got := fmt.Sprint(w.unserved); got != tt.want {
				t.Errorf("unserved are %s, want %s", got, tt.want)
			}
		})
	}
}
