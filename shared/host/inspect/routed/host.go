package routed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	reported "github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// HostProbes ask this host and its network. The caller sets Alive, as it knows how to ask this
// host's servers.
func HostProbes() Probes {
	return Probes{Ask: bgpprobe.Ask, Connect: bgpprobe.Connect, Echo: reach.Echo, MTU: mtu,
		Sockets: foreign, Sessions: sessions, Drops: drops, Filter: filter, UsedDown: usedDown,
		Sources: sources, Spread: spread.Ask, Pause: 2 * time.Second}
}

// mtu is 0 if it is not known.
func mtu(name string) int {
	on, err := net.InterfaceByName(name)
	if err != nil {
		return 0
	}
	return on.MTU
}

// speaker is the name of FRR's parent: what it has started is ours.
const speaker = "onprem-speak"

// ports are those of BGP, single-hop BFD and multihop BFD (RFC 4271; RFC 5881, 4; RFC 5883, 5).
var ports = map[string][]uint16{"tcp": {179}, "udp": {3784, 4784}}

// foreign are the sockets of other programs that receive at those ports.
func foreign() (out []facts.Socket, err error) {
	all, err := sockets.Listeners()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(l sockets.Listener) bool {
		return !slices.Contains(ports[l.Network], l.Local.Port())
	})
	var inodes []uint32
	for _, l := range all {
		inodes = append(inodes, l.Inode)
	}
	others := othersOf(inodes)
	for _, l := range all {
		owners, other := others[l.Inode]
		s := facts.Socket{Network: l.Network, Port: l.Local.Port(), Owners: owners}
		same := func(o facts.Socket) bool {
			return o.Network == s.Network && o.Port == s.Port && slices.Equal(o.Owners, s.Owners)
		}
		if other && !slices.ContainsFunc(out, same) { // one for each family
			out = append(out, s)
		}
	}
	return out, nil
}

// sessions are the connections of other programs with a router: Cilium and MetalLB open theirs, and
// receive at no port. A connection that no program has any more only ends.
func sessions(router netip.Addr) (out []facts.Socket, err error) {
	all, err := sockets.SessionsTo(router)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s sockets.Session) bool {
		return !slices.Contains(ports["tcp"], s.Remote.Port()) || s.Inode == 0
	})
	var inodes []uint32
	for _, s := range all {
		inodes = append(inodes, s.Inode)
	}
	others := othersOf(inodes)
	for _, s := range all {
		if owners, other := others[s.Inode]; other {
			out = append(out, facts.Socket{Network: "tcp", Port: s.Remote.Port(), Owners: owners,
				Router: router, From: s.Local.Addr()})
		}
	}
	return out, nil
}

// othersOf are the owners of other programs' sockets, in words. A socket whose owner is not seen
// counts as another program's.
func othersOf(inodes []uint32) map[uint32][]string {
	if len(inodes) == 0 {
		return nil
	}
	all, owners := map[uint32][]string{}, proc.Owners(inodes)
	for _, inode := range inodes {
		ours := func(o proc.Owner) bool { return o.Parent == speaker }
		if slices.ContainsFunc(owners[inode], ours) {
			continue
		}
		all[inode] = nil
		for _, o := range owners[inode] {
			all[inode] = append(all[inode], o.String())
		}
	}
	return all
}

// drops reads the kernel's counters of this network namespace.
func drops() (d facts.Drops, err error) {
	text, err := os.ReadFile("/proc/thread-self/net/netstat")
	if err != nil {
		return d, err
	}
	return readDrops(text)
}

// readDrops reads pairs of lines: the names of counters, and their values.
func readDrops(text []byte) (d facts.Drops, err error) {
	var names []string
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) == 0 || words[0] != "TcpExt:" {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for n, name := range names[:min(len(names), len(words))] {
			to := map[string]*uint64{"TCPMinTTLDrop": &d.TTL, "TCPMD5NotFound": &d.Unsigned,
				"TCPMD5Unexpected": &d.Signed, "TCPMD5Failure": &d.Differing}[name]
			if to == nil {
				continue
			}
			if *to, err = strconv.ParseUint(words[n], 10, 64); err != nil {
				return d, fmt.Errorf("read the counter %s: %w", name, err)
			}
		}
		return d, nil
	}
	return d, errors.New("the kernel has no counters of TCP")
}

// filter is rp_filter as the kernel applies it: the greater value of all links and of this one.
func filter(link string) (int, error) { return setting(link, "rp_filter") }

// usedDown reports whether the kernel uses routes over a link that has lost its carrier. It
// leaves them out if ignore_routes_with_linkdown is set for all links or for this one.
func usedDown(link string) (bool, error) {
	ignores, err := setting(link, "ignore_routes_with_linkdown")
	return err == nil && ignores == 0, err
}

// setting is the greater one of a setting of all links and of this one.
func setting(link, of string) (greatest int, err error) {
	for _, name := range []string{"all", link} {
		text, err := os.ReadFile("/proc/sys/net/ipv4/conf/" + name + "/" + of)
		if err != nil {
			return 0, err
		}
		value, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return 0, err
		}
		greatest = max(greatest, value)
	}
	return greatest, nil
}

func sources() (out []facts.Source, err error) {
	all, err := link.Sources()
	for _, s := range all {
		out = append(out, facts.Source{VIP: s.Address, Route: s.Route})
	}
	return out, err
}

// passwords are what is wrong with the file of passwords, nil without one, and what it has.
func (i Inspector) passwords() (p *facts.Passwords, all map[string]secret.Text) {
	info, err := os.Stat(i.Files.Path(spoken.PasswordsFile))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			i.Unseen.Add("the passwords of routers", err)
		}
		return nil, nil
	}
	p = &facts.Passwords{Path: spoken.PasswordsFile, Mode: info.Mode()}
	text, err := i.Files.Optional(spoken.PasswordsFile)
	if err != nil {
		i.Unseen.Add("the passwords of routers", err)
		return p, nil
	}
	err = announcing.CheckPasswords(*i.Plan.BGP, string(text))
	if unknown := (announcing.UnknownPeers{}); errors.As(err, &unknown) {
		p.Unknown = unknown.Names
	} else if err != nil {
		p.Fault = words(err)
	}
	all, _ = spoken.Passwords(string(text)) // what is wrong in it is in the fault
	return p, all
}

// isDown reports whether a session of a current report is not up.
func isDown(f *facts.Routed) func(reported.Router) bool {
	return func(r reported.Router) bool { return f.Report.Speaker.Current() && !r.Up }
}
