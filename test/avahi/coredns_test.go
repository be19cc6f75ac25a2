package avahi

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/role"
)

const corefile = `.:53 {
	errors
	mdns ostest.example.com 2 ostest 192.0.2.90 {
		networks 192.0.2.0/24 2001:db8::/64
	}
}
`

// TestResolved has our CoreDNS answer for nodes from their start to their end, and for etcd only when its list is whole.
func TestResolved(t *testing.T) {
	l := open(t)
	program := l.dir + "/onprem-coredns"
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../cmd/onprem-coredns", "-o", program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	if err := os.WriteFile(l.dir+"/Corefile", []byte(corefile), 0o644); err != nil {
		t.Fatal(err)
	}
	server := l.add("server", "192.0.2.90/24", "2001:db8::90/64")
	log, err := os.Create(l.dir + "/coredns.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	coredns := server.Command(t.Context(), program, "-conf", l.dir+"/Corefile")
	coredns.Stdout, coredns.Stderr = log, log
	if err := coredns.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = coredns.Wait() // it was killed when the test's context ended
		if text, err := os.ReadFile(l.dir + "/coredns.log"); t.Failed() && err == nil {
			t.Logf("CoreDNS says:\n%s", text)
		}
	})
	ask := func(name string, kind uint16) string {
		conn, err := server.Dial(t.Context(), "udp", "192.0.2.90:53")
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		reply, _, err := new(dns.Client).ExchangeWithConn(new(dns.Msg).SetQuestion(name, kind), &dns.Conn{Conn: conn})
		if err != nil {
			return "no answer"
		}
		var all []string
		for _, rr := range reply.Answer {
			switch rr := rr.(type) {
			case *dns.A:
				all = append(all, rr.A.String())
			case *dns.AAAA:
				all = append(all, rr.AAAA.String())
			case *dns.SRV:
				all = append(all, fmt.Sprint(rr.Target, rr.Port))
			case *dns.PTR:
				all = append(all, rr.Ptr)
			}
		}
		return fmt.Sprint(dns.RcodeToString[reply.Rcode], all)
	}
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
