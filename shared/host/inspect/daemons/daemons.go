// Package daemons inspects the programs of a live host, and the API servers and name servers that
// they depend on.
package daemons

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Inspector inspects the daemons of a host.
type Inspector struct {
	inspect.Scope
	Probes
}

// Probes are the sources of facts other than files. A test replaces them.
type Probes struct {
	Alive      func(ctx context.Context, number uint16, path string) error // a server of this host
	Backends   func(ctx context.Context) ([]haproxy.Stat, error)
	Structure  func(ctx context.Context) (string, error) // HAProxy's running configuration
	Redirected func() (bool, error)
	Server     func(ctx context.Context, address string) (health.API, string)
	Check      func(ctx context.Context, check vrrp.CheckName) (health.Finding, string)
	Rights     func(ctx context.Context, r role.Role) ([]inspect.MissingRight, error)

	// Lookup and Text ask this host's name server.
	Lookup   func(ctx context.Context, name string) ([]netip.Addr, error)
	Text     func(ctx context.Context, name string) ([]string, error)
	LookupAt func(ctx context.Context, server netip.Addr, name string) ([]netip.Addr, error)
}

// within bounds a probe.
func within[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
	defer cancel()
	return ask(ctx)
}

// healthz asks a program of ours whether it is healthy.
func (i Inspector) healthz(ctx context.Context, name string) (fault string) {
	ctx, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
	defer cancel()
	if err := i.Alive(ctx, i.Plan.Ports[name], "/healthz"); err != nil {
		return err.Error()
	}
	return ""
}

// Keepalived is keepalived's status, and whether its supervisor answers.
func (i Inspector) Keepalived(ctx context.Context, status supervised.Status) *facts.Keepalived {
	there, err := i.Files.Exists(supervised.RunDir + "/" + supervised.StatusFile)
	if err != nil {
		return nil // it is reported with the VIPs
	}
	k := &facts.Keepalived{
		Wanted: i.RunsVIP(), Started: there, Running: status.PID != 0,
		Applied: status.Applied, Heartbeat: !status.MonitorStale, Troubles: status.Troubles,
	}
	if status.Refused != nil {
		k.Refusal = status.Refused.Output
	}
	if i.Role != role.Bootstrap { // podman asks there, and no port is open
		k.Fault = i.healthz(ctx, port.Supervise)
	}
	return k
}

// Monitors are the monitors of this node's daemons. On the bootstrap machine systemd and the
// daemons' units replace them.
func (i Inspector) Monitors(ctx context.Context) (out []facts.Monitor) {
	if i.Role == role.Bootstrap {
		return nil
	}
	type monitor struct {
		name, port string
		runs       bool
	}
	beside := "keepalived"
	if !i.Rooms.VIP {
		beside = "speaker"
	}
	all := []monitor{
		{"vip (container " + beside + "-monitor)", port.MonitorVIP, i.RunsVIP() || i.Speaks()},
		{"lb (container haproxy-monitor)", port.MonitorLB, i.Rooms.LB},
		{"dns (container coredns-monitor)", port.MonitorDNS, i.Rooms.DNS},
		{"dhcp (container dnsmasq-monitor)", port.MonitorDHCP, i.Rooms.Boots},
	}
	out = make([]facts.Monitor, len(all))
	inspect.Each(all, func(n int, m monitor) {
		if m.runs {
			out[n] = facts.Monitor{Name: m.name, Fault: i.healthz(ctx, m.port)}
		}
	})
	return slices.DeleteFunc(out, func(m facts.Monitor) bool { return m.Name == "" })
}

// Balancer is this node's HAProxy, and whether connections are redirected to it.
func (i Inspector) Balancer(ctx context.Context) (b *facts.Balancer, redirected *bool) {
	if !i.Rooms.LB {
		return nil, nil
	}
	b = &facts.Balancer{}
	stats, err := within(ctx, i.Backends)
	if err != nil {
		b.Fault = err.Error()
	}
	for _, s := range stats {
		switch {
		case s.Disabled():
		case haproxy.IsIronic(s.Backend):
			b.Ironic = append(b.Ironic, facts.IronicPod{Of: s.Backend, Address: s.Address,
				Up: s.Up(), Check: s.Check})
		case s.Backend == haproxy.Masters && s.Up():
			b.Up = append(b.Up, s.Server)
		}
	}
	present, err := i.Redirected()
	if err != nil {
		i.Unseen.Add("the redirect to the balancer", err)
		return b, nil
	}
	return b, &present
}

