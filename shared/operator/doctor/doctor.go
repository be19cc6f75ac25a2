// Package doctor finds what is wrong with a host and its cluster by pure checks of facts, and
// reports a cause before its consequences.
package doctor

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/doctor/daemons"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor/vips"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Name is the name of a check, for programs.
type Name string

// The names of the checks, a cause before its consequences: certificates are refused by a wrong
// clock, and balancers have no backend if API servers are dead.
const (
	CheckClock         Name = "clock"          // this host's clock, or another one's, is wrong
	CheckInStep        Name = "in-step"        // nothing keeps the clock right
	CheckKernel        Name = "kernel"         // the kernel is too old
	CheckPrograms      Name = "programs"       // a program is missing, or too old
	CheckNetwork       Name = "vip-network"    // no link of this host is in a VIP's network
	CheckNodeAddress   Name = "node-address"   // the node's address is on another link than VIPs
	CheckBootCard      Name = "prov-card"      // the card for provisioning is missing, or not ready
	CheckDHCP          Name = "dhcp"           // a DHCP server may give a VIP away
	CheckTaken         Name = "vip-taken"      // another host has a VIP before the cluster exists
	CheckForeign       Name = "vip-foreign"    // a host outside the cluster answers for a VIP
	CheckVRID          Name = "vrid"           // a router outside the cluster has its VRID
	CheckUnknownRouter Name = "stranger"       // an unknown router announces a VIP
	CheckVersion       Name = "vrrp-version"   // hosts of the cluster use two versions of VRRP
	CheckInterval      Name = "vrrp-interval"  // hosts of the cluster have two advert intervals
	CheckTiming        Name = "timing"         // hosts are late, or were not measured
	CheckFiles         Name = "files"          // files differ from the plan
	CheckStatic        Name = "static-pods"    // static pods of others run instead of our units
	CheckStale         Name = "stale-vip"      // a host has a VIP that it does not hold
	CheckLimits        Name = "limits"         // files cannot be created, or watched
	CheckCredentials   Name = "credentials"    // kubelet's kubeconfig is not what monitors can use
	CheckMonitors      Name = "monitor"        // a monitor is dead, or stands still
	CheckSupervisor    Name = "supervisor"     // keepalived's parent is dead, or stands still
	CheckRefused       Name = "config-refused" // keepalived refuses its new configuration
	CheckOlder         Name = "config-older"   // a daemon's configuration is not its file's
	CheckRights        Name = "rights"         // the API refuses a right that this node needs
	CheckRanks         Name = "ranks"          // dead nodes have ranks that another one needs
	CheckPeers         Name = "peers"          // a peer list lacks a node
	CheckOneWay        Name = "one-way"        // a holder does not receive a better one's adverts
	CheckHolders       Name = "two-holders"    // two hosts hold a VIP
	CheckKeepalived    Name = "keepalived"     // keepalived does not run
	CheckAPIServers    Name = "api-servers"    // API servers are not ready
	CheckHAProxy       Name = "haproxy"        // the balancer does not answer
	CheckBalancer      Name = "balancer"       // no backend is healthy, and an API server is ready
	CheckRedirect      Name = "redirect"       // connections are not redirected to the balancer
	CheckIronic        Name = "ironic"         // a ready pod of Ironic is not reached
	CheckTracked       Name = "tracked"        // the tracked result of a check is wrong
	CheckNeighbours    Name = "neighbours"     // a neighbour sends a VIP's packets elsewhere
	CheckNoHolder      Name = "no-holder"      // no host answers for the API's VIP
	CheckPorts         Name = "ports"          // another program has a port
	CheckReach         Name = "reach"          // a host of the cluster is not reached
	CheckMTU           Name = "mtu"            // packets that fill the link do not arrive
	CheckVRRPPasses    Name = "vrrp-passes"    // VRRP does not arrive
	CheckUpstreamSelf  Name = "upstream-self"  // a name server behind ours is one of ours
	CheckUpstreamNone  Name = "upstream"       // a name server behind ours does not answer
	CheckCoreDNS       Name = "coredns"        // this host's name server does not answer
	CheckNames         Name = "names"          // this host's name server answers wrongly
	CheckOutsideRecord Name = "outside-record" // name servers outside answer wrongly
	CheckImages        Name = "images"         // an image, or its registry, is not reached
)

// The names of checks of hosts that announce VIPs to their routers.
const (
	CheckSpeaker      Name = "speaker"           // FRR's parent is dead, or stands still
	CheckRack         Name = "bgp-rack"          // no rack is this host's
	CheckPasswords    Name = "bgp-passwords"     // the file of passwords is wrong, or not private
	CheckBGPPorts     Name = "bgp-port"          // another program has a port of BGP or BFD
	CheckBGPSilent    Name = "bgp-silent"        // nothing comes back from a router
	CheckBGPRefused   Name = "bgp-refused"       // a router takes no session of this host
	CheckTTL          Name = "bgp-ttl"           // packets of a router come from too far away
	CheckMD5          Name = "bgp-md5"           // packets of a router are signed otherwise
	CheckNotification Name = "bgp-notification"  // an end refuses the session, and why
	CheckBFD          Name = "bgp-bfd"           // a session is up, and its BFD is not
	CheckBGPMTU       Name = "bgp-mtu"           // full packets do not arrive at a router
	CheckVIPInSubnet  Name = "bgp-vip-in-subnet" // a VIP is in a network of hosts
	CheckVIPSource    Name = "vip-source"        // a VIP is the host's own source or identity
	CheckReversePath  Name = "rp-filter"         // packets by another link are dropped
	CheckLinkDown     Name = "bgp-linkdown"      // routes over a link that is down are used
	CheckBGPForeign   Name = "bgp-foreign"       // a host outside the cluster announces a VIP
	CheckNotAnnounced Name = "bgp-not-announced" // a VIP is to be announced, and no router has it
	CheckFiltered     Name = "bgp-filtered"      // a router does not use a path, or lacks one
	CheckWidth        Name = "bgp-width"         // routers send no connection to some nodes
	CheckRacks        Name = "bgp-racks"         // nodes get different shares, by their racks
	CheckNotReported  Name = "bgp-not-reported"  // routers report no path to other hosts
)

