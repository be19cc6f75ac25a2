package daemons

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestClash holds K-03: two clusters on one network whose names make the same virtual router ID.
// Both of their bootstrap machines take their VIP and keep it. Clusters in unicast mode do not even
// receive each other's adverts. Where multicast is asked for, VRRPv2 has a password, which is the
// cluster's own; of VRRPv3, which has none, the supervisor has the kernel drop what is about
// another VIP (ND-05), which keepalived 2.3.3 or later would heed.
func TestClash(t *testing.T) {
	for _, tt := range []struct {
		name, prefix string
		multicast    bool
		filtered     bool
		reports      string
	}{
		{name: "IPv4", prefix: "192.0.2.%/24"},
		{name: "IPv6", prefix: "2001:db8::%/64"},
		{name: "IPv4 multicast", prefix: "192.0.2.%/24", multicast: true, reports: "invalid passwd"},
		{name: "IPv6 multicast", prefix: "2001:db8::%/64", multicast: true, filtered: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			l := lab.New(t)
			address := func(last string) string { return strings.Replace(tt.prefix, "%", last, 1) }
			type side struct {
				cluster  string
				observer *lab.Observer
				log      string
			}
			var sides []side
			for cluster, last := range map[string]string{"ocp8": "5", "lab": "6"} {
				own, vip := netip.MustParsePrefix(address("1"+last)), netip.MustParsePrefix(address(last)).Addr()
				host := add(t, l, cluster, own.String())
				waitLinkLocal(ctx, t, host)
				observer, err := lab.Observe(vip, 5*time.Millisecond, host)
				if err != nil {
					t.Fatal(err)
				}
				defer observer.Stop()
				config := bootstrapOf(t, cluster, vip, own.Addr())
				if tt.multicast {
					config.Instances[0].Source, config.Instances[0].Peers = netip.Addr{}, nil
				}
				if tt.filtered {
					keepOthersOut(t, host, config.Instances[0])
				}
				k := start(t, host, config)
				sides = append(sides, side{cluster, observer, filepath.Join(filepath.Dir(k.conf), "log")})
			}
			for _, s := range sides {
				if _, err := s.observer.Wait(ctx, s.cluster); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(4 * time.Second) // more than a master down time, in which each hears the other several times
			for _, s := range sides {
				if gaps := s.observer.Stop().Gaps(); len(gaps) > 0 {
					t.Errorf("the VIP of %s went away: %v", s.cluster, gaps)
				}
				if text, err := os.ReadFile(s.log); err != nil || !strings.Contains(string(text), tt.reports) {
					t.Errorf("%s: keepalived says nothing of the other cluster, want %q (%v):\n%s", s.cluster, tt.reports, err, text)
				}
			}
		})
	}
}

// keepOthersOut has a host's kernel drop what is about another VIP than the instance's.
func keepOthersOut(t *testing.T, host *lab.Host, i keepalived.Instance) {
	t.Helper()
	far := nft.Far{Groups: []nft.Group{{Link: string(i.Interface), ID: i.ID, VIP: i.VIP}}}
	err := host.Do(func() error { _, err := new(nft.FarFilter).Keep(far); return err })
	if err != nil {
		t.Fatal(err)
	}
}

// bootstrapOf is the instance of a cluster's bootstrap machine before it knows a node, with the
// numbers that follow from the cluster's name.
func bootstrapOf(t *testing.T, cluster string, vip, own netip.Addr) keepalived.Config {
	t.Helper()
	id, _, err := vrrp.IDs(cluster)
	if err != nil {
		t.Fatal(err)
	}
	i := keepalived.Instance{
		Name: vrrp.InstanceName(cluster + "_API_0"), Interface: "eth0", ID: id, Version: vrrp.CompatTiming().Version(vip), Priority: vrrp.Compat().Bootstrap,
		Advert: vrrp.CompatTiming().Advert, Source: own, Peers: []netip.Addr{keepalived.Group(vip)}, VIP: vip,
	}
	if i.Version == vrrp.V2 {
		i.AuthPass = vrrp.CompatAuth(cluster, vrrp.API)
	}
	return keepalived.Config{Instances: []keepalived.Instance{i}}
}
