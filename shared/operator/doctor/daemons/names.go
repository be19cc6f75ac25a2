package daemons

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// UpstreamSelf finds name servers behind this host's that are this host, or a VIP.
func UpstreamSelf(f facts.Facts) []facts.Fault {
	r := f.Names.Resolver
	if r == nil || len(r.Self) == 0 {
		return nil
	}
	return []facts.Fault{{
		Subject: "the name servers in " + r.Path,
		Seen: facts.List(r.Self) +
			" is this host, or a VIP of its cluster: a query would loop, so it is not asked",
		Do: "have DHCP, or the host's network configuration, name the network's own name servers",
	}}
}

// Upstream finds name servers behind this host's that do not answer.
func Upstream(f facts.Facts) []facts.Fault {
	r := f.Names.Resolver
	if r == nil || r.Alive > 0 && len(r.Dead) == 0 {
		return nil
	}
	found := facts.Fault{Subject: "the name servers in " + cmp.Or(r.Path, "resolv.conf")}
	switch {
	case r.Alive > 0:
		found.Seen = "not all answer: " + strings.Join(r.Dead, "; ")
		found.Do = "fix that server, or remove it from the host's network configuration: a " +
			"program that asks it first waits seconds for each name"
	case len(r.Dead) > 0:
		found.Seen = "none answers: " + strings.Join(r.Dead, "; ")
		found.Do = "see that they run and are reached from here: names beyond the cluster are " +
			"not resolved"
	default:
		found.Seen = "none is named that could be asked"
		found.Do = "have DHCP, or the host's network configuration, name one: names beyond the " +
			"cluster are not resolved"
	}
	return []facts.Fault{found}
}

// CoreDNS finds that this host's own name server does not answer.
func CoreDNS(f facts.Facts) []facts.Fault {
	if f.Names.Fault == "" {
		return nil
	}
	return []facts.Fault{{
		Subject: "this host's own name server, CoreDNS",
		Seen:    "it does not answer: " + f.Names.Fault,
		Do: "read the log of the container coredns; see which program listens at port 53 " +
			"(ss -lpn 'sport = :53')",
	}}
}

// right reports whether an answer has the addresses that it should, in any order.
func right(a facts.Answer) bool {
	sorted := func(list []netip.Addr) []netip.Addr {
		return slices.SortedFunc(slices.Values(list), netip.Addr.Compare)
	}
	return slices.Equal(sorted(a.Got), sorted(a.Want))
}

func answered(a facts.Answer) string {
	return fmt.Sprintf("it is %s, and should be %s",
		cmp.Or(facts.List(a.Got), "unknown"), cmp.Or(facts.List(a.Want), "none"))
}

// Names finds wrong answers of this host's own name server.
func Names(f facts.Facts) (out []facts.Fault) {
	for _, a := range f.Names.Own {
		if !right(a) {
			out = append(out, facts.Fault{
				Subject: "the name " + a.Name + " by this host's CoreDNS", Seen: answered(a),
				Do: "read the log of the container coredns-monitor, and see /etc/coredns/Corefile",
			})
		}
	}
	return out
}

// Outside finds wrong answers of the network's name servers. That they do not know a name is a
// fault before the cluster exists: afterwards its hosts do not need them.
func Outside(f facts.Facts) (out []facts.Fault) {
	for _, a := range f.Names.Outside {
		if right(a) || len(a.Got) == 0 && f.Live {
			continue
		}
		out = append(out, facts.Fault{
			Subject: fmt.Sprintf("the name %s by %s", a.Name, a.Server), Seen: answered(a),
			Do: "fix the record on that server: clients outside the cluster use it",
		})
	}
	return out
}
