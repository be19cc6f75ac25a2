// Package doctor says what is wrong with a host and its cluster, the cause before what follows from
// it: small pure checks of facts that others have gathered.
package doctor

import (
	"slices"
)

// Name is a check's, for programs.
type Name string

// The checks, a cause before what may follow from it: a clock that is wrong has certificates
// refused, an API server that is dead has balancers fail.
const (
	CheckClock         Name = "clock"          // this host's clock, or another one's, is wrong
	CheckInStep        Name = "in-step"        // nothing keeps the clock right
	CheckKernel        Name = "kernel"         // the kernel is too old
	CheckPrograms      Name = "programs"       // a program is missing, or too old
	CheckNetwork       Name = "vip-network"    // no link of this host is in a VIP's network
	CheckNodeAddress   Name = "node-address"   // the node is known by an address of another link than the VIP's
	CheckDHCP          Name = "dhcp"           // a DHCP server may give a VIP away
	CheckTaken         Name = "vip-taken"      // a VIP is somebody's before the cluster exists
	CheckForeign       Name = "vip-foreign"    // a host that is none of the cluster's answers for a VIP
	CheckVRID          Name = "vrid"           // a foreign router has the cluster's virtual router ID
	CheckStranger      Name = "stranger"       // a host that is none of the cluster's announces a VIP
	CheckVersion       Name = "vrrp-version"   // hosts of the cluster speak two versions of VRRP
	CheckInterval      Name = "vrrp-interval"  // hosts of the cluster announce themselves in two intervals
	CheckFiles         Name = "files"          // files differ from the plan
	CheckStatic        Name = "static-pods"    // another one's static pods stand in the place of ours
	CheckStale         Name = "stale-vip"      // a host has a VIP that it is not to hold
	CheckLimits        Name = "limits"         // the host has no room for files, or lets no more be watched
	CheckCredentials   Name = "credentials"    // kubelet's kubeconfig is not what monitors can use
	CheckMonitors      Name = "monitor"        // a monitor is dead, or stands still
	CheckSupervisor    Name = "supervisor"     // keepalived's parent is dead, or stands still
	CheckRefused       Name = "config-refused" // keepalived does not take its new configuration
	CheckOlder         Name = "config-older"   // a daemon runs on another file than the disk's
	CheckRights        Name = "rights"         // the API does not let this node do what it needs
	CheckRanks         Name = "ranks"          // dead nodes have ranks that another one needs
	CheckPeers         Name = "peers"          // a peer list lacks a node
	CheckOneWay        Name = "one-way"        // a host does not hear another one
	CheckHolders       Name = "two-holders"    // two hosts hold a VIP
	CheckKeepalived    Name = "keepalived"     // keepalived does not run
	CheckAPIServers    Name = "api-servers"    // API servers do not work
	CheckHAProxy       Name = "haproxy"        // the balancer is dead, or hangs
	CheckBalancer      Name = "balancer"       // the balancer knows of no server, and there is one
	CheckRedirect      Name = "redirect"       // nothing leads to the balancer
	CheckTracked       Name = "tracked"        // what keepalived is told of a check is not so
	CheckNeighbours    Name = "neighbours"     // a neighbour looks for a VIP where it is not
	CheckNoHolder      Name = "no-holder"      // nobody answers for the API's VIP
	CheckPorts         Name = "ports"          // a port is another program's
	CheckReach         Name = "reach"          // a host of the cluster is not reached
	CheckMTU           Name = "mtu"            // packets that fill the link do not arrive
	CheckVRRPPasses    Name = "vrrp-passes"    // VRRP does not arrive
	CheckUpstreamSelf  Name = "upstream-self"  // a name server behind ours is this host, or a VIP
	CheckUpstreamNone  Name = "upstream"       // a name server behind ours does not answer
	CheckCoreDNS       Name = "coredns"        // this host's name server is dead
	CheckNames         Name = "names"          // it answers wrongly
	CheckOutsideRecord Name = "outside-record" // name servers outside say something else than the plan
	CheckImages        Name = "images"         // an image, or its registry, is not reached
)

// Finding is one thing that is wrong.
type Finding struct {
	Check  Name   `json:"check"`
	Looked string `json:"looked"` // at what
	Seen   string `json:"seen"`
	Do     string `json:"do"`
}

// check looks at facts. Of what is not in them it says nothing.
type check struct {
	name Name
	find func(Facts) []Finding
}

// checks are all, in the order of Name.
var checks = []check{
	{CheckClock, clocks}, {CheckInStep, inStep}, {CheckKernel, kernel}, {CheckPrograms, programs}, {CheckNetwork, network}, {CheckNodeAddress, nodeAddress}, {CheckDHCP, dhcp},
	{CheckTaken, taken}, {CheckForeign, foreign}, {CheckVRID, vrid}, {CheckStranger, stranger}, {CheckVersion, version}, {CheckInterval, interval}, {CheckFiles, files}, {CheckStatic, statics}, {CheckStale, stale},
	{CheckLimits, limits}, {CheckCredentials, credentials}, {CheckMonitors, monitors}, {CheckSupervisor, supervisor}, {CheckRefused, refused}, {CheckOlder, older}, {CheckRights, rights}, {CheckRanks, ranks}, {CheckPeers, peers}, {CheckOneWay, oneWay}, {CheckHolders, holders},
	{CheckKeepalived, keepalivedDead}, {CheckAPIServers, apiServers}, {CheckHAProxy, haproxyDead}, {CheckBalancer, balancer}, {CheckRedirect, redirected}, {CheckTracked, tracked},
	{CheckNeighbours, neighbours}, {CheckNoHolder, noHolder}, {CheckPorts, ports}, {CheckReach, reach}, {CheckMTU, mtu}, {CheckVRRPPasses, vrrpPasses},
	{CheckUpstreamSelf, upstreamSelf}, {CheckUpstreamNone, upstreamNone}, {CheckCoreDNS, coreDNS}, {CheckNames, names}, {CheckOutsideRecord, outside}, {CheckImages, images},
}

// All are the names of all checks, the cause before what may follow from it.
func All() []Name {
	all := make([]Name, len(checks))
	for i, c := range checks {
		all[i] = c.name
	}
	return all
}

// Examine makes every check, and returns what they find in the order of All. Equal facts give equal
// findings.
func Examine(f Facts) []Finding {
	var all []Finding
	for _, c := range checks {
		for _, found := range c.find(f) {
			found.Check = c.name
			all = append(all, found)
		}
	}
	return all
}

// lasted are checks whose findings have lasted by themselves: three adverts in a row have said the
// same.
var lasted = []Name{CheckVRID, CheckStranger, CheckVersion, CheckInterval}

// Lasting are the findings of a later look that an earlier one had as well: a VIP that moves, or a
// file that is just being replaced, is no fault. What was seen may differ, as by an age.
func Lasting(earlier, later []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(later), func(f Finding) bool {
		return !slices.Contains(lasted, f.Check) && !slices.ContainsFunc(earlier, func(e Finding) bool { return e.Check == f.Check && e.Looked == f.Looked })
	})
}
