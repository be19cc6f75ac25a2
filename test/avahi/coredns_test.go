package avahi

import (
	"testing"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/role"
)

const twoMembers = `.:53 {
	errors
	mdns ostest.example.com 2 ostest 192.0.2.90 {
		networks 192.0.2.0/24 2001:db8::/64
	}
}
`

// TestResolved has our CoreDNS answer for nodes from their start to their end, and for etcd only
// when its list is whole.
func TestResolved(t *testing.T) {
	l := open(t)
	ask := l.coredns(l.add("server", "192.0.2.90/24", "2001:db8::90/64"), twoMembers)
	const unknown = "SERVFAIL[]" // there is no next plugin
	answers := func(name string, kind uint16, want string) func() bool {
		return func() bool { return ask(name, kind) == want }
	}
	l.until("CoreDNS starts", patient, answers("master-0.ostest.example.com.", dns.TypeA, unknown))

	first := l.node(l.add("first", "192.0.2.10/24", "2001:db8::10/64"), "master-0", role.Master)
	first.agreed("192.0.2.10", "2001:db8::10")
	first.start()
	t.Logf("answered %v after the pod started", l.until("the node is known", patient, answers("master-0.ostest.example.com.", dns.TypeA, "NOERROR[192.0.2.10]")))
	l.until("its other family", patient, answers("master-0.ostest.example.com.", dns.TypeAAAA, "NOERROR[2001:db8::10]"))
	l.until("its member of etcd", patient, answers("etcd-0.ostest.example.com.", dns.TypeA, "NOERROR[192.0.2.10]"))
	l.until("the way back", patient, answers("10.2.0.192.in-addr.arpa.", dns.TypePTR, "NOERROR[master-0.ostest.example.com.]"))
	if got := ask("_etcd-server-ssl._tcp.ostest.example.com.", dns.TypeSRV); got != unknown {
		t.Errorf("one member of two is answered: %s", got)
	}
	second := l.node(l.add("second", "192.0.2.11/24", "2001:db8::11/64"), "master-1", role.Master)
	second.agreed("192.0.2.11", "2001:db8::11")
	second.start()
	l.until("etcd is whole", patient, answers("_etcd-server-ssl._tcp.ostest.example.com.", dns.TypeSRV, "NOERROR[master-0.ostest.example.com.2380 master-1.ostest.example.com.2380]"))
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("forgotten %v after the pod had ended", l.until("the node is forgotten", patient, answers("master-0.ostest.example.com.", dns.TypeA, unknown)))
}
