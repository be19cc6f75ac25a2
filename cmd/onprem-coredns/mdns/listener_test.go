package mdns

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// TestPublish_TwoInterfaces holds that a host on two interfaces has the addresses of both until the
// first of them expires, that a member of etcd is listed once and its address has
// the host's own name, and that an interface which has gone leaves nothing behind.
func TestPublish_TwoInterfaces(t *testing.T) {
	at := func(text string, until time.Time) host {
		return host{addresses: []netip.Addr{netip.MustParseAddr(text)}, until: until}
	}
	now := time.Now()
	l := &listener{received: map[string]*known{}}
	eth0, eth1 := &known{
		hosts:   map[string]host{"master-0": at("192.0.2.10", now), "etcd-0": at("192.0.2.10", now)},
		members: []member{{"master-0", 2380}},
	}, &known{
		hosts:   map[string]host{"master-0": at("2001:db8::10", now.Add(time.Second))},
		members: []member{{"master-0", 2380}},
	}
	one, two := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::10")
	for range 50 { // the order of a map varies
		l.publish("eth0", eth0)
		l.publish("eth1", eth1)
		got := l.known.Load()
		if want := (host{[]netip.Addr{one, two}, now}); !reflect.DeepEqual(got.hosts["master-0"], want) {
			t.Fatalf("master-0 is %+v, want %+v", got.hosts["master-0"], want)
		}
		if len(got.members) != 1 || got.names[one] != "master-0" {
			t.Fatalf("etcd is %v, and %v is %s", got.members, one, got.names[one])
		}
	}
	l.publish("eth0", nil)
	if got := l.known.Load(); len(got.hosts) != 1 || got.names[one] != "" {
		t.Errorf("after eth0 has gone: %+v", got)
	}
}
