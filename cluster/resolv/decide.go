package resolv

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
)

// Snapshot is the input of the decision. A file that does not exist is nil.
type Snapshot struct {
	NetworkManager []byte
	Environment    []byte
	FQDN           []byte
	Current        []byte
	Hostname       []byte
	Marked         bool
	Node           netip.Addr // the zero value while it is not known
	NodeWhy        string     // why it is not
	Managed        bool       // NetworkManager is enabled, and may not have written its file yet
	Resolved       bool       // systemd-resolved is enabled
}

// Desired is the wanted state of the machine.
type Desired struct {
	ResolvConf []byte // nil: it stays as it is
	DropIn     []byte // nil: nothing to write
	Hostname   string // empty: it stays as it is
	Done       bool   // kubelet may start; otherwise the room waits for something
	Marked     bool   // the marker exists since an earlier round of this boot
}

// Observe reads the files. An unknown address of the node is no error, as other steps do not need
// it.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	var s Snapshot
	var marker []byte
	for path, text := range map[string]*[]byte{
		NetworkManager: &s.NetworkManager, Environment: &s.Environment, FQDN: &s.FQDN,
		Config: &s.Current, Hostname: &s.Hostname, r.names.ResolvMarker: &marker,
	} {
		var err error
		if *text, err = r.host.Read(path); err != nil {
			return Snapshot{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	s.Marked = marker != nil
	var err error
	for service, is := range map[string]*bool{Manager: &s.Managed, Resolver: &s.Resolved} {
		if *is, err = r.host.Enabled(service); err != nil {
			return Snapshot{}, fmt.Errorf("ask whether %s is enabled: %w", service, err)
		}
	}
	if s.Node, err = r.host.NodeIP(); err != nil {
		s.Node, s.NodeWhy = netip.Addr{}, err.Error()
	}
	return s, nil
}

// Decide computes the wanted state. A file with a name server is replaced only by another one with
// a name server: a late lease, or an unknown address of the node, must not remove present servers.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := Desired{Hostname: hostname(s), Marked: s.Marked}
	own := resolvconf.Own{Header: r.header, Server: s.Node, Search: r.plan.Cluster.Zone}
	origin, from := s.NetworkManager, NetworkManager
	if origin == nil && !s.Managed { // without NetworkManager resolv.conf is the operator's
		origin, from = s.Current, Config
	}
	known := resolvconf.Usable(origin)
	d.Done = known && s.Node.IsValid()
	var why loop.Reasons
	if !known {
		why = append(why, "wait for a name server in "+from)
	}
	if !s.Node.IsValid() {
		why = append(why, "wait for the node's address: "+s.NodeWhy)
	}
	switch {
	case s.Resolved:
		if s.Node.IsValid() {
			d.DropIn = resolvconf.Resolved(own, domains(s.Environment))
			why = append(why, fmt.Sprintf("systemd-resolved asks %v", s.Node))
		}
	case d.Done, known && !resolvconf.Usable(s.Current):
		d.ResolvConf = resolvconf.Prepend(origin, own)
		why = append(why,
			fmt.Sprintf("%s first, then those of %s",
				loop.List(resolvconf.Parse(d.ResolvConf).Nameservers), from))
	}
	return d, why
}

// domains are the valid search domains that NetworkManager received.
func domains(environment []byte) []record.Name {
	var all []record.Name
	for _, key := range []string{"IP4_DOMAINS", "IP6_DOMAINS"} {
		for _, word := range strings.Fields(variable(environment, key)) {
			if name, err := record.ParseName(word); err == nil && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// variable is the value of the last line KEY=VALUE.
func variable(environment []byte, key string) (value string) {
	for line := range strings.Lines(string(environment)) {
		if v, ok := strings.CutPrefix(line, key+"="); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// nameless is the default host name of a machine.
const nameless = "localhost.localdomain"

// hostname is the name that DHCPv6 gave, for a machine without a name. A configured name is never
// changed.
func hostname(s Snapshot) string {
	chosen := strings.TrimSpace(string(s.Hostname))
	given, err := record.ParseName(strings.TrimSpace(string(s.FQDN)))
	if chosen != "" && chosen != nameless || err != nil || !strings.Contains(string(given), ".") ||
		given == nameless {
		return ""
	}
	return string(given)
}
