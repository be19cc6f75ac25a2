package poddns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	nodegoods "github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/apihost"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

const (
	zone   = "ostest.example.com."
	apiVIP = "192.0.2.5"
	apiAt  = "192.0.2.90"
)

// control are the labels of a control plane node.
var control = []string{"node-role.kubernetes.io/master"}

// cluster is a lab with a FAKE API, name servers and nodes.
type cluster struct {
	t   *testing.T
	lab *lab.Lab
	dir string
	api *apihost.API
}

func open(t *testing.T) *cluster {
	t.Helper()
	need.Root(t)
	for _, program := range []string{"runc", "catatonit"} {
		need.Command(t, program)
	}
	c := &cluster{t: t, lab: lab.New(t), dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", c.dir+"/onprem-infra", "-tags", "remote", "../../cmd/onprem-infra")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	coredns, err := cache.CoreDNS(t.Context())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs CoreDNS: %v", err))
	}
	for name, program := range map[string]string{"onprem-infra": c.dir + "/onprem-infra", "coredns": coredns} {
		if err := pods.Image(filepath.Join(c.dir, "image-"+name), map[string]string{"usr/bin/" + name: program}); err != nil {
			t.Fatal(err)
		}
	}
	c.api = apihost.Start(t, c.add("api", apiAt), apiAt, c.dir)
	return c
}

func (c *cluster) add(name string, addresses ...string) *lab.Host {
	c.t.Helper()
	var prefixes []netip.Prefix
	for _, a := range addresses {
		prefixes = append(prefixes, netip.PrefixFrom(netip.MustParseAddr(a), 24))
	}
	host, err := c.lab.Add(name, prefixes...)
	if err != nil {
		c.t.Fatal(err)
	}
	return host
}

func (c *cluster) until(what string, within time.Duration, done func() bool) time.Duration {
	c.t.Helper()
	begun := time.Now()
	for !done() {
		if time.Since(begun) > within {
			c.t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// node is a machine with the pod.
type node struct {
	*pods.Node
	c       *cluster
	address string
}

func (c *cluster) node(name string, r role.Role, address, resolver string) *node {
	c.t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr(apiVIP)}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.RuntimeCfgImage: "onprem-infra", spec.CoreDNSImage: "coredns", spec.KeepalivedImage: "none", spec.HAProxyImage: "none"},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	goods, err := nodegoods.Assets(p, r)
	if err != nil {
		c.t.Fatal(err)
	}
	images := map[string]string{"onprem-infra": filepath.Join(c.dir, "image-onprem-infra"), "coredns": filepath.Join(c.dir, "image-coredns")}
	machine, err := pods.New(c.add(name, address), filepath.Join(c.dir, name), images)
	if err != nil {
		c.t.Fatal(err)
	}
	n := &node{Node: machine, c: c, address: address}
	for _, f := range goods.Files() {
		if path.Base(f.Path) == "coredns.yaml" {
			err = errors.Join(err, n.Write(f))
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if err := n.Write(
		asset.File{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(p)},
		asset.File{Path: "/var/lib/kubelet/kubeconfig", Mode: 0o600, Contents: c.api.Kubeconfig(name)},
	); err != nil {
		c.t.Fatal(err)
	}
	n.resolver(resolver)
	n.start()
	c.t.Cleanup(func() {
		if c.t.Failed() {
			for _, container := range []string{"coredns-prepare", "coredns-monitor", "coredns"} {
				c.t.Logf("%s/%s says:\n%s", name, container, n.Log("coredns/"+container))
			}
		}
		if err := n.Stop(); err != nil {
			c.t.Error(err)
		}
	})
	return n
}

func (n *node) start() {
	n.c.t.Helper()
	ctx, cancel := context.WithTimeout(n.c.t.Context(), 30*time.Second)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		n.c.t.Fatalf("%v\n%s", err, n.Log("coredns/coredns-prepare"))
	}
}

// resolver is what NetworkManager says.
func (n *node) resolver(text string) {
	n.c.t.Helper()
	path := filepath.Join(n.Root, "run/NetworkManager/resolv.conf")
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(text), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		n.c.t.Fatal(err)
	}
}

// file is what stands on the disk.
func (n *node) file(path string) string {
	n.c.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.Root, path))
	if err != nil {
		n.c.t.Fatal(err)
	}
	return string(text)
}

// ask is the answer of the node's own CoreDNS: the first record, or the code. It repeats its
// question, as resolvers do: a busy machine drops a packet now and then.
func (n *node) ask(name string, kind uint16) string {
	conn, err := n.Host.Dial(n.c.t.Context(), "udp", net.JoinHostPort(n.address, "53"))
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	client, question := dns.Client{Timeout: 500 * time.Millisecond}, new(dns.Msg).SetQuestion(name, kind)
	reply, _, err := client.ExchangeWithConn(question, &dns.Conn{Conn: conn})
	for tries := 1; err != nil && tries < 10; tries++ {
		reply, _, err = client.ExchangeWithConn(question, &dns.Conn{Conn: conn})
	}
	if err != nil {
		return "no answer"
	}
	for _, rr := range reply.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			return rr.A.String()
		case *dns.AAAA:
			return rr.AAAA.String()
		case *dns.PTR:
			return rr.Ptr
		case *dns.TXT:
			return rr.Txt[0]
		}
	}
	return dns.RcodeToString[reply.Rcode]
}

// soon waits until a name has an answer.
func (n *node) soon(name string, kind uint16, want string, within time.Duration) time.Duration {
	n.c.t.Helper()
	last := ""
	begun := time.Now()
	for last = n.ask(name, kind); last != want; last = n.ask(name, kind) {
		if time.Since(begun) > within {
			n.c.t.Fatalf("%s on %s is %q after %v, want %q", name, n.Host.Name, last, within, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// upstream is a name server that answers TXT below forwarded.example with its own address and knows
// nothing else.
type upstream struct {
	address string
	asked   chan string // names in the zone
}

func (c *cluster) upstream(address string) *upstream {
	c.t.Helper()
	u := &upstream{address: address, asked: make(chan string, 100)}
	conn, err := c.add("upstream-"+address[strings.LastIndex(address, ".")+1:], address).ListenPacket(address + ":53")
	if err != nil {
		c.t.Fatal(err)
	}
	up := make(chan struct{})
	server := &dns.Server{PacketConn: conn, Handler: u, NotifyStartedFunc: func() { close(up) }}
	go func() { _ = server.ActivateAndServe() }() // it ends with the test
	<-up
	c.t.Cleanup(func() { _ = server.Shutdown() }) // nobody asks any more
	return u
}

func (u *upstream) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	question := query.Question[0]
	reply := new(dns.Msg).SetReply(query)
	name := strings.ToLower(question.Name)
	if strings.HasSuffix(name, zone) {
		select {
		case u.asked <- name:
		default:
		}
	}
	if strings.HasSuffix(name, ".forwarded.example.") && question.Qtype == dns.TypeTXT {
		reply.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}, Txt: []string{u.address}}}
	} else {
		reply.Rcode = dns.RcodeNameError
		reply.Ns = []dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 900}, Ns: "a.", Mbox: "b.", Minttl: 900}}
	}
	_ = w.WriteMsg(reply) // the asker notices
}