// Servers asks every API server of the control plane, as the balancers do.
func (i Inspector) Servers(ctx context.Context, all []netip.AddrPort) (out []facts.Server) {
	if i.Role == role.Bootstrap {
		return nil // there are none while it is needed
	}
	out = make([]facts.Server, len(all))
	inspect.Each(all, func(n int, at netip.AddrPort) {
		bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
		defer cancel()
		state, why := i.Server(bound, at.String())
		if state == health.Unknown {
			i.Unseen.Add("whether API servers work", errors.New(why))
			return
		}
		out[n] = facts.Server{
			Address: at, Ready: state == health.Ready, Why: fmt.Sprintf("%s: %s", state, why),
		}
	})
	return slices.DeleteFunc(out, func(s facts.Server) bool { return !s.Address.IsValid() })
}

// Checks are the health checks of this node, as its monitor has tracked them, and as they are now.
func (i Inspector) Checks(ctx context.Context) (out []facts.Check) {
	if i.Role == role.Bootstrap || !i.RunsVIP() {
		return nil
	}
	weights := election.Weights(i.Plan, i.Role)
	out = make([]facts.Check, len(weights))
	inspect.Each(weights, func(n int, w vrrp.Weight) {
		bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
		defer cancel()
		found, why := i.Check(bound, w.Check)
		if found == health.Untold {
			i.Unseen.Add("the check "+string(w.Check), errors.New(why))
			return
		}
		out[n] = facts.Check{
			Name: w.Check, Tracked: i.Files.Tracked(w.Check, w.Fault),
			Passes: found == health.Passed, Why: why,
		}
	})
	out = slices.DeleteFunc(out, func(c facts.Check) bool { return c.Name == "" })
	slices.SortFunc(out, func(a, b facts.Check) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// MissingRights are those that the API does not grant to this node. A bootstrap machine uses an
// administrator's credentials.
func (i Inspector) MissingRights(ctx context.Context) (out []facts.Right) {
	if i.Role == role.Bootstrap {
		return nil
	}
	missing, err := i.Rights(ctx, i.Role)
	i.Unseen.Add("the rights of this node", err)
	for _, m := range missing {
		out = append(out, facts.Right{What: m.Right, Without: m.Without, Do: cluster.Remedy})
	}
	return out
}

// Running are the running configurations of this host's daemons beside their files. A daemon whose
// running configuration is not known is left out.
func (i Inspector) Running(ctx context.Context) (out []facts.Running) {
	for _, d := range []struct {
		name, path string
		here       bool
		digest     func(text []byte) (is, header string)
		loaded     func(ctx context.Context) (string, error)
	}{
		{"keepalived", inspect.KeepalivedConf, i.RunsVIP(), keepalivedDigest, i.keepalivedLoaded},
		{"HAProxy", haproxy.File, i.Rooms.LB, haproxy.Digest, i.haproxyLoaded},
		{"CoreDNS", dns.Config, i.Rooms.DNS, corefile.Digest, i.coreDNSLoaded},
	} {
		if !d.here {
			continue
		}
		loaded, err := within(ctx, d.loaded)
		if err != nil {
			i.Unseen.Add("what "+d.name+" runs on", err)
			continue
		}
		text, err := i.Files.Optional(d.path)
		i.Unseen.Add("what "+d.name+" is to run on", err)
		if text == nil || err != nil {
			continue
		}
		r := facts.Running{Daemon: d.name, Path: d.path, Loaded: loaded}
		r.Disk, r.Header = d.digest(text)
		out = append(out, r)
	}
	return out
}

func keepalivedDigest(text []byte) (is, header string) { return supervised.Digest(text), "" }

// keepalivedLoaded is empty if the supervisor's status cannot be read, which is reported elsewhere.
func (i Inspector) keepalivedLoaded(context.Context) (string, error) {
	status, err := i.Files.Supervisor()
	if err != nil {
		return "", nil
	}
	return status.Applied, nil
}

var errNotReported = errors.New("it does not report it")

// haproxyLoaded is what HAProxy reports on its socket, and its backends of now.
func (i Inspector) haproxyLoaded(ctx context.Context) (string, error) {
	structure, err := i.Structure(ctx)
	if err != nil {
		return "", err
	}
	stats, err := i.Backends(ctx)
	if err != nil {
		return "", err
	}
	is, ok := haproxy.Running(structure, stats)
	if !ok || is == "" {
		return "", errNotReported
	}
	return is, nil
}

// coreDNSLoaded is what the program at CoreDNS's port reports. A CoreDNS of an earlier release, or
// of others, reports nothing.
func (i Inspector) coreDNSLoaded(ctx context.Context) (string, error) {
	texts, err := i.Text(ctx, string(corefile.Running))
	if err != nil {
		return "", err
	}
	if len(texts) != 1 {
		return "", errNotReported
	}
	return texts[0], nil
}
