//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// probed is the first label of names that are asked for below a wildcard.
const probed = "onprem-infra-doctor."

// resolver is the first file that names a server, as our CoreDNS takes it, and what the servers in
// it say of the cluster's names.
func (l *doctorLook) resolver(ctx context.Context, f *facts.Facts) {
	self := map[netip.Addr]bool{}
	for _, v := range l.plan.VIPs.All() {
		self[v] = true
	}
	for _, k := range f.Host.Links.Links {
		for _, a := range k.Addresses {
			self[a.Prefix.Addr()] = true
		}
	}
	const last = "/etc/resolv.conf"
	r := &facts.Resolver{Path: last}
	var usable []netip.Addr
	for _, path := range resolvers {
		text, err := os.ReadFile(l.host.at(path))
		if err != nil {
			continue // most hosts have one of them
		}
		conf := resolvconf.Parse(text)
		if path != last || !l.live { // there a node of a cluster stands first, rightly
			for _, s := range conf.Nameservers {
				if self[s.WithZone("")] && !s.IsLoopback() {
					r.Path, r.Self = path, append(r.Self, s)
				}
			}
		}
		if usable = resolvconf.Upstreams(conf, func(a netip.Addr) bool { return self[a] }); len(usable) > 0 {
			if len(r.Self) == 0 {
				r.Path = path
			}
			break
		}
	}
	f.Names.Resolver = r
	for _, server := range usable[:min(len(usable), mostServers)] {
		l.outside(ctx, f, r, server)
	}
}

// outside asks one name server for the names by which who is outside reaches the cluster.
func (l *doctorLook) outside(ctx context.Context, f *facts.Facts, r *facts.Resolver, server netip.Addr) {
	for i, record := range l.plan.Records {
		name, inside := string(record.Name), "api-int."+string(l.plan.Cluster.Zone)
		if name == inside {
			continue // nobody outside needs it
		}
		if record.Wildcard {
			name = probed + name
		}
		bound, cancel := context.WithTimeout(ctx, doctorWithin)
		got, err := l.asks.name(bound, server, name)
		cancel()
		var refused probe.Refusal
		switch {
		case err == nil, errors.As(err, &refused):
			if i == 0 {
				r.Alive++
			}
		default:
			r.Dead = append(r.Dead, fmt.Sprintf("%s: %v", server, err))
			return
		}
		if err == nil || refused == probe.NoSuchName {
			f.Names.Outside = append(f.Names.Outside, facts.Answer{Server: server.String(), Name: name, Want: record.Addresses, Got: got})
		} else {
			l.unseen(fmt.Sprintf("what %s says of %s", server, name), err)
		}
	}
}

// answers are what this host's own name server says of the cluster's names.
func (l *doctorLook) answers(ctx context.Context, f *facts.Facts, kind role.Role) {
	if !l.rooms(kind).DNS {
		return
	}
	for _, record := range l.plan.Records {
		name := string(record.Name)
		if record.Wildcard {
			name = probed + name
		}
		bound, cancel := context.WithTimeout(ctx, doctorWithin)
		got, err := l.name(bound, name)
		cancel()
		var refused probe.Refusal
		if err != nil && !errors.As(err, &refused) {
			f.Names.Fault = err.Error()
			return
		}
		f.Names.Own = append(f.Names.Own, facts.Answer{Server: "127.0.0.1", Name: name, Want: slices.Clone(record.Addresses), Got: got})
	}
}
