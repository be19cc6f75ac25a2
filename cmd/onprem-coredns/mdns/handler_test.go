package mdns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	"github.com/miekg/dns"
)

// received is what two hosts of a cluster have announced.
func received(members int) *known {
	k := &known{hosts: map[string]host{}, names: map[netip.Addr]string{}}
	for i := range members {
		name, a := fmt.Sprintf("master-%d", i), netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)})
		k.hosts[name] = host{addresses: []netip.Addr{a}, until: time.Now().Add(time.Hour)}
		k.members = append(k.members, member{name, 2380})
		k.names[a] = name
	}
	k.hosts["worker-0"] = host{addresses: []netip.Addr{netip.MustParseAddr("192.0.2.20"), netip.MustParseAddr("2001:db8::20")}, until: time.Now().Add(20*time.Second + 500*time.Millisecond)}
	k.hosts["worker-1"] = host{addresses: []netip.Addr{netip.MustParseAddr("192.0.2.21")}, until: time.Now().Add(-time.Second)}
	return k
}

func TestAnswers(t *testing.T) {
	const zone = "ostest.example.com."
	const next = "passed on"
	for _, tt := range []struct {
		name    string
		ask     string
		kind    uint16
		least   int
		members int
		want    string
	}{
		{"a host", "master-0." + zone, dns.TypeA, 3, 3, "master-0.ostest.example.com. 60 IN A 192.0.2.10"},
		{"in other letters", "MASTER-0.Ostest.example.com.", dns.TypeA, 3, 3, "MASTER-0.Ostest.example.com. 60 IN A 192.0.2.10"},
		{"not for longer than it is true", "worker-0." + zone, dns.TypeAAAA, 3, 3, "worker-0.ostest.example.com. 20 IN AAAA 2001:db8::20"},
		{"the family that it does not have", "master-0." + zone, dns.TypeAAAA, 3, 3, "no data"},
		{"another type", "master-0." + zone, dns.TypeTXT, 3, 3, "no data"},
		{"one that is not true any more", "worker-1." + zone, dns.TypeA, 3, 3, next},
		{"one that no host has announced", "master-9." + zone, dns.TypeA, 3, 3, next},
		{"the zone itself", zone, dns.TypeA, 3, 3, next},
		{"another zone", "master-0.example.com.", dns.TypeA, 3, 3, next},
		{"a zone that ends alike", "master-0.xostest.example.com.", dns.TypeA, 3, 3, next},
		{"a reverse name", "10.2.0.192.in-addr.arpa.", dns.TypePTR, 3, 3, "10.2.0.192.in-addr.arpa. 60 IN PTR master-0.ostest.example.com."},
		{"the reverse name of an unknown address", "99.2.0.192.in-addr.arpa.", dns.TypePTR, 3, 3, next},
		{"etcd", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 3, 3, "_etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-0.ostest.example.com.; " +
			"_etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-1.ostest.example.com.; _etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-2.ostest.example.com."},
		{"etcd in part (M-06)", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 3, 2, next},
		{"four of five", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 5, 4, next},
		{"five of five", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 5, 5, "_etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-0.ostest.example.com.; _etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-1.ostest.example.com.; _etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-2.ostest.example.com.; _etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-3.ostest.example.com.; _etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-4.ostest.example.com."},
		{"etcd without a minimum", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 0, 1, "_etcd-server-ssl._tcp.ostest.example.com. 0 IN SRV 0 10 2380 master-0.ostest.example.com."},
		{"no etcd without a minimum", "_etcd-server-ssl._tcp." + zone, dns.TypeSRV, 0, 0, next},
		{"another service", "_etcd-client-ssl._tcp." + zone, dns.TypeSRV, 0, 3, next},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &handler{settings: settings{zone: zone, least: tt.least}, next: test.NextHandler(dns.RcodeNameError, nil)}
			h.listener.Store(&listener{})
			h.listener.Load().known.Store(received(tt.members))
			w := dnstest.NewRecorder(&test.ResponseWriter{})
			code, err := h.ServeDNS(context.Background(), w, new(dns.Msg).SetQuestion(tt.ask, tt.kind))
			if err != nil {
				t.Fatal(err)
			}
			if got := words(code, w.Msg); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	h := &handler{settings: settings{zone: zone}, next: test.NextHandler(dns.RcodeNameError, nil)}
	if code, _ := h.ServeDNS(context.Background(), &test.ResponseWriter{}, new(dns.Msg).SetQuestion("a."+zone, dns.TypeA)); code != dns.RcodeNameError {
		t.Errorf("before anything was received: code %d", code)
	}
}

// words are an answer.
func words(code int, m *dns.Msg) string {
	if code != dns.RcodeSuccess || m == nil {
		return "passed on"
	}
	if len(m.Answer) == 0 && len(m.Ns) == 1 {
		return "no data"
	}
	var all []string
	for _, rr := range m.Answer {
		all = append(all, strings.Join(strings.Fields(rr.String()), " "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
