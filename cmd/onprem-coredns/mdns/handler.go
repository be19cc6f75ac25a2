package mdns

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/dnsutil"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"
)

const (
	// mostTTL is how long an answer is believed at most: a host may say goodbye at any time.
	mostTTL   = 60
	srvWeight = 10
)

// known is what all ears have heard. It is replaced as a whole: no query waits for an ear.
type known struct {
	hosts   map[string]host // by first label
	members []member        // of etcd
	names   map[netip.Addr]string
}

// host is one that announces itself.
type host struct {
	addresses []netip.Addr
	until     time.Time
}

// member is where a member of etcd is.
type member struct {
	host string
	port uint16
}

// handler answers from what is known, and leaves everything else to the next plugin.
type handler struct {
	settings
	ears atomic.Pointer[ears] // nil before the start and after the end
	next plugin.Handler
}

// known is what the ears have heard, nil when they have heard nothing yet.
func (h *handler) known() *known {
	if e := h.ears.Load(); e != nil {
		return e.known.Load()
	}
	return nil
}

// Name is the directive's.
func (*handler) Name() string { return Name }

// ServeDNS answers for hosts of the zone that have announced themselves. A host's name has no
// records but addresses, so that any other type is answered by none; a name that nobody has
// announced is for the next plugin.
func (h *handler) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	state := request.Request{W: w, Req: r}
	k := h.known()
	if k == nil || state.QClass() != dns.ClassINET {
		return plugin.NextOrFailure(Name, h.next, ctx, w, r)
	}
	m := new(dns.Msg).SetReply(r)
	m.Authoritative, m.RecursionAvailable = true, true
	label, in := strings.CutSuffix(strings.ToLower(state.Name()), "."+h.zone)
	one, found := k.hosts[label]
	switch {
	case in && found && time.Now().Before(one.until):
		m.Answer = one.records(state.QName(), state.QType())
	case in && label == "_etcd-server-ssl._tcp" && (state.QType() == dns.TypeSRV || state.QType() == dns.TypeANY) && len(k.members) >= max(h.least, 1):
		m.Answer, m.Extra = h.etcd(k, state.QName())
	case state.QType() == dns.TypePTR && k.names[reversed(state.Name())] != "":
		m.Answer = []dns.RR{&dns.PTR{Hdr: header(state.QName(), dns.TypePTR, mostTTL), Ptr: k.names[reversed(state.Name())] + "." + h.zone}}
	default:
		fallen.Inc()
		return plugin.NextOrFailure(Name, h.next, ctx, w, r)
	}
	if len(m.Answer) == 0 {
		m.Ns = []dns.RR{&dns.SOA{Hdr: header(h.zone, dns.TypeSOA, 30), Ns: h.zone, Mbox: "nobody.invalid.", Serial: 1, Refresh: 3600, Retry: 1200, Expire: 604800, Minttl: 30}}
	}
	answered.Inc()
	return dns.RcodeSuccess, w.WriteMsg(m)
}

func header(name string, kind uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
}

// reversed is the address that a name of the way back stands for, the zero value for any other.
func reversed(name string) netip.Addr {
	a, _ := netip.ParseAddr(dnsutil.ExtractAddressFromReverse(name))
	return a
}

// records are a host's addresses of the type that is asked for.
func (o host) records(name string, kind uint16) (rrs []dns.RR) {
	ttl := uint32(min(max(time.Until(o.until)/time.Second, 1), mostTTL))
	for _, a := range o.addresses {
		switch {
		case a.Is4() && (kind == dns.TypeA || kind == dns.TypeANY):
			rrs = append(rrs, &dns.A{Hdr: header(name, dns.TypeA, ttl), A: net.IP(a.AsSlice())})
		case a.Is6() && (kind == dns.TypeAAAA || kind == dns.TypeANY):
			rrs = append(rrs, &dns.AAAA{Hdr: header(name, dns.TypeAAAA, ttl), AAAA: net.IP(a.AsSlice())})
		}
	}
	return rrs
}

// etcd are its members and their addresses. Nobody may keep the list: the next question may have
// another answer.
func (h *handler) etcd(k *known, name string) (answer, extra []dns.RR) {
	for _, m := range k.members {
		target := m.host + "." + h.zone
		answer = append(answer, &dns.SRV{Hdr: header(name, dns.TypeSRV, 0), Weight: srvWeight, Port: m.port, Target: target})
		extra = append(extra, k.hosts[m.host].records(target, dns.TypeANY)...)
	}
	return answer, extra
}
