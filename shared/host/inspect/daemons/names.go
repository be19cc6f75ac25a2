package daemons

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
)

// maxNameServers bounds how many name servers are asked.
const maxNameServers = 4

const label = "onprem-infra-doctor" // below a wildcard

// Upstreams are the name servers behind this host's own, and their answers.
func (i Inspector) Upstreams(ctx context.Context) (r *facts.Resolver, answers []facts.Answer) {
	r, usable := i.resolver()
	if r != nil {
		r.Unasked = len(i.Plan.Records) == 0
	}
	for _, server := range usable[:min(len(usable), maxNameServers)] {
		answers = append(answers, i.outside(ctx, r, server)...)
	}
	return r, answers
}

// resolver is the first file that names a usable server, as our CoreDNS uses it, and the servers.
func (i Inspector) resolver() (r *facts.Resolver, usable []netip.Addr) {
	self := func(a netip.Addr) bool {
		return i.Host.Links.LinkOf(a) != "" || slices.Contains(i.Plan.VIPs.All(), a)
	}
	const last = "/etc/resolv.conf"
	r = &facts.Resolver{Path: last}
	files, err := i.Files.Resolvers()
	if err != nil {
		i.Unseen.Add("the host's name servers", err)
		return nil, nil
	}
	for _, f := range files {
		conf := resolvconf.Parse(f.Text)
		if f.Path != last || !i.Live { // a live host has its own address first there
			for _, s := range conf.Nameservers {
				if self(s) && !s.IsLoopback() {
					r.Path, r.Self = f.Path, append(r.Self, s)
				}
			}
		}
		usable = resolvconf.Upstreams(conf, self)
		if len(usable) > 0 {
			if len(r.Self) == 0 {
				r.Path = f.Path
			}
			break
		}
	}
	r.Rest = usable
	return r, usable
}

// outside asks a name server of the network for the names that clients outside the cluster use.
func (i Inspector) outside(
	ctx context.Context, r *facts.Resolver, server netip.Addr,
) (out []facts.Answer) {
	alive := false
	for _, record := range i.Plan.Records {
		if string(record.Name) == "api-int."+string(i.Plan.Cluster.Zone) {
			continue // clients outside do not need it
		}
		name := inspect.Question(record, label)
		got, err := within(ctx, func(ctx context.Context) ([]netip.Addr, error) {
			return i.LookupAt(ctx, server, name)
		})
		var refused probe.Refusal
		if err != nil && !errors.As(err, &refused) {
			r.Dead = append(r.Dead, fmt.Sprintf("%s: %v", server, err))
			return out
		}
		if !alive {
			alive = true
			r.Alive++
		}
		if err == nil || refused == probe.NoSuchName {
			out = append(out,
				facts.Answer{Server: server.String(), Name: name, Want: record.Addresses, Got: got})
		} else {
			i.Unseen.Add(fmt.Sprintf("the answer of %s for %s", server, name), err)
		}
	}
	return out
}

// Own are the answers of this host's own name server, or why it does not answer.
func (i Inspector) Own(ctx context.Context) (out []facts.Answer, fault string) {
	if !i.Rooms.DNS {
		return nil, ""
	}
	for _, record := range i.Plan.Records {
		name := inspect.Question(record, label)
		got, err := within(ctx, func(ctx context.Context) ([]netip.Addr, error) {
			return i.Lookup(ctx, name)
		})
		var refused probe.Refusal
		if err != nil && !errors.As(err, &refused) {
			return out, err.Error()
		}
		out = append(out,
			facts.Answer{Server: "127.0.0.1", Name: name, Want: record.Addresses, Got: got})
	}
	return out, ""
}
