package keepalived

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

const header = "Rendered by onprem-infra from /etc/onprem-infra/cluster.json (sha256 0123456789ab); do not edit."

func addrs(texts ...string) []netip.Addr {
	out := make([]netip.Addr, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParseAddr(text)
	}
	return out
}

// bootstrap is the bootstrap machine's instance for one API VIP of cluster ostest.
func bootstrap(name vrrp.InstanceName, vip string) Instance {
	i := Instance{
		Name: name, Interface: "enp1s0", ID: 14, Version: vrrp.CompatTiming().Version(netip.MustParseAddr(vip)), Priority: vrrp.Compat().Bootstrap,
		Advert: time.Second, VIP: netip.MustParseAddr(vip),
	}
	if i.Version == vrrp.V2 {
		i.AuthPass = vrrp.CompatAuth("ostest", vrrp.API)
	}
	return i
}

func unicast(i Instance, source string, peers ...string) Instance {
	i.Source, i.Peers = netip.MustParseAddr(source), addrs(peers...)
	return i
}

const (
	fifo  = "/run/onprem-infra/keepalived/notify.fifo"
	leave = "/run/onprem-infra/keepalived/track/leave"
)

// goldens are one Config for every golden file.
func goldens() map[string]Config {
	return map[string]Config{
		"ipv4-multicast": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{bootstrap("ostest_API_0", "192.0.2.5")}},
		"ipv6-multicast": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{bootstrap("ostest_API_0", "2001:db8::5")}},
		"dual-multicast": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{
			bootstrap("ostest_API_0", "192.0.2.5"), bootstrap("ostest_API_1", "2001:db8::5")}},
		"dual-group": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{
			unicast(bootstrap("ostest_API_0", "192.0.2.5"), "192.0.2.10", "224.0.0.18"),
			unicast(bootstrap("ostest_API_1", "2001:db8::5"), "2001:db8::10", "ff02::12")}},
		"ipv4-unicast": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{
			unicast(bootstrap("ostest_API_0", "192.0.2.5"), "192.0.2.10", "192.0.2.11")}},
		"dual-unicast": {Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{
			unicast(bootstrap("ostest_API_0", "192.0.2.5"), "192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13"),
			unicast(bootstrap("ostest_API_1", "2001:db8::5"), "2001:db8::10", "2001:db8::11", "2001:db8::12", "2001:db8::13")}},
		"master":            master(),
		"node":              node(),
		"node-groups":       grouped(),
		"tracked":           tracked(),
		"ranked":            ranked(),
		"subsecond-adverts": {Instances: []Instance{fast(bootstrap("ostest_API_0", "192.0.2.5"))}},
		"device":            onDevice(),
		"device-own":        onOwnDevice(),
		"nothing":           {},
	}
}

// onDevice has VIPs of both families on another interface than the one of their adverts.
func onDevice() Config {
	ipv4, ipv6 := bootstrap("ostest_PROVISIONING_0", "172.22.0.3"), bootstrap("ostest_PROVISIONING_1", "fd00:22::3")
	ipv4 = unicast(ipv4, "192.0.2.10", "192.0.2.11")
	ipv6 = unicast(ipv6, "2001:db8::10", "2001:db8::11")
	ipv4.Device, ipv4.Bits, ipv6.Device, ipv6.Bits = "eno2", 24, "eno2", 64
	return Config{Header: header, NotifyFIFO: fifo, Leave: leave, Instances: []Instance{ipv4, ipv6}}
}

// onOwnDevice is the same of a host with one card for both networks.
func onOwnDevice() Config {
	c := onDevice()
	for i := range c.Instances {
		c.Instances[i].Device = c.Instances[i].Interface
	}
	return c
}

// ranked is the first of three control plane nodes under timing vm.
func ranked() Config {
	config, timing := node(), vrrp.Profiles()[2]
	files, _ := track(timing.Policy().ControlPlane)
	more, _ := track(timing.Policy().Ingress)
	config.Tracks = slices.Concat(files, more)
	for i, c := range []vrrp.Candidates{timing.Policy().ControlPlane, timing.Policy().Ingress} {
		one := &config.Instances[i]
		one.Priority, one.Advert, one.Version, one.AuthPass = c.Base+vrrp.Priority(c.Rank(0)), timing.Advert, timing.Version(one.VIP), ""
		one.Refresh = timing.Refresh
	}
	return config
}

func fast(i Instance) Instance {
	i.Advert, i.Version, i.AuthPass, i.Interface = 100*time.Millisecond, vrrp.V3, "", "a-name-of-15-ch"
	return i
}

func TestRender(t *testing.T) {
	for name, config := range goldens() {
		t.Run(name, func(t *testing.T) {
			got := Render(config)
			golden.Check(t, got)
			if again := Render(config); !bytes.Equal(again, got) {
				t.Errorf("the second rendering differs:\n%s", again)
			}
		})
	}
}

// TestTemplateLines holds that the golden files' configurations use every line of the template.
func TestTemplateLines(t *testing.T) {
	var data []any
	for _, config := range goldens() {
		data = append(data, config)
	}
	golden.EachLineCounts(t, text, data...)
}
