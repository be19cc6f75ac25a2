package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// mostOff is how far a clock may be off. Certificates and leases bear more; a clock that is kept in
// step is off by milliseconds, and some servers say only the second.
const mostOff = 5 * time.Second

// clocks compares this host's clock with those of time servers, or where none answers with those of
// other hosts. Of several the middle one counts.
func clocks(f Facts) (out []Finding) {
	all := slices.Clone(f.Clocks)
	if slices.ContainsFunc(all, func(c Clock) bool { return c.Server }) {
		all = slices.DeleteFunc(all, func(c Clock) bool { return !c.Server })
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Clock) int { return int(a.Ahead - b.Ahead) })
	if middle := all[len(all)/2]; middle.Ahead.Abs() > mostOff {
		return []Finding{{Looked: "this host's clock", Seen: fmt.Sprintf("it is %s by that of %s", off(-middle.Ahead), middle.Who),
			Do: "set it right, have chrony or systemd-timesyncd keep it so, and see to it on all hosts: certificates are refused by a wrong clock"}}
	}
	for _, c := range f.Clocks {
		if c.Ahead.Abs() > mostOff {
			out = append(out, Finding{Looked: "the clock of " + c.Who, Seen: fmt.Sprintf("it is %s by that of this host, and others agree with this host's", off(c.Ahead)),
				Do: "set it right there"})
		}
	}
	return out
}

func off(ahead time.Duration) string {
	if ahead < 0 {
		return fmt.Sprintf("%v behind", (-ahead).Round(time.Second))
	}
	return fmt.Sprintf("%v ahead", ahead.Round(time.Second))
}

// inStep speaks before the cluster exists. Later a wrong clock tells, and virtual machines that
// follow their host's clock say nothing of it.
func inStep(f Facts) []Finding {
	if f.Live || f.Unstepped == "" || slices.ContainsFunc(f.Clocks, func(c Clock) bool { return c.Server && c.Ahead.Abs() <= mostOff }) {
		return nil
	}
	return []Finding{{Looked: "what keeps this host's clock right", Seen: "nothing does: " + f.Unstepped, Do: "have chrony or systemd-timesyncd run, with a time server that answers"}}
}

// oldestKernel has pidfds and one packet filter table for both families.
var oldestKernel = [2]int{5, 3}

func kernel(f Facts) []Finding {
	var major, minor int
	if n, _ := fmt.Sscanf(f.Kernel, "%d.%d", &major, &minor); n < 2 || major > oldestKernel[0] || major == oldestKernel[0] && minor >= oldestKernel[1] {
		return nil
	}
	return []Finding{{Looked: "the kernel", Seen: "it is " + f.Kernel, Do: fmt.Sprintf("install %d.%d or later: older ones have no pidfds, or another packet filter", oldestKernel[0], oldestKernel[1])}}
}

func programs(f Facts) (out []Finding) {
	for _, p := range f.Programs {
		seen := "it is not installed"
		if p.Version != "" {
			seen = "it is version " + p.Version
		}
		if p.Version == "" || p.TooOld {
			out = append(out, Finding{Looked: "the program " + p.Name, Seen: seen, Do: fmt.Sprintf("install %s %s or later: %s", p.Name, p.Needs, p.Why)})
		}
	}
	return out
}

// network holds that a VIP is in a network of this host. A remote worker holds none, and a plan may
// put a VIP behind a router.
func network(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		behind := len(f.Plan.MachineNetworks) > 0 && !slices.ContainsFunc(f.Plan.MachineNetworks, func(n netip.Prefix) bool { return n.Contains(v.Address) })
		if v.Near || f.Remote || behind || f.inNetwork(v) {
			continue
		}
		out = append(out, Finding{Looked: "the network of " + title(v), Seen: "no link of this host is in it" + networksOf(f),
			Do: "put this host on the VIP's network, or choose a VIP of this one"})
	}
	return out
}

// inNetwork says whether any link is in a VIP's network, be it another one than the node's address
// is of.
func (f Facts) inNetwork(v VIP) bool {
	return slices.ContainsFunc(f.Links.Links, func(l addr.Link) bool {
		return slices.ContainsFunc(l.Addresses, func(a addr.Address) bool { return a.Prefix.Addr() != v.Address && a.Prefix.Contains(v.Address) })
	})
}

