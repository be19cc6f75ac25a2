package avahi

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const (
	zone   = "ostest.example.com"
	srv    = "_etcd-server-ssl._tcp." + zone + "."
	server = "192.0.2.90"
)

// withResolver runs a program that has a resolv.conf of its own.
const withResolver = `mount --bind "$1" /etc/resolv.conf; shift; exec "$@"`

// member is one of etcd's on a host of its own.
type member struct {
	l       *link
	host    *lab.Host
	name    string
	address string
	log     string
	cmd     *exec.Cmd
}

// start runs etcd, which is told nothing of the others but the domain to look them up in.
func (m *member) start() {
	m.l.t.Helper()
	dir := filepath.Join(m.l.dir, "etcd-"+m.name)
	resolver := filepath.Join(m.l.dir, m.name+".resolv.conf")
	m.log = filepath.Join(m.l.dir, m.name+".etcd.log")
	if err := os.WriteFile(resolver, []byte("nameserver "+server+"\n"), 0o644); err != nil {
		m.l.t.Fatal(err)
	}
	log, err := os.Create(m.log)
	if err != nil {
		m.l.t.Fatal(err)
	}
	own := m.name + "." + zone
	ctx, end := context.WithCancel(context.WithoutCancel(m.l.t.Context()))
	m.cmd = m.host.Command(ctx, "unshare", "--mount", "--propagation", "private", "sh", "-euc", withResolver, "sh", resolver,
		"etcd", "--name="+m.name, "--data-dir="+dir, "--discovery-srv="+zone, "--initial-cluster-state=new", "--initial-cluster-token="+zone,
		"--peer-auto-tls", "--initial-advertise-peer-urls=https://"+own+":2380", "--listen-peer-urls=https://"+m.address+":2380",
		"--advertise-client-urls=http://"+own+":2379", "--listen-client-urls=http://"+m.address+":2379,http://127.0.0.1:2379")
	m.cmd.Env = append(os.Environ(), "GODEBUG=netdns=go")
	m.cmd.Stdout, m.cmd.Stderr = log, log
	err = m.cmd.Start()
	_ = log.Close() // etcd has it
	if err != nil {
		end()
		m.l.t.Fatal(err)
	}
	m.l.t.Cleanup(func() {
		end()
		_ = m.cmd.Wait() // it was killed
		if m.l.t.Failed() {
			m.l.t.Logf("etcd on %s says:\n%s", m.name, m.logText())
		}
	})
}

func (m *member) logText() string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// ctl asks etcd through this member.
func (m *member) ctl(args ...string) string {
	ctx, cancel := context.WithTimeout(m.l.t.Context(), 10*time.Second)
	defer cancel()
	cmd := m.host.Command(ctx, "etcdctl", append([]string{"--endpoints=http://127.0.0.1:2379", "--dial-timeout=2s", "--command-timeout=4s"}, args...)...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return string(out)
}

// TestEtcd has a real etcd of three members find itself by our DNS, where nobody has an API: by
// nothing but the domain, once all three have announced themselves, and not before.
func TestEtcd(t *testing.T) {
	need.Command(t, "etcd")
	need.Command(t, "etcdctl")
	l := open(t)
	ask := l.coredns(l.add("server", server+"/24", "2001:db8::90/64"), string(corefile.Render(corefile.Config{Zone: zone, Announced: &corefile.Announced{
		Cluster: "ostest", Members: 3, On: netip.MustParseAddr(server), Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
	}})))
	const partial = "SERVFAIL[]" // there is no next plugin
	l.until("CoreDNS starts", patient, func() bool { return ask(srv, dns.TypeSRV) == partial })
	var members []*member
	for i := range 3 {
		address := fmt.Sprintf("192.0.2.%d", 10+i)
		m := &member{l: l, host: l.add(fmt.Sprintf("m%d", i), address+"/24", fmt.Sprintf("2001:db8::%d/64", 10+i)), name: fmt.Sprintf("master-%d", i), address: address}
		n := l.node(m.host, m.name, role.Master)
		n.agreed(address, fmt.Sprintf("2001:db8::%d", 10+i))
		if i == 2 {
			l.early(members, ask, partial)
		}
		n.start()
		l.until("the node is known", patient, func() bool { return ask(m.name+"."+zone+".", dns.TypeA) == "NOERROR["+address+"]" })
		members = append(members, m)
	}
	want := "NOERROR[master-0." + zone + ".2380 master-1." + zone + ".2380 master-2." + zone + ".2380]"
	l.until("etcd's list is whole", patient, func() bool { return ask(srv, dns.TypeSRV) == want })
	for _, m := range members {
		m.start()
	}
	t.Logf("etcd of three members %v after its start", l.until("etcd has three members that are well", time.Minute, func() bool {
		return strings.Count(members[0].ctl("member", "list"), "started") == 3
	}))
	if got := members[0].ctl("put", "found", "by-dns"); got != "OK\n" {
		t.Errorf("write by one member: %s", got)
	}
	if got := members[2].ctl("get", "--print-value-only", "found"); got != "by-dns\n" {
		t.Errorf("read by another one: %s", got)
	}
}

// early holds that a list in part makes no cluster: etcd that is started too soon ends, and leaves
// nothing that a later start would go by.
func (l *link) early(members []*member, ask func(string, uint16) string, partial string) {
	l.t.Helper()
	if got := ask(srv, dns.TypeSRV); got != partial {
		l.t.Errorf("two members of three are answered: %s", got)
	}
	early := *members[0]
	early.start()
	done := make(chan error, 1)
	go func() { done <- early.cmd.Wait() }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(early.logText(), "SRV") {
			l.t.Errorf("etcd before its list is whole: %v\n%s", err, early.logText())
		}
	case <-time.After(patient):
		l.t.Errorf("etcd runs before its list is whole:\n%s", early.logText())
	}
}
