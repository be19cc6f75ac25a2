package mdns

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/dnsutil"
	"github.com/coredns/coredns/request"
	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

const (
	// mostTTL is the longest TTL of an answer in seconds: a host may send a goodbye at any time.
	mostTTL   = 60
	srvWeight = 10
)

// known is what a listener has received. It is replaced as a whole, so no query waits.
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
	listener atomic.Pointer[listener] // nil before the start and after the end
	next     plugin.Handler
}

// known is what was received; nil if nothing was yet.
func (h *handler) known() *known {
	if l := h.listener.Load(); l != nil {
		return l.known.Load()
	}
	return nil
}

// Name is the directive's.
func (*handler) Name() string { return Name }

// ServeDNS answers for hosts of the zone that have announced themselves. A host's name has only
// addresses, so the answer for any other type is empty. A name that no host has announced is for
// the next plugin.
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
	service := state.QType() == dns.TypeSRV || state.QType() == dns.TypeANY
	reverse := ""
	if state.QType() == dns.TypePTR {
		a, _ := netip.ParseAddr(dnsutil.ExtractAddressFromReverse(state.Name()))
		reverse = k.names[a]
	}
	switch {
	case in && found && time.Now().Before(one.until):
		m.Answer = one.records(state.QName(), state.QType())
	case in && label == "_etcd-server-ssl._tcp" && service && len(k.members) >= max(h.least, 1):
		m.Answer, m.Extra = h.etcd(k, state.QName())
	case reverse != "":
		header := header(state.QName(), dns.TypePTR, mostTTL)
		m.Answer = []dns.RR{&dns.PTR{Hdr: header, Ptr: reverse + "." + h.zone}}
	default:
		fallen.Inc()
		return plugin.NextOrFailure(Name, h.next, ctx, w, r)
	}
	if len(m.Answer) == 0 {
		m.Ns = []dns.RR{&dns.SOA{
			Hdr: header(h.zone, dns.TypeSOA, 30), Ns: h.zone, Mbox: "nobody.invalid.",
			Serial: 1, Refresh: 3600, Retry: 1200, Expire: 604800, Minttl: 30,
		}}
	}
	answered.Inc()
	return dns.RcodeSuccess, w.WriteMsg(m)
}

func header(name string, kind uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
}

// records are a host's addresses of the type that is asked for.
func (o host) records(name string, kind uint16) (rrs []dns.RR) {
	ttl := uint32(min(max(time.Until(o.until)/time.Second, 1), mostTTL))
	for _, a := range o.addresses {
		rr := wire.Address(header(name, dns.TypeNone, ttl), a)
		if kind == dns.TypeANY || kind == rr.Header().Rrtype {
			rrs = append(rrs, rr)
		}
	}
	return rrs
}

// etcd is an SRV record for each member of etcd, and their addresses. No resolver may cache the
// list: the next query may have another answer.
func (h *handler) etcd(k *known, name string) (answer, extra []dns.RR) {
	for _, m := range k.members {
		target := m.host + "." + h.zone
		answer = append(answer, &dns.SRV{
			Hdr: header(name, dns.TypeSRV, 0), Weight: srvWeight, Port: m.port, Target: target,
		})
		extra = append(extra, k.hosts[m.host].records(target, dns.TypeANY)...)
	}
	return answer, extra
}
