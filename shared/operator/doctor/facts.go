package doctor

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Facts are what was seen of a host and its network. Whatever is nil or empty was not looked at, or
// could not be seen, and no check speaks of it.
type Facts struct {
	Plan   plan.Plan // in force on this host, or for the host that it is to become
	Live   bool      // the host has been given its files; else it is a plain one
	Joins  bool      // the cluster lives, and this plain host is to join it
	Master bool      // it is a node of the control plane
	Links  addr.Snapshot
	Agreed []netip.Addr // the addresses that the node is known by
	Remote bool         // it is a worker on another network, and holds no VIP

	Clocks    []Clock
	Unstepped string // why the kernel says that nothing keeps its clock right; empty when something does
	Kernel    string // its release, such as 6.1.0-18-amd64
	Programs  []Program
	Ranges    []Range
	Files     []File
	Statics   []Static
	Limits    *Limits

	VIPs     []VIP
	Members  []Member        // all hosts that may hold a VIP, this one as well
	Unasked  bool            // there are more of them than were asked for their hardware addresses: an unknown one may be theirs
	Heard    []clash.Finding // what is wrong with the adverts that came by
	Proposed map[vrrp.Kind]vrrp.ID

	Credentials *Credentials
	Rights      []Right // that this node lacks
	Keepalived  *Daemon
	Runs        []Run
	Monitors    []Monitor
	Servers     []Server
	Balancer    *Balancer
	Redirected  *bool
	Tracks      []Track

	Ports     []Port
	Reached   []Reached
	Resolver  *Resolver
	NameError string // why this host's own name server does not answer
	Names     []Answer
	Outside   []Answer // of the name servers behind
	Images    []Image
}

// Clock is one of another host.
type Clock struct {
	Who    string
	Server bool          // it is a time server that this host is told to follow
	Ahead  time.Duration // of this host's
}

// Program is one that the host needs.
type Program struct {
	Name    string
	Version string // empty: it is not there
	Needs   string // the oldest version that will do
	TooOld  bool
	Why     string // it is needed
}

// Range is what a DHCP server gives away.
type Range struct {
	First, Last netip.Addr
	Source      string // where it stands
}

// File is one that differs from the plan.
type File struct {
	Path string
	How  string // in words
}

// Static is a manifest by which kubelet runs a daemon on a bootstrap machine, in the place of a
// unit of ours.
type Static struct {
	Daemon, Unit, Path string
	Ours               bool // the pod runs our program too
}

// Credentials are kubelet's, with which monitors ask the API.
type Credentials struct {
	Kubeconfig string   // its path
	Directory  bool     // there is a directory in its place
	Mounted    []string // directories of certificates that monitors have
	Outside    []string // files that it needs, and that are in none of them
}

// VIP is one VIP as it was seen from this host.
type VIP struct {
	Address  netip.Addr
	For      vrrp.Kind
	Instance vrrp.InstanceName
	ID       vrrp.ID
	Link     string // on which it belongs; empty where there is none
	Near     bool   // the VIP is in a network of Link
	Here     bool   // this host's kernel has it
	State    supervised.State
	Asked    bool         // who has it was asked on the link
	Answers  []string     // the hardware addresses of all who said that they have it
	Cached   string       // the hardware address that this host's kernel sends to, which another one may have told it
	Peers    []netip.Addr // of the instance, in keepalived's file; nil in multicast and where there is none
	Echoes   []Echo       // only from a holder
}

// Echo is what a neighbour answers.
type Echo struct {
	Neighbour netip.Addr
	Plain     bool // asked from this host's own address it has answered
	FromVIP   bool // asked from the VIP its answer has come here
}

// Member is a host that may hold a VIP.
type Member struct {
	Name         string
	Addresses    []netip.Addr
	MACs         []string // that answer for one of them; empty when nobody does
	ControlPlane bool
	Self         bool
	Named        bool // by the API; else by this host's own memory or configuration

	Rank string    // in the election of the API VIP, as its Node says; empty for none
	Down time.Time // since when its kubelet has not been working; zero when it works
}

// Right is one that the cluster's API does not give this node.
type Right struct {
	What    string // in words
	Without string // what the node does
	Do      string
}

// Daemon is keepalived as its parent says.
type Daemon struct {
	Wanted    bool   // this host's role has one
	Silent    string // why its parent does not answer; empty when it does
	Started   bool   // its parent has ever spoken
	Running   bool
	Applied   string // digest of the configuration in force
	Refusal   string
	HeartBeat bool // its monitor's heart beats, as the parent sees it

	Troubles []string // what its parent cannot do, each as TASK: ERROR
}

// Run is a daemon beside its file on the disk. Each digest is empty where it is not known, and is
// made in the daemon's own way.
type Run struct {
	Daemon string // keepalived, HAProxy or CoreDNS
	Path   string
	Force  string // digest of the configuration that it runs on, by its own word, or by its parent's
	Disk   string // digest of the file
	Said   string // the digest that stands in the file: another one where the file was changed since a program of ours wrote it
}

// Monitor is a program that keeps a daemon configured.
type Monitor struct {
	Name  string
	Fault string // empty: it answers
}

// Server is one of the control plane's API servers.
type Server struct {
	Address netip.AddrPort
	Ready   bool
	Why     string
}

// Balancer is this node's HAProxy.
type Balancer struct {
	Fault string   // why it does not answer; empty when it does
	Up    []string // the servers that it takes for well
}

// Track is what keepalived is told of a check, and what a look of one's own says.
type Track struct {
	Check        vrrp.CheckName
	Says, Passes bool
	Why          string
}

// Port is one that a program of ours will listen at.
type Port struct {
	Name   string
	Number uint16
	Owner  string
	Taken  string // why it cannot be listened at; empty when it can
}

// Reached is how another host is reached.
type Reached struct {
	Host  netip.Addr
	Link  string
	Echo  bool     // it answers small packets
	Full  int      // bytes of the packet that fills the link; 0 when it was not tried
	Whole bool     // it answers that one
	VRRP  VRRPWay  // whether it gets VRRP
	Shut  []string // ports from which nothing comes back at all, as NAME NUMBER
}

// VRRPWay is whether VRRP reaches a host.
type VRRPWay string

// What is known of it: a host without VRRP says that it knows no such protocol; one with VRRP, and
// one behind a filter, say nothing.
const (
	VRRPUnknown VRRPWay = ""
	VRRPArrives VRRPWay = "arrives"
	VRRPSilent  VRRPWay = "silent"
)

// Resolver is the file that names the servers behind this host's own name server.
type Resolver struct {
	Path  string
	Self  []netip.Addr // of the servers in it, those that are this host, or a VIP
	Dead  []string     // of the rest, those that do not answer, and why
	Alive int
}

// Answer is what a name server says of one of the cluster's names.
type Answer struct {
	Server string
	Name   string
	Want   []netip.Addr
	Got    []netip.Addr
}

// Image is one of the plan's.
type Image struct {
	Key, Reference string
	Fault          string
}