// Finding is one thing that is wrong.
type Finding struct {
	Check    Name     `json:"check"`
	Severity Severity `json:"severity"`
	facts.Fault
}

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning" // it works so, and not as well as it could
)

// warnings are the checks whose findings are no errors.
var warnings = []Name{CheckTiming, CheckRacks}

// severity is that of a check's findings.
func (n Name) severity() Severity {
	if slices.Contains(warnings, n) {
		return Warning
	}
	return Error
}

// Errors reports whether one of the findings is an error.
func Errors(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Severity != Warning })
}

// check inspects facts. It reports nothing on what is not in them.
type check struct {
	name Name
	find func(facts.Facts) facts.Faults
}

// checks are all checks, a cause before its consequences.
var checks = []check{
	{CheckClock, clocks}, {CheckInStep, clockSync}, {CheckKernel, kernel},
	{CheckPrograms, programs}, {CheckNetwork, vips.OnNetwork},
	{CheckNodeAddress, vips.NodeAddress}, {CheckBootCard, vips.Card}, {CheckDHCP, vips.DHCP},
	{CheckTaken, vips.Taken},
	{CheckForeign, vips.Foreign}, {CheckVRID, vips.VRID}, {CheckUnknownRouter, vips.UnknownRouter},
	{CheckVersion, vips.Version}, {CheckInterval, vips.Interval}, {CheckTiming, timing},
	{CheckFiles, files},
	{CheckStatic, statics}, {CheckStale, vips.Stale}, {CheckLimits, limits},
	{CheckCredentials, credentials}, {CheckMonitors, daemons.Monitors},
	{CheckSupervisor, daemons.Supervisor}, {CheckRefused, daemons.Refused},
	{CheckOlder, daemons.Outdated}, {CheckRights, daemons.Rights}, {CheckRanks, vips.Ranks},
	{CheckPeers, vips.Peers}, {CheckOneWay, vips.OneWay}, {CheckHolders, vips.Holders},
	{CheckKeepalived, daemons.Keepalived}, {CheckAPIServers, daemons.APIServers},
	{CheckHAProxy, daemons.HAProxy}, {CheckBalancer, daemons.Balancer},
	{CheckRedirect, daemons.Redirect}, {CheckIronic, daemons.Ironic},
	{CheckTracked, daemons.Tracked}, {CheckNeighbours, vips.Neighbours},
	{CheckNoHolder, vips.NoHolder}, {CheckPorts, ports},
	{CheckSpeaker, routed.Speaker}, {CheckRack, routed.Rack}, {CheckPasswords, routed.Passwords},
	{CheckBGPPorts, routed.Ports}, {CheckBGPSilent, routed.Silent},
	{CheckBGPRefused, routed.Refused}, {CheckTTL, routed.TTL}, {CheckMD5, routed.MD5},
	{CheckNotification, routed.Notification}, {CheckBFD, routed.BFD}, {CheckBGPMTU, routed.MTU},
	{CheckVIPInSubnet, routed.InSubnet}, {CheckVIPSource, routed.Source},
	{CheckReversePath, routed.ReversePath}, {CheckLinkDown, routed.LinkDown},
	{CheckBGPForeign, routed.Foreign},
	{CheckNotAnnounced, routed.NotAnnounced}, {CheckFiltered, routed.Filtered},
	{CheckWidth, routed.Width}, {CheckNotReported, routed.NotReported},
	{CheckRacks, routed.Racks},
	{CheckReach, vips.Reach}, {CheckMTU, vips.MTU}, {CheckVRRPPasses, vips.VRRPPasses},
	{CheckUpstreamSelf, daemons.UpstreamSelf}, {CheckUpstreamNone, daemons.Upstream},
	{CheckCoreDNS, daemons.CoreDNS}, {CheckNames, daemons.Names},
	{CheckOutsideRecord, daemons.Outside}, {CheckImages, images},
}

// All are the names of all checks, a cause before its consequences.
func All() []Name {
	all := make([]Name, len(checks))
	for i, c := range checks {
		all[i] = c.name
	}
	return all
}

// Examine makes every check, and returns the findings in the order of All. Equal facts give equal
// findings.
func Examine(f facts.Facts) []Finding {
	var all []Finding
	for _, c := range checks {
		for _, fault := range c.find(f) {
			all = append(all, Finding{c.name, c.name.severity(), fault})
		}
	}
	return all
}

// immediate are checks whose findings need no second inspection: three adverts in a row agree.
var immediate = []Name{CheckVRID, CheckUnknownRouter, CheckVersion, CheckInterval}

// Lasting are the findings of a later inspection that an earlier one had as well: a VIP that moves,
// or a file that is just being replaced, is no fault. What was seen may differ, as by an age.
func Lasting(earlier, later []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(later), func(f Finding) bool {
		same := func(e Finding) bool { return e.Check == f.Check && e.Subject == f.Subject }
		return !slices.Contains(immediate, f.Check) && !slices.ContainsFunc(earlier, same)
	})
}