func networksOf(f Facts) string {
	var all []string
	for _, l := range f.Links.Links {
		for _, a := range l.Addresses {
			if !a.Prefix.Addr().IsLoopback() && !a.Prefix.Addr().IsLinkLocalUnicast() {
				all = append(all, a.Prefix.Masked().String()+" on "+l.Name)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", which has " + strings.Join(all, ", ")
}

func dhcp(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		for _, r := range f.Ranges {
			if r.First.BitLen() == v.Address.BitLen() && r.First.Compare(v.Address) <= 0 && v.Address.Compare(r.Last) <= 0 {
				out = append(out, Finding{Looked: fmt.Sprintf("the DHCP range of %s for %s", r.Source, title(v)), Seen: fmt.Sprintf("%s to %s holds it, and another host may get it", r.First, r.Last),
					Do: "take the VIP out of the range"})
			}
		}
	}
	return out
}

func files(f Facts) (out []Finding) {
	for _, file := range f.Files {
		do := "see `onprem-infra diff`, and write the host's files again"
		if file.Path == plan.Path {
			do = "give all hosts of the cluster one: hosts that are given different ones do not understand each other"
		}
		out = append(out, Finding{Looked: "the file " + file.Path, Seen: file.How, Do: do})
	}
	return out
}

// taken holds that a VIP is free before the cluster exists.
func taken(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		if f.Live || f.Joins {
			continue
		}
		if v.Here {
			out = append(out, Finding{Looked: title(v), Seen: "this host has it already" + on(v), Do: fmt.Sprintf("take it off: ip address del %s dev %s", v.Address, orWord(v.Link, "LINK"))})
		}
		for _, mac := range v.Answers {
			out = append(out, Finding{Looked: title(v), Seen: fmt.Sprintf("%s answers for it%s", mac, on(v)),
				Do: "take it off that host, or choose another VIP; if the cluster lives already and this host is to join it, say --joins"})
		}
	}
	return out
}

func ports(f Facts) (out []Finding) {
	for _, p := range f.Ports {
		if p.Taken != "" {
			out = append(out, Finding{Looked: fmt.Sprintf("port %d (%s)", p.Number, p.Name), Seen: fmt.Sprintf("it cannot be listened at, and %s must: %s", p.Owner, p.Taken),
				Do: fmt.Sprintf("stop what listens there (ss -lpn 'sport = :%d'), or choose another number by --port %s=N where it is free to be chosen", p.Number, p.Name)})
		}
	}
	return out
}

func reach(f Facts) (out []Finding) {
	for _, r := range f.Reached {
		if !r.Echo {
			out = append(out, Finding{Looked: fmt.Sprintf("the way to %s", r.Host), Seen: "it answers no packet (ICMP echo)",
				Do: "see that it runs, is on this network, and that no packet filter is between"})
			continue
		}
		for _, shut := range r.Shut {
			out = append(out, Finding{Looked: fmt.Sprintf("port %s of %s", shut, r.Host), Seen: "nothing comes back, neither a connection nor a refusal",
				Do: "open it between the cluster's hosts: a packet filter swallows what is sent there"})
		}
	}
	return out
}

func mtu(f Facts) (out []Finding) {
	for _, r := range f.Reached {
		if r.Echo && r.Full > 0 && !r.Whole {
			out = append(out, Finding{Looked: fmt.Sprintf("packets of %d bytes to %s", r.Full, r.Host), Seen: fmt.Sprintf("they are lost, and small ones arrive: the MTU of %s is larger than the network's", r.Link),
				Do: "set one MTU on all hosts and switches of the network"})
		}
	}
	return out
}

func vrrpPasses(f Facts) (out []Finding) {
	for _, r := range f.Reached {
		if r.Echo && r.VRRP == VRRPSilent && !f.Live {
			out = append(out, Finding{Looked: fmt.Sprintf("VRRP (IP protocol 112) to %s", r.Host), Seen: "nothing comes back: it is swallowed on its way, or that host speaks VRRP already",
				Do: "let protocol 112 pass between the cluster's hosts; a host without VRRP would have said so"})
		}
	}
	return out
}

// shortened is an image's reference that fits a line: of a digest as much as tells it from others,
// as container engines print it.
func shortened(reference string) string {
	const most = 12
	name, digest, ok := strings.Cut(reference, "@sha256:")
	if !ok || len(digest) <= most {
		return reference
	}
	return name + "@sha256:" + digest[:most] + "…"
}

func images(f Facts) (out []Finding) {
	for _, i := range f.Images {
		if i.Fault != "" {
			out = append(out, Finding{Looked: fmt.Sprintf("the image %s (%s)", shortened(i.Reference), i.Key), Seen: i.Fault, Do: "see that the registry runs, has the image, and is reached from here; credentials are not tried"})
		}
	}
	return out
}
