package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/onprem-infra/onprem-infra"

// pkg is what `go list -json` says of a package, as far as the laws ask.
type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	Standard     bool
	GoFiles      []string
	Imports      []string
	Deps         []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// room is the package's path inside the module, empty for a foreign one.
func (p pkg) room() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// rooms lists the module's own packages, built as they are shipped.
func rooms(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", "remote", "-json=ImportPath,Dir,Name,Standard,GoFiles,Imports,Deps,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
	return all
}

// coreDNS is where the rooms of the other module are.
const coreDNS = "cmd/onprem-coredns"

// ownModule are the rooms of cmd/onprem-coredns, read without the modules that it is built from.
func ownModule(t *testing.T) (rooms []pkg) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", coreDNS), func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if len(files) == 0 {
			return err
		}
		p := pkg{ImportPath: module + strings.TrimPrefix(filepath.ToSlash(dir), ".."), Dir: dir}
		for _, file := range files {
			if name := filepath.Base(file); strings.HasSuffix(name, "_test.go") {
				p.TestGoFiles = append(p.TestGoFiles, name)
			} else {
				p.GoFiles = append(p.GoFiles, name)
			}
		}
		rooms = append(rooms, p)
		return nil
	})
	if err != nil || len(rooms) < 2 {
		t.Fatalf("%d rooms of %s, %v", len(rooms), coreDNS, err)
	}
	return rooms
}

// shipped are the rooms of both modules, without those of tests.
func shipped(t *testing.T) []pkg {
	t.Helper()
	return slices.DeleteFunc(append(rooms(t), ownModule(t)...), func(p pkg) bool {
		return p.room() == "test" || strings.HasPrefix(p.room(), "test/")
	})
}

// law says what the rooms below a path may import.
type law struct {
	room    string   // a room, or every room below it when it ends in /
	own     []string // rooms of this module that it may import, same form
	foreign []string // import path prefixes from outside the standard library
	why     string
}

// leaves need nothing but the standard library and a leaf below them, so every other room may use
// them.
var leaves = []string{
	"shared/addr", "shared/addr/peer", "shared/advert", "shared/asset", "shared/bgp", "shared/bgp/message", "shared/bgp/proof", "shared/bonus", "shared/checksum", "shared/clash", "shared/clients", "shared/comment", "shared/container", "shared/endpoint", "shared/health", "shared/lldp", "shared/mac", "shared/near", "shared/notice", "shared/offer", "shared/port", "shared/record", "shared/redirect", "shared/release", "shared/role", "shared/secret", "shared/subnet",
	"shared/supervised", "shared/timingproof", "shared/vrrp", "shared/vrrp/proof",
}

// simulated is the state on which each simulated program works.
var simulated = []string{"shared/operator/simulate/schedule", "shared/operator/simulate/trace", "shared/operator/simulate/world"}

var formats = []string{"shared/frr", "shared/keepalived", "shared/corefile", "shared/resolvconf"}

// laws is the table of the house: arrows point down only. A room that no law names is an error, so
// that a new room says where it stands.
var laws = []law{
	{room: "shared/addr", own: []string{"shared/mac"}, why: "leaf"},
	{room: "shared/addr/peer", own: []string{"shared/addr"}, why: "leaf; a node's addresses decide alone"},
	{room: "shared/advert", own: []string{"shared/checksum", "shared/vrrp"}, why: "leaf"},
	{room: "shared/asset", why: "leaf"},
	{room: "shared/bgp", why: "leaf"},
	{room: "shared/bgp/message", own: []string{"shared/bgp"}, why: "leaf; a protocol's bytes and what they mean"},
	{room: "shared/host/bgpprobe", own: []string{"shared/bgp", "shared/bgp/message", "shared/secret"}, foreign: []string{"golang.org/x/sys/unix"}, why: "asks one router: it knows no cluster"},
	{room: "shared/bgp/proof", own: []string{"shared/bgp"}, why: "leaf"},
	{room: "shared/bonus", own: []string{"shared/supervised"}, why: "leaf"},
	{room: "shared/clash", own: []string{"shared/advert", "shared/vrrp"}, why: "leaf"},
	{room: "shared/speak", own: []string{"shared/bgp"}, why: "what a host announces follows from what is observed: pure, and of no daemon"},
	{room: "shared/spoken", own: []string{"shared/bgp", "shared/frr", "shared/secret", "shared/speak"}, why: "files that two programs of a host share"},
	{room: "shared/announcing", own: []string{"shared/addr", "shared/bgp", "shared/plan", "shared/plan/routed", "shared/role", "shared/spec", "shared/spoken"}, why: "how a host reaches its routers follows from the plan and its links: pure, and of both phases"},
	{room: "shared/host/speak", own: []string{"shared/bgp", "shared/frr", "shared/frr/report", "shared/host/file", "shared/host/first", "shared/host/link/loopback", "shared/host/speak/", "shared/host/uptime", "shared/loop", "shared/operator/metrics", "shared/secret", "shared/speak", "shared/spoken"}, why: "FRR's parent does what is decided, and decides nothing"},
	{room: "shared/host/speak/answers", own: []string{"shared/bgp", "shared/frr", "shared/frr/report", "shared/speak"}, why: "what was answered, and for how long that counts: it asks nobody"},
	{room: "shared/host/speak/bfdport", own: []string{"shared/frr", "shared/host/proc"}, why: "it knows sockets, and starts no daemon"},
	{room: "shared/host/speak/daemons", own: []string{"shared/bgp", "shared/container", "shared/frr", "shared/host/child", "shared/host/frr", "shared/host/proc", "shared/host/speak/launch"}, why: "processes of FRR: what they are to announce is decided elsewhere"},
	{room: "shared/host/speak/judge", own: []string{"shared/bgp", "shared/frr", "shared/host/frr", "shared/host/speak/launch", "shared/loop"}, why: "it tests, and puts nothing into force"},
	{room: "shared/host/speak/launch", own: []string{"shared/frr", "shared/host/proc"}, foreign: []string{"golang.org/x/sys"}, why: "how FRR is started: it knows no configuration"},
	{room: "shared/frr", own: []string{"shared/bgp", "shared/secret"}, why: "a format knows no host"},
	{room: "shared/frr/report", own: []string{"shared/bgp"}, why: "answers are read without a daemon"},
	{room: "shared/host/speak/wished", own: []string{"shared/bgp", "shared/host/file", "shared/loop", "shared/speak", "shared/spoken"}, why: "what a monitor wants, and when it did: whoever decides about it"},
	{room: "shared/host/link/listening", foreign: []string{"github.com/vishvananda/netlink", "golang.org/x/sys/unix"}, why: "one question to the kernel, many times a second"},
	{room: "shared/host/link/sockets", own: []string{"shared/host/link"}, foreign: []string{"github.com/vishvananda/netlink", "golang.org/x/sys/unix"}, why: "part of the door to netlink: sockets, whatever they are for"},
	{room: "shared/host/link/loopback", own: []string{"shared/host/link"}, foreign: []string{"github.com/vishvananda/netlink", "golang.org/x/sys/unix"}, why: "one interface of the host, for whoever has addresses there"},
	{room: "shared/host/frr", own: []string{"shared/frr", "shared/secret"}, why: "the only way to FRR's daemons: it knows no cluster"},
	{room: "shared/host/ipmi", why: "packets to BMCs and nothing else: it knows no host and no description"},
	{room: "shared/host/redfish", own: []string{"shared/host/redfish/wire", "shared/rootdisk"}, why: "what a BMC reports, without a judgement"},
	{room: "shared/host/redfish/wire", why: "single documents of a BMC: it knows no resource"},
	{room: "shared/rootdisk", why: "leaf; a choice follows from an inventory, wherever that comes from"},
	{room: "shared/host/preflight", own: []string{"shared/host/ipmi", "shared/host/redfish", "shared/host/redfish/wire", "shared/rootdisk"},
		why: "judges BMCs by what they report; what a description wants of them is given"},
	{room: "shared/host/preflight/report", own: []string{"shared/host/preflight", "shared/host/redfish", "shared/operator/layout", "shared/rootdisk"}, why: "what is printed of findings, which others make"},
	{room: "shared/host/preflight/targets", own: []string{"shared/bmc", "shared/host/preflight", "shared/host/redfish", "shared/host/redfish/wire", "shared/mac", "shared/plan/provision", "shared/provisioning/hostfile", "shared/secret", "shared/spec", "shared/spec/machine", "shared/spec/provisioning/grammar"},
		why: "joins what a description has of a host and what preflight asks; neither knows the other"},
	{room: "shared/host/readiness", own: slices.Concat([]string{"shared/host/inspect", "shared/host/inspect/provisioning", "shared/host/preflight", "shared/host/preflight/report", "shared/operator/doctor/provisioning", "shared/operator/facts", "shared/operator/layout", "shared/plan/provision", "shared/provisioning/artifact"}, leaves),
		why: "joins what the link shows and what the BMCs report, for a person and for the phase machine alike"},
	{room: "shared/host/accounts", own: []string{"shared/bmc", "shared/host/file", "shared/spec", "shared/spec/document", "shared/spec/provisioning", "shared/spec/provisioning/grammar"}, why: "the files that a description names beside itself"},
	{room: "shared/checksum", why: "leaf"},
	{room: "shared/clients", own: []string{"shared/checksum"}, why: "leaf; bytes of reports and segments, and what a node knows by them"},
	{room: "shared/comment", why: "leaf; every format has comments"},
	{room: "shared/container", why: "leaf"},
	{room: "shared/endpoint", why: "leaf"},
	{room: "shared/health", why: "leaf"},
	{room: "shared/operator/journal", own: []string{"shared/speak", "shared/spoken", "shared/supervised"}, why: "what a host has observed: which program observes is another's matter"},
	{room: "shared/operator/metrics", own: []string{"shared/clash", "shared/loop", "shared/speak", "shared/spoken", "shared/supervised", "shared/vrrp"}, why: "counts what it is given, and knows no plan"},
	{room: "shared/bmc", own: []string{"shared/near"}, foreign: []string{"github.com/metal3-io/baremetal-operator/pkg/hardwareutils/bmc"}, why: "the only importer of metal3's reader of BMC addresses"},
	{room: "shared/mac", why: "leaf"},
	{room: "shared/secret", why: "leaf"},
	{room: "shared/subnet", why: "leaf"},
	{room: "shared/operator/metrics/program", own: []string{"shared/loop", "shared/operator/metrics"}, why: "what a program counts of itself is the same for all of them"},
	{room: "shared/near", why: "leaf"},
	{room: "shared/notice", why: "leaf"},
	{room: "shared/offer", own: []string{"shared/mac"}, why: "leaf"},
	{room: "shared/lldp", why: "leaf; what a frame means"},
	{room: "shared/port", why: "leaf"},
	{room: "shared/record", why: "leaf"},
	{room: "shared/redirect", own: []string{"shared/port"}, why: "leaf; cluster/lb decides by it, and shared/host/nft, which knows no phase, writes it to the kernel"},
	{room: "shared/release", own: []string{"shared/health"}, why: "leaf"},
	{room: "shared/role", why: "leaf"},
	{room: "shared/supervised", own: []string{"shared/keepalived"}, why: "leaf; what goes to keepalived's parent is a value of that format"},
	{room: "shared/operator/judge", own: []string{"shared/clash", "shared/vrrp"}, why: "leaf"},
	{room: "shared/timingproof", own: []string{"shared/vrrp"}, why: "leaf; what was measured, and what that allows"},
	{room: "shared/vrrp", own: []string{"shared/health"}, why: "leaf; how fast the elections are follows from how fast checks are"},
	{room: "shared/vrrp/proof", own: []string{"shared/health", "shared/vrrp"}, why: "leaf; a proof needs the policy and the timers alone"},
	{room: "shared/loop", why: "a loop knows time and context, nothing of what it turns"},
	{room: "shared/progress", why: "a line on a terminal: whose work it is is another's matter"},
	{room: "shared/operator/timeline", why: "pictures for everybody: of what is computed and of what is measured"},
	{room: "shared/operator/layout", why: "leaf; how text fits a terminal, whatever it is about"},
	{room: "shared/operator/manual", own: leaves, foreign: []string{"github.com/spf13/"}, why: "pages follow from the command line, and from no verb"},
	{room: "shared/operator/example", own: append([]string{"shared/spec"}, leaves...), foreign: []string{"go.yaml.in/yaml/v3"}, why: "inputs that need no host"},
	{room: "shared/operator/overview", own: append([]string{"shared/plan/provision", "shared/plan/provisions", "shared/provisioning/orders", "shared/spec/machine", "shared/election", "shared/operator/drift", "shared/operator/layout", "shared/plan", "shared/plan/bound", "shared/plan/routed", "shared/spec"}, leaves...), foreign: []string{"go.yaml.in/yaml/v3"}, why: "prints plans and reports, and decides nothing"},
	{room: "shared/operator/timeline/gap", own: []string{"shared/operator/timeline"}, why: "it finds what is drawn elsewhere"},
	{room: "shared/operator/chronicle", own: []string{"shared/operator/journal", "shared/speak", "shared/supervised", "shared/operator/timeline", "shared/operator/timeline/gap"}, why: "what hosts have written down is read without a look at any of them"},
	{room: "shared/operator/chronicle/install", own: []string{"shared/mac", "shared/operator/layout", "shared/operator/timeline", "shared/provisioning/cause", "shared/provisioning/events", "shared/provisioning/ledger", "shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress", "shared/operator/chronicle/fleet", "shared/operator/workers", "shared/operator/workers/objects"}, why: "what a bootstrap machine has written down, and what was saved of an API, is read without a look at either"},
	{room: "shared/operator/chronicle/fleet", own: []string{"shared/operator/timeline", "shared/operator/workers", "shared/provisioning/progress"}, why: "what was saved of an API is drawn without a look at it"},
	{room: "shared/operator/workers", own: []string{"shared/notice", "shared/object", "shared/operator/layout", "shared/operator/scale", "shared/provisioning/progress", "shared/provisioning/remedy"}, why: "how far hosts are, by what was read: where that was read is another's matter"},
	{room: "shared/operator/workers/objects", own: []string{"shared/notice", "shared/object", "shared/operator/redact", "shared/operator/scale", "shared/operator/workers"}, why: "the API's objects in JSON, from wherever they come"},
	{room: "shared/operator/scale/bare", own: []string{"shared/object", "shared/operator/scale"}, why: "which step is next where no Machine is, by what was read: who reads and does it is another's matter"},
	{room: "shared/operator/scale", own: []string{"shared/object"}, why: "which step is next, by what was read: who reads and does it is another's matter"},
	{room: "shared/operator/simulate/agenda", why: "leaf; events of any simulation"},
	{room: "shared/operator/simulate/script", why: "leaf; lines of any schedule"},
	{room: "shared/operator/simulate/table", own: []string{"shared/operator/layout"}, why: "the table of any simulation"},
	{room: "shared/operator/simulate/seeds", why: "leaf; runs of any simulation"},
	{room: "shared/operator/simulate/schedule", own: append([]string{"shared/operator/simulate/script"}, leaves...), why: "what is simulated is described before anything runs"},
	{room: "shared/operator/simulate/trace", own: append([]string{"shared/operator/simulate/schedule", "shared/operator/timeline"}, leaves...), why: "what came of a run is read without what ran it"},
	{room: "shared/operator/simulate/world", own: append([]string{"shared/operator/simulate/agenda", "shared/operator/simulate/schedule", "shared/operator/simulate/trace"}, leaves...), why: "the state of virtual time, which every simulated program changes"},
	{room: "shared/operator/simulate/rules", own: append(simulated, leaves...), why: "rules read the state, and know no program"},
	{room: "shared/operator/simulate/checks", own: append(simulated, leaves...), why: "one simulated program"},
	{room: "shared/operator/simulate/balancer", own: append([]string{"shared/operator/simulate/checks"}, append(simulated, leaves...)...), why: "one simulated program, which wakes the checks that depend on it"},
	{room: "shared/operator/simulate/router", own: append([]string{"shared/operator/simulate/rules"}, append(simulated, leaves...)...), why: "one simulated program; each takeover is judged"},
	{room: "shared/operator/simulate/supervisor", own: append([]string{"shared/election", "shared/operator/simulate/balancer", "shared/operator/simulate/router"}, append(simulated, leaves...)...), why: "keepalived's parent starts and ends it, and a reboot ends the others"},
	{room: "shared/operator/simulate/", own: append([]string{"shared/operator/simulate/"}, leaves...), why: "virtual time needs no machine, and no plan"},
	{room: "shared/operator/simulate", own: append([]string{"shared/election", "shared/keepalived", "shared/operator/simulate/", "shared/operator/timeline", "shared/plan", "shared/plan/bound", "shared/spec"}, leaves...), foreign: []string{"go.yaml.in/yaml/v3"}, why: "compares what scenarios cost with the plan's bounds; virtual time needs no machine"},
	{room: "shared/operator/simulate/routed/schedule", own: []string{"shared/bgp", "shared/operator/simulate/script", "shared/plan", "shared/plan/routed", "shared/vrrp"}, why: "what is simulated is described before anything runs"},
	{room: "shared/operator/simulate/both/schedule", own: []string{"shared/operator/simulate/routed/schedule", "shared/operator/simulate/schedule", "shared/operator/simulate/script", "shared/plan", "shared/vrrp"}, why: "what is simulated is described before anything runs"},
	{room: "shared/operator/simulate/both/pair", own: []string{"cluster/vip/announce", "shared/election", "shared/operator/simulate/", "shared/operator/timeline", "shared/plan", "shared/role", "shared/speak", "shared/supervised", "shared/vrrp"}, why: "the product's own decision, with hosts and routers that are simulated"},
	{room: "shared/operator/simulate/both", own: []string{"shared/operator/simulate", "shared/operator/simulate/", "shared/bgp", "shared/operator/timeline", "shared/plan", "shared/plan/bound", "shared/vrrp"}, why: "scenarios and their figures for both sides: virtual time needs no machine"},
	{room: "shared/operator/simulate/routed/fabric", why: "leaf; a router's choice of paths, whatever sends them"},
	{room: "shared/operator/simulate/routed/world", own: []string{"shared/health", "shared/operator/simulate/agenda", "shared/operator/simulate/routed/fabric", "shared/operator/simulate/routed/schedule", "shared/release", "shared/speak", "shared/vrrp"}, why: "the state of virtual time, with what the product keeps"},
	{room: "shared/operator/simulate/routed/rules", own: []string{"shared/bgp", "shared/health", "shared/operator/simulate/routed/schedule", "shared/operator/simulate/routed/world", "shared/speak", "shared/vrrp"}, why: "rules read the state, and know no program"},
	{room: "shared/operator/simulate/routed/session", own: []string{"shared/bgp", "shared/operator/simulate/routed/fabric", "shared/operator/simulate/routed/rules", "shared/operator/simulate/routed/schedule", "shared/operator/simulate/routed/world"}, why: "what the ends of a session notice; a route that is lost is judged"},
	{room: "shared/operator/simulate/routed/host", own: []string{"shared/bgp", "shared/election", "shared/health", "shared/operator/simulate/routed/fabric", "shared/operator/simulate/routed/rules", "shared/operator/simulate/routed/schedule", "shared/operator/simulate/routed/session", "shared/operator/simulate/routed/world", "shared/release", "shared/speak", "shared/vrrp"}, why: "the product's own decisions, with a host that is simulated"},
	{room: "shared/operator/simulate/routed/clients", own: []string{"shared/operator/simulate/routed/schedule", "shared/operator/simulate/routed/world"}, why: "clients see where routers lead them, and nothing else"},
	{room: "shared/operator/simulate/routed/engine", own: []string{"shared/operator/simulate/routed/"}, why: "it has programs act as time passes"},
	{room: "shared/operator/simulate/routed", own: []string{"shared/operator/simulate/routed/", "shared/operator/simulate/seeds", "shared/operator/simulate/table", "shared/plan/bound"}, why: "scenarios and their figures: virtual time needs no machine"},
	{room: "shared/operator/simulate/provisioning/schedule", own: []string{"shared/operator/simulate/script", "shared/plan", "shared/plan/provision", "shared/provisioning/progress", "shared/spec/provisioning"}, why: "what is simulated is described before anything runs"},
	{room: "shared/operator/simulate/provisioning/world", own: []string{"cluster/vip/occupant", "shared/election", "shared/health", "shared/mac", "shared/notice", "shared/object", "shared/operator/scale", "shared/operator/simulate/agenda", "shared/operator/simulate/provisioning/schedule", "shared/plan/provision", "shared/provisioning", "shared/provisioning/ledger", "shared/provisioning/node", "shared/provisioning/progress", "shared/provisioning/served", "shared/vrrp"}, why: "the state of virtual time, with what a server of the plan answers"},
	{room: "shared/operator/simulate/provisioning/rules", own: []string{"cluster/vip/occupant", "shared/bootserver", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/world", "shared/plan/provision", "shared/provisioning/progress", "shared/vrrp"}, why: "rules read the state, and know no program"},
	{room: "shared/operator/simulate/provisioning/host", own: []string{"shared/operator/simulate/provisioning/rules", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/world", "shared/provisioning/node"}, why: "what boots on hosts; each answer and each write is judged"},
	{room: "shared/operator/simulate/provisioning/ironic", own: []string{"shared/mac", "shared/operator/simulate/provisioning/host", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/world", "shared/plan/provision", "shared/provisioning/node"}, why: "another program, simulated: it switches hosts"},
	{room: "shared/operator/simulate/provisioning/server", own: []string{"shared/addr", "shared/asset", "shared/bootserver", "shared/container", "shared/mac", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/world", "shared/provisioning/orders", "shared/provisioning/served", "shared/vrrp"}, why: "the product's own room, with a host that is simulated"},
	{room: "shared/operator/simulate/provisioning/bootstrap", own: []string{"bootstrap/provision", "bootstrap/provision/handover", "bootstrap/provision/machine", "bootstrap/provisioning/address", "shared/addr", "shared/mac", "shared/notice", "shared/operator/scale", "shared/operator/simulate/provisioning/ironic", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/server", "shared/operator/simulate/provisioning/world", "shared/plan/provision", "shared/provisioning/cause", "shared/provisioning/events", "shared/provisioning/foreign", "shared/provisioning/hostfile", "shared/provisioning/ledger", "shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress", "shared/rootdisk", "shared/secret", "shared/vrrp"}, why: "the product's own rooms, with a machine that is simulated"},
	{room: "shared/operator/simulate/provisioning/cluster", own: []string{"cluster/dhcp", "cluster/vip/occupant", "shared/health", "shared/mac", "shared/operator/scale", "shared/operator/simulate/provisioning/ironic", "shared/operator/simulate/provisioning/schedule", "shared/operator/simulate/provisioning/server", "shared/operator/simulate/provisioning/world", "shared/plan/provision", "shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress", "shared/vrrp"}, why: "the product's own decisions, with nodes that are simulated"},
	{room: "shared/operator/simulate/provisioning/engine", own: []string{"shared/operator/simulate/provisioning/", "shared/provisioning/ledger", "shared/provisioning/progress"}, why: "it has programs act as time passes"},
	{room: "shared/operator/simulate/provisioning", own: []string{"shared/operator/simulate/provisioning/", "shared/operator/simulate/seeds", "shared/operator/simulate/table", "shared/provisioning/progress"}, why: "scenarios and their figures: virtual time needs no machine"},
	{room: "shared/keepalived", own: leaves, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "cluster/haproxy", own: leaves, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/corefile", own: leaves, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/resolvconf", own: leaves, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/provisioning/arch", why: "leaf; a registry of numbers"},
	{room: "shared/provisioning", own: append([]string{"shared/provisioning/arch"}, leaves...), why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/provisioning/access", why: "leaf; what one request is and means"},
	{room: "shared/provisioning/artifact", why: "leaf; how a description names a file"},
	{room: "shared/provisioning/events", own: []string{"shared/mac", "shared/provisioning/layout"}, why: "the format of files, which other rooms write and read"},
	{room: "shared/provisioning/layout", why: "leaf; paths that several programs share"},
	{room: "shared/provisioning/orders", own: []string{"shared/mac"}, why: "leaf; what programs of one machine write for each other, whichever they are"},
	{room: "shared/provisioning/hostfile", own: []string{"shared/rootdisk", "shared/secret"}, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/provisioning/ironic", own: []string{"shared/provisioning/layout"}, why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/provisioning/node", own: []string{"shared/mac", "shared/rootdisk", "shared/secret"}, why: "leaf; Ironic's states and verbs, for those that decide and the one that asks"},
	{room: "shared/provisioning/ledger", own: []string{"shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress"}, why: "the format of a file, and what follows from its lines"},
	{room: "shared/provisioning/progress", own: []string{"shared/mac"}, why: "the format of a file, for whoever writes and reads it"},
	{room: "shared/provisioning/remedy", why: "leaf; what another program's words mean"},
	{room: "shared/provisioning/cause", own: []string{"shared/provisioning/bootlog", "shared/provisioning/events"}, why: "what events of a host mean: which program needs to know is another's matter"},
	{room: "shared/provisioning/foreign", own: []string{"shared/offer", "shared/provisioning/layout"}, why: "the format of a file, which other rooms write and read"},
	{room: "shared/provisioning/bootlog", own: []string{"shared/mac", "shared/provisioning", "shared/provisioning/arch", "shared/provisioning/events"}, why: "what a daemon's log means: its lines and their time come from another room"},
	{room: "shared/provisioning/programs", own: []string{"shared/provisioning/layout"}, why: "places in images, for both phases"},
	{room: "shared/provisioning/conductor", own: append([]string{"shared/plan", "shared/plan/provision", "shared/provisioning/ironic", "shared/provisioning/layout"}, leaves...), why: "a decision for both phases: what a plan means for Ironic's configuration; it looks at no host"},
	{room: "shared/provisioning/served", own: append([]string{"shared/plan/provision", "shared/provisioning", "shared/provisioning/layout", "shared/spec/provisioning"}, leaves...), why: "a decision for both phases: what a plan means for the format; it sees no host"},
	{room: "shared/object", foreign: []string{"go.yaml.in/yaml/v3"}, why: "what we write of Kubernetes' objects: importers do without its own types"},
	{room: "cluster/metal3", own: []string{"shared/bmc", "shared/object", "shared/plan", "shared/plan/provision", "shared/role", "shared/rootdisk", "shared/secret", "shared/spec", "shared/spec/machine", "shared/spec/provisioning"}, why: "objects of a plan and of what it may not have: it reads no file"},
	{room: "cluster/monitor", own: []string{"cluster/pod", "shared/plan", "shared/spec"}, why: "what monitors of all kinds see follows from the plan"},
	{room: "cluster/pod", own: append([]string{"shared/object"}, leaves...), why: "a format knows no plan: mapping one to the other is a decision"},
	{room: "shared/spec", own: append([]string{"shared/bmc", "shared/spec/"}, leaves...), why: "input is read without a probe of the host"},
	{room: "shared/spec/image", own: []string{"shared/spec/document", "shared/spec/name"}, why: "a reference is judged by itself"},
	{room: "shared/spec/document", own: []string{"shared/near"}, foreign: []string{"go.yaml.in/yaml/v3"}, why: "YAML with places and findings, whatever the document describes"},
	{room: "shared/spec/installer", own: []string{"shared/near", "shared/spec/document", "shared/spec/name", "shared/spec/platform"}, foreign: []string{"go.yaml.in/yaml/v3"}, why: "facts about another program's input"},
	{room: "shared/spec/machine", own: []string{"shared/bmc", "shared/mac", "shared/rootdisk", "shared/secret", "shared/spec/document", "shared/spec/machine/disk", "shared/spec/name", "shared/spec/provisioning/grammar"}, foreign: []string{"go.yaml.in/yaml/v3"}, why: "hosts are judged one by one and against each other, without the cluster's networks"},
	{room: "shared/spec/machine/disk", own: []string{"shared/rootdisk", "shared/spec/document", "shared/spec/provisioning/grammar"}, why: "the hints of one disk"},
	{room: "shared/spec/provisioning", own: []string{"shared/mac", "shared/spec/document", "shared/spec/machine", "shared/spec/name", "shared/spec/network", "shared/spec/provisioning/dhcp", "shared/spec/provisioning/grammar", "shared/spec/provisioning/static", "shared/subnet"}, why: "rules that compare a network with hosts and with other networks"},
	{room: "shared/spec/provisioning/dhcp", own: []string{"shared/spec/document", "shared/spec/provisioning/grammar", "shared/subnet"}, why: "rules about one server, which knows its network alone"},
	{room: "shared/spec/provisioning/grammar", own: []string{"shared/mac", "shared/offer", "shared/secret", "shared/spec/document", "shared/spec/name"}, why: "a grammar knows no cluster"},
	{room: "shared/spec/provisioning/static", own: []string{"shared/spec/document", "shared/spec/network"}, why: "rules about one address, which know no other part of provisioning"},
	{room: "shared/spec/shape", own: []string{"shared/spec/document", "shared/spec/installer"}, why: "rules about numbers of nodes"},
	{room: "shared/spec/routing/timers", own: []string{"shared/bgp", "shared/spec/document", "shared/spec/provisioning/grammar"}, why: "rules about numbers of BGP and BFD"},
	{room: "shared/spec/routing/assign", why: "which networks and addresses belong together, without a document"},
	{room: "shared/spec/routing/number", own: []string{"shared/bgp", "shared/spec/document"}, why: "a grammar knows no cluster"},
	{room: "shared/spec/routing/router", own: []string{"shared/bgp", "shared/secret", "shared/spec/document", "shared/spec/network", "shared/spec/provisioning/grammar", "shared/spec/routing/number"}, why: "rules about one router, which know no other"},
	{room: "shared/spec/routing/session", own: []string{"shared/spec/document", "shared/spec/provisioning/grammar", "shared/spec/routing/timers"}, why: "two spellings of the same fields, which know no cluster"},
	{room: "shared/spec/routing", own: []string{"shared/bgp", "shared/bgp/proof", "shared/secret", "shared/spec/document", "shared/spec/name", "shared/spec/network", "shared/spec/platform", "shared/spec/provisioning/grammar", "shared/spec/routing/assign", "shared/spec/routing/number", "shared/spec/routing/router", "shared/spec/routing/session", "shared/spec/routing/timers"}, why: "rules that compare routers with networks and virtual IPs"},
	{room: "shared/spec/name", own: []string{"shared/record", "shared/spec/document"}, why: "a grammar knows no cluster"},
	{room: "shared/spec/network", own: []string{"shared/spec/document", "shared/spec/name", "shared/spec/platform"}, why: "rules that compare addresses need nothing else of a description"},
	{room: "shared/spec/platform", why: "leaf"},
	{room: "shared/spec/setting", own: []string{"shared/clash", "shared/near", "shared/port", "shared/spec/document", "shared/spec/machine", "shared/spec/name", "shared/timingproof", "shared/vrrp"}, foreign: []string{"go.yaml.in/yaml/v3"}, why: "settings are judged without the cluster's own data, but for hosts of which some need a proof"},
	{room: "shared/distribution", own: []string{"shared/endpoint", "shared/object", "shared/port", "shared/spec", "shared/vrrp"}, why: "facts about two kinds of cluster, for those that plan one"},
	{room: "shared/plan", own: append([]string{"shared/distribution", "shared/plan/bound", "shared/plan/pace", "shared/plan/ports", "shared/plan/provision", "shared/plan/routed", "shared/plan/sharing", "shared/plan/size", "shared/plan/way", "shared/spec"}, leaves...), why: "compiling is pure"},
	{room: "shared/plan/speaks", own: []string{"shared/plan"}, why: "a question about plans that both the command line and the rooms of a node ask"},
	{room: "shared/plan/way", own: []string{"shared/spec"}, why: "words that nodes announce to each other"},
	{room: "shared/plan/routed", own: []string{"shared/bgp", "shared/bgp/proof", "shared/health", "shared/plan/bound", "shared/speak", "shared/spec", "shared/spec/routing", "shared/vrrp"}, why: "a part of the plan: grades and times alone decide"},
	{room: "shared/plan/provisions", own: []string{"shared/plan", "shared/plan/provision", "shared/spec"}, why: "a question about plans that both the command line and the rooms of the bootstrap machine ask"},
	{room: "shared/plan/sharing", own: []string{"shared/addr", "shared/distribution", "shared/mac", "shared/plan/provision", "shared/spec", "shared/spec/provisioning"}, why: "a question about descriptions that the plan and the rooms of a node ask"},
	{room: "shared/plan/size", own: []string{"shared/plan/provision", "shared/spec", "shared/spec/routing"}, why: "a decision about descriptions, of which the plan is made"},
	{room: "shared/plan/rollout", own: []string{"shared/notice", "shared/plan", "shared/plan/way", "shared/spec"}, why: "what a live cluster can be given: pure, of two plans"},
	{room: "shared/plan/provision", own: append([]string{"shared/bmc", "shared/offer", "shared/spec", "shared/spec/machine", "shared/spec/provisioning", "shared/spec/provisioning/grammar"}, leaves...), why: "hosts, networks and times alone decide how hosts are provisioned"},
	{room: "shared/plan/ports", own: []string{"shared/distribution", "shared/plan/routed", "shared/port", "shared/spec", "shared/spec/provisioning", "shared/vrrp"}, why: "which ports a cluster uses follows from its description alone"},
	{room: "shared/plan/pace", own: []string{"shared/plan/bound", "shared/timingproof", "shared/vrrp"}, why: "a part of the plan: a profile, a policy and a proof alone decide"},
	{room: "shared/plan/bound", own: []string{"shared/health", "shared/vrrp"}, why: "leaf; a bound follows from timers and priorities alone"},
	{room: "shared/election", own: append([]string{"shared/keepalived", "shared/plan", "shared/spec"}, leaves...), why: "what a VRRP group is, for whoever decides, reports or simulates: pure, of plan and observation"},
	{room: "shared/operator/redact", foreign: []string{"github.com/rogpeppe/go-internal/diff"}, why: "leaf; texts of any file"},
	{room: "shared/operator/ownership", own: append([]string{"shared/plan", "shared/plan/speaks", "shared/spec", "shared/spoken"}, leaves...), why: "which files are ours follows from plans and a file system: what a role gets is passed in"},
	{room: "shared/operator/drift/effect", why: "leaf"},
	{room: "shared/operator/drift/announced", own: []string{"shared/operator/drift/effect", "shared/plan", "shared/plan/routed", "shared/spec"}, why: "two plans are enough: it sees no host"},
	{room: "shared/operator/drift", own: append([]string{"shared/provisioning/layout", "shared/operator/drift/announced", "shared/operator/drift/effect", "shared/operator/ownership", "shared/operator/redact", "shared/plan", "shared/spec", "shared/spoken"}, leaves...), foreign: []string{"github.com/rogpeppe/go-internal/diff"}, why: "what a host has beside what it should have: its files come as a file system"},
	{room: "shared/nameserver", own: append([]string{"shared/corefile", "shared/loop", "shared/plan", "shared/resolvconf"}, leaves...), why: "what the name servers of both phases decide alike"},
	{room: "shared/operator/routers", own: append([]string{"shared/plan", "shared/plan/routed"}, leaves...), why: "texts of a plan, for people who run routers"},
	{room: "shared/operator/announcing", own: append([]string{"shared/operator/layout", "shared/plan/routed", "shared/speak", "shared/spoken"}, leaves...), why: "what files of a host mean: another room reads them"},
	{room: "shared/operator/facts", own: append([]string{"shared/operator/announcing", "shared/plan"}, leaves...), why: "what was seen, for every check and every inspector"},
	{room: "shared/operator/doctor", own: append([]string{"shared/operator/doctor/", "shared/operator/facts", "shared/plan"}, leaves...), why: "findings follow from facts: another room gathers them"},
	{room: "shared/operator/doctor/", own: append([]string{"shared/operator/announcing", "shared/operator/facts", "shared/operator/layout", "shared/plan", "shared/plan/sharing", "shared/spec"}, leaves...), why: "findings follow from facts: another room gathers them"},
	{room: "shared/host/inspect/migration", own: []string{"shared/plan", "shared/plan/way"}, why: "it reads nothing of the host"},
	{room: "shared/host/inspect", own: slices.Concat([]string{"cluster", "shared/host/inspect/migration", "cluster/haproxy", "cluster/vip", "cluster/vip/", "shared/election", "shared/host/kube", "shared/host/link", "shared/host/capture", "shared/host/probe", "shared/host/reach", "shared/host/rundir", "shared/keepalived", "shared/nameserver", "shared/operator/facts", "shared/operator/journal", "shared/operator/workers", "shared/plan", "shared/plan/speaks", "shared/plan/way", "shared/spec"}, leaves),
		why: "it reads what the programs of both phases have written on a host"},
	{room: "shared/host/inspect/", own: slices.Concat([]string{"cluster", "cluster/dns", "cluster/haproxy", "cluster/vip", "cluster/vip/", "shared/corefile", "shared/election", "shared/host/", "shared/keepalived", "shared/loop", "shared/operator/announcing", "shared/operator/facts", "shared/operator/journal", "shared/operator/judge", "shared/operator/layout", "shared/operator/workers", "shared/plan", "shared/plan/provision", "shared/plan/provisions", "shared/plan/sharing", "shared/resolvconf", "shared/spec", "shared/spec/image"}, leaves),
		why: "one room for each side of a host; what is wrong with it is another's matter"},
	{room: "shared/host/inspect/announced", own: slices.Concat([]string{"cluster/vip/checks", "cluster/vip/member", "shared/announcing", "shared/host/inspect", "shared/host/uptime", "shared/operator/announcing", "shared/operator/judge", "shared/plan", "shared/plan/routed", "shared/spoken"}, leaves), why: "it reads what the monitor and the speaker write, and asks none of them"},
	{room: "shared/host/inspect/routed", own: slices.Concat([]string{"shared/announcing", "shared/host/bgpprobe", "shared/host/inspect", "shared/host/inspect/announced", "shared/host/inspect/spread", "shared/host/link", "shared/host/link/sockets", "shared/host/proc", "shared/host/reach", "shared/operator/announcing", "shared/operator/facts", "shared/plan/routed", "shared/spoken"}, leaves), why: "it asks the host and its routers; what is wrong there is another's matter"},
	{room: "shared/host/inspect/spread", own: []string{"shared/operator/facts"}, why: "it asks an address, and knows no cluster and no router"},
	{room: "shared/host/inspect/installation", own: append([]string{"shared/host/events", "shared/host/inspect", "shared/host/ledger", "shared/host/orders", "shared/operator/layout", "shared/operator/metrics", "shared/plan/provision", "shared/provisioning/cause", "shared/provisioning/events", "shared/provisioning/foreign", "shared/provisioning/layout", "shared/provisioning/ledger", "shared/provisioning/orders", "shared/provisioning/progress", "shared/provisioning/remedy"}, leaves...),
		why: "it reads what the programs write that provision hosts, and asks none of them"},
	{room: "shared/host/inspect/provisioning", own: slices.Concat([]string{"shared/host/dhcp", "shared/host/inspect", "shared/host/link", "shared/host/link/sockets", "shared/host/lldp", "shared/host/proc", "shared/host/reach", "shared/operator/facts"}, leaves),
		why: "it asks the link on which hosts are installed; what is wrong there is another's matter"},
	{room: "shared/operator/doctor/provisioning", own: append([]string{"shared/operator/facts"}, leaves...), why: "findings about a link, without a plan: it may not exist yet"},
	{room: "shared/host/diagnose", own: slices.Concat([]string{"shared/election", "shared/host/inspect", "shared/host/inspect/", "shared/operator/doctor", "shared/operator/doctor/provisioning", "shared/operator/drift", "shared/operator/facts", "shared/operator/layout", "shared/plan", "shared/plan/sharing", "shared/progress"}, leaves),
		why: "it orders inspections and asks the doctor"},
	{room: "shared/host/file", own: []string{"shared/loop"}, foreign: []string{"github.com/google/renameio", "github.com/fsnotify/fsnotify", "golang.org/x/sys"}, why: "files: one writer, one watcher"},
	{room: "shared/host/proc", own: append([]string{"shared/loop"}, leaves...), foreign: []string{"golang.org/x/sys"}, why: "processes: by pidfd, and as their parent"},
	{room: "shared/host/link", own: append([]string{"shared/loop"}, leaves...), foreign: []string{"github.com/vishvananda/netlink", "golang.org/x/sys"}, why: "the only door to netlink, with those below it"},
	{room: "shared/host/nft", own: append([]string{"shared/host/nft/listed"}, leaves...), foreign: []string{"github.com/google/nftables", "github.com/mdlayher/netlink", "golang.org/x/sys"}, why: "the only door to netfilter"},
	{room: "shared/host/nft/dhcp", own: []string{"shared/host/nft/listed", "shared/mac"}, foreign: []string{"github.com/google/nftables", "golang.org/x/sys"}, why: "part of the door to netfilter: one purpose's table"},
	{room: "shared/host/nft/listed", foreign: []string{"github.com/google/nftables"}, why: "part of the door to netfilter: it compares, and asks the kernel nothing"},
	{room: "shared/host/haproxy", own: []string{"shared/loop"}, why: "HAProxy's sockets"},
	{room: "shared/host/identity", own: []string{"shared/host/file", "shared/host/localhost", "shared/provisioning/hostfile", "shared/provisioning/layout", "shared/secret"}, foreign: []string{"golang.org/x/crypto/bcrypt"},
		why: "the secrets of Ironic that a machine makes: it starts no Ironic"},
	{room: "shared/host/localhost", foreign: []string{"golang.org/x/sys"}, why: "the machine's own name, for all that dial"},
	{room: "shared/host/lateness", own: []string{"shared/advert", "shared/host/capture", "shared/host/proc", "shared/timingproof", "shared/vrrp"}, foreign: []string{"golang.org/x/sys/unix"}, why: "it measures, and judges nothing"},
	{room: "shared/host/clients", own: []string{"shared/clients", "shared/host/link/sockets", "shared/host/socket"}, foreign: []string{"golang.org/x/sys/unix"}, why: "sockets of one purpose: it decides nothing"},
	{room: "shared/host/socket", foreign: []string{"golang.org/x/sys"}, why: "options and addresses of sockets, whatever they are for"},
	{room: "shared/host/multicast", own: []string{"shared/host/socket"}, foreign: []string{"golang.org/x/sys"}, why: "sockets of one interface"},
	{room: "shared/host/terminal", foreign: []string{"golang.org/x/sys"}, why: "asks the kernel what shows the output"},
	{room: "shared/host/bus", foreign: []string{"github.com/godbus/dbus/v5"}, why: "the only door to the message bus"},
	{room: "shared/host/healthz", foreign: []string{"golang.org/x/net/netutil"}, why: "the loopback's answer to kubelet"},
	{room: "shared/host/kube", own: append([]string{"shared/host/kube/"}, leaves...), foreign: []string{"k8s.io/"}, why: "the only door to Kubernetes: this room and those below it share client-go"},
	{room: "shared/host/kube/fault", foreign: []string{"k8s.io/"}, why: "part of the door to Kubernetes: it tells the API's errors apart"},
	{room: "shared/host/kube/kubeconfig", own: []string{"shared/host/file", "shared/host/localhost"}, foreign: []string{"k8s.io/"}, why: "part of the door to Kubernetes: client-go reads the kubeconfig"},
	{room: "shared/host/kube/watch", own: []string{"shared/host/kube/fault", "shared/host/kube/kubeconfig", "shared/loop"}, foreign: []string{"k8s.io/"}, why: "part of the door to Kubernetes: client-go's reflector"},
	{room: "shared/host/podman", own: append([]string{"shared/host/podman/archive"}, leaves...), foreign: []string{"github.com/containers/", "github.com/opencontainers/"}, why: "the only door to podman"},
	{room: "shared/host/podman/archive", foreign: []string{"golang.org/x/sys"}, why: "part of the door to podman: bytes of an image, which it does not trust"},
	{room: "shared/host/podresources", foreign: []string{"google.golang.org/grpc", "k8s.io/kubelet/pkg/apis/podresources/"}, why: "the only door to the kubelet"},
	{room: "shared/host/probe", own: append([]string{"shared/host/localhost"}, leaves...), foreign: []string{"github.com/miekg/dns"}, why: "probes"},
	{room: "shared/host/link/hold", foreign: []string{"github.com/vishvananda/netlink", "golang.org/x/sys"}, why: "part of the door to netlink: it changes one link, and reads none"},
	{room: "shared/host/listen", own: append([]string{"shared/election", "shared/host/file", "shared/host/link", "shared/host/capture", "shared/loop", "shared/operator/journal", "shared/plan"}, leaves...),
		why: "adverts are judged where they are received"},
	{room: "shared/host/output", own: []string{"shared/asset", "shared/host/file"}, why: "the one place that writes what a verb has made"},
	{room: "shared/host/capture", own: append([]string{"shared/host/socket"}, leaves...), foreign: []string{"golang.org/x/sys"}, why: "sockets that receive VRRP and nothing else"},
	{room: "shared/host/lldp", own: []string{"shared/host/socket", "shared/lldp"}, foreign: []string{"golang.org/x/sys"}, why: "a socket that receives announcements, and sends none"},
	{room: "shared/host/dhcp", own: []string{"shared/host/dhcp/wire", "shared/host/socket", "shared/loop", "shared/offer"}, foreign: []string{"golang.org/x/net/bpf", "golang.org/x/sys"}, why: "sockets that ask and receive servers of a link; what an answer means for a cluster is another's matter"},
	{room: "shared/host/dhcp/wire", own: []string{"shared/checksum", "shared/host/socket", "shared/offer"}, foreign: []string{"github.com/insomniacslk/dhcp/", "github.com/mdlayher/ndp"}, why: "the only door to DHCP's and neighbour discovery's packets; it sends none"},
	{room: "shared/host/events", own: []string{"shared/provisioning/events"}, why: "the one writer and reader of files of events"},
	{room: "shared/host/tail", own: []string{"shared/host/file"}, why: "lines of a file, whatever they mean"},
	{room: "shared/host/fileserver", own: []string{"shared/provisioning/access"}, foreign: []string{"golang.org/x/sys"}, why: "files over HTTP: which of them are served is another's decision"},
	{room: "shared/host/artifact", own: []string{"shared/host/file", "shared/provisioning/artifact", "shared/provisioning/layout"}, foreign: []string{"golang.org/x/sys"}, why: "files by their digests, whatever they are for"},
	{room: "shared/host/recorder", own: append([]string{"shared/election", "shared/host/file", "shared/host/rundir", "shared/host/speakdir", "shared/loop", "shared/operator/journal", "shared/plan", "shared/spoken"}, leaves...), why: "the one writer of a host's journal"},
	{room: "shared/host/rundir", own: append([]string{"shared/host/file", "shared/keepalived", "shared/loop"}, leaves...), why: "the files between keepalived's supervisor and the other programs"},
	{room: "shared/host/reach", own: []string{"shared/checksum", "shared/host/socket"}, foreign: []string{"golang.org/x/sys"}, why: "packets that probe the network and nothing else"},
	{room: "shared/host/inpod", own: append([]string{"shared/host/", "shared/keepalived", "shared/plan", "shared/spoken"}, leaves...), why: "processes that kubelet starts: a room orders them as it orders containers"},
	{room: "shared/host/barehosts", own: append([]string{"shared/host/machines", "shared/notice", "shared/object", "shared/operator/scale", "shared/operator/scale/bare", "shared/operator/workers/objects", "shared/plan"}, leaves...), why: "the API of hosts, their nodes and the pods there; requests come from another room"},
	{room: "shared/host/machines", own: append([]string{"shared/object", "shared/operator/scale", "shared/operator/workers", "shared/operator/workers/objects", "shared/provisioning/progress"}, leaves...), foreign: []string{"go.yaml.in/yaml/v3"}, why: "the API of hosts and Machines alone; requests come from another room"},
	{room: "shared/host/handedover", own: []string{"shared/host/kube", "shared/host/machines", "shared/host/reach", "shared/notice", "shared/operator/scale"}, why: "what the phase machine asks of a cluster: what follows from it is another's matter"},
	{room: "shared/host/members", own: slices.Concat([]string{"cluster/candidates", "cluster/vip", "cluster/vip/", "shared/host/kube", "shared/host/link", "shared/loop", "shared/plan", "shared/plan/routed", "shared/plan/way"}, leaves), why: "the API's objects as the rooms of a node's VIPs read them"},
	{room: "shared/host/orders", own: []string{"shared/host/file", "shared/provisioning/layout", "shared/provisioning/orders", "shared/provisioning/progress"}, why: "the files between the phase machine and the parts: it follows no orders"},
	{room: "shared/host/child", own: []string{"shared/container", "shared/loop"}, why: "a process as a container engine's user sees a container"},
	{room: "shared/host/first", own: []string{"shared/host/file"}, why: "what small static binaries share: it knows no daemon"},
	{room: "shared/host/ordered", own: []string{"shared/container", "shared/host/child", "shared/host/file", "shared/loop"}, why: "both sides of one file between two containers of a pod"},
	{room: "shared/host/bootserver", own: []string{"shared/asset", "shared/bootserver", "shared/host/dhcp", "shared/host/file", "shared/host/link", "shared/host/nft/dhcp", "shared/host/probe", "shared/mac"}, why: "the host of the room that answers hosts which boot, in both phases"},
	{room: "shared/host/memory", own: append([]string{"shared/host/file"}, leaves...), why: "the files by which a program resumes"},
	{room: "shared/host/services", own: append([]string{"cluster/haproxy", "cluster/vip/closed", "cluster/vip/probes", "shared/host/", "shared/plan", "shared/plan/provisions", "shared/spec"}, leaves...), why: "it says where a plan's services are; what their answers mean is another's matter"},
	{room: "shared/host/uptime", foreign: []string{"golang.org/x/sys/unix"}, why: "one clock, and nothing else"},
	{room: "shared/host/speakdir", own: []string{"shared/host/file", "shared/host/uptime", "shared/loop", "shared/spoken"}, why: "the files by which other programs ask FRR's parent: it is not the parent, and whose they are is another's matter"},
	{room: "shared/host/speakdir/abandoned", own: []string{"shared/host/file", "shared/host/link/loopback", "shared/host/speakdir", "shared/spoken"}, why: "what a dead speaker has left, seen from another process"},
	{room: "shared/host/node", own: slices.Concat([]string{"cluster/migrate", "cluster/vip", "cluster/vip/nodestate", "shared/election", "shared/host/", "shared/plan", "shared/plan/rollout", "shared/spec", "shared/spoken"}, leaves), why: "a node's files and links, for whichever of its programs needs them"},
	{room: "shared/host/meter", own: slices.Concat([]string{"shared/election", "shared/host/", "shared/operator/announcing", "shared/operator/metrics", "shared/plan", "shared/speak", "shared/spoken"}, leaves), why: "it reads a host as status does, and knows no room"},
	{room: "shared/host/systemd", foreign: []string{"github.com/coreos/go-systemd/v22/daemon"}, why: "the only door to systemd"},
	{room: "shared/host/supervise", own: append([]string{"shared/host/file", "shared/host/first", "shared/host/link", "shared/host/supervise/", "shared/loop"}, leaves...),
		why: "keepalived's parent stays small: it only wires the rooms below it"},
	{room: "shared/host/supervise/adverts", own: append([]string{"shared/host/link", "shared/host/nft", "shared/host/capture", "shared/host/supervise/pace", "shared/host/supervise/protocol", "shared/keepalived", "shared/loop"}, leaves...),
		why: "adverts on the link: it starts and stops no daemon"},
	{room: "shared/host/supervise/daemon", own: append([]string{"shared/host/file", "shared/host/proc", "shared/host/supervise/pace", "shared/host/supervise/protocol", "shared/keepalived", "shared/loop"}, leaves...),
		foreign: []string{"golang.org/x/sys"}, why: "processes of keepalived: it knows no VIP and no state"},
	{room: "shared/host/supervise/instances", own: append([]string{"shared/host/file", "shared/host/supervise/pace", "shared/host/supervise/protocol"}, leaves...),
		foreign: []string{"golang.org/x/sys"}, why: "what keepalived reports, and the bonuses that follow"},
	{room: "shared/host/supervise/orphans", own: append([]string{"shared/host/link", "shared/host/supervise/pace", "shared/host/supervise/protocol", "shared/host/supervise/sessions"}, leaves...),
		foreign: []string{"golang.org/x/sys"}, why: "VIPs that no keepalived answers for, seen from two processes"},
	{room: "shared/host/supervise/pace", own: []string{"shared/supervised"}, why: "pauses and failed tasks: whatever is paced"},
	{room: "shared/host/supervise/protocol", own: append([]string{"shared/keepalived"}, leaves...), why: "what comes from the monitor is read in one place, and acted on in others"},
	{room: "shared/host/supervise/sessions", own: []string{"shared/host/link", "shared/host/link/sockets", "shared/host/nft"}, why: "TCP connections of a VIP: which VIP is another's decision"},
	{room: "shared/host/supervise/tracks", own: append([]string{"shared/host/file", "shared/host/supervise/pace", "shared/keepalived", "shared/loop"}, leaves...), why: "tracked files: it reads no state but what it is given"},
	{room: "units", own: []string{"shared/asset"}, foreign: []string{"github.com/coreos/go-systemd/v22/unit"}, why: "units are documents"},
	{room: "ignition", own: []string{"shared/asset", "shared/object", "shared/role"}, foreign: []string{"go.yaml.in/yaml/v3", "github.com/coreos/ignition/v2/", "github.com/coreos/vcontext", "github.com/vincent-petithory/dataurl"},
		why: "the only importer of Ignition's types"},
	{room: "ignition/verify", foreign: []string{"github.com/coreos/ignition/v2/", "github.com/coreos/vcontext"}, why: "judges documents of others: what it brings along, importers of package ignition do without"},
	{room: "bootstrap", own: slices.Concat([]string{"shared/announcing", "shared/plan", "shared/plan/provision", "shared/plan/provisions", "shared/provisioning/hostfile", "shared/provisioning/layout", "shared/spec", "shared/spec/machine", "shared/spoken", "units"}, leaves), why: "importable by an installer: pure, no envelope, no host"},
	{room: "bootstrap/", own: slices.Concat([]string{"shared/election", "shared/nameserver", "shared/plan", "shared/spec", "shared/loop"}, formats, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/provisioning/address", own: slices.Concat([]string{"shared/loop", "shared/operator/metrics", "shared/plan", "shared/plan/provision", "shared/provisioning/layout", "shared/provisioning/orders", "shared/spec/provisioning"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/ironic", own: slices.Concat([]string{"shared/loop", "shared/operator/metrics", "shared/plan", "shared/plan/provision", "shared/provisioning/conductor", "shared/provisioning/ironic", "shared/provisioning/layout", "shared/provisioning/orders", "shared/spec"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/speaker", own: slices.Concat([]string{"shared/announcing", "shared/loop", "shared/plan", "shared/speak", "shared/spec", "shared/spoken"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/vip", own: slices.Concat([]string{"bootstrap/vip/conflict", "shared/election", "shared/plan", "shared/spec", "shared/loop"}, formats, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/vip/announce", own: slices.Concat([]string{"shared/loop"}, leaves), why: "it knows no plan, and writes through an interface"},
	{room: "bootstrap/vip/conflict", own: slices.Concat([]string{"shared/election", "shared/plan", "shared/loop"}, leaves), why: "it sees the network through its own interface"},
	{room: "cluster/", own: slices.Concat([]string{"cluster/haproxy", "shared/distribution", "shared/election", "shared/nameserver", "shared/plan", "shared/spec", "shared/loop"}, formats, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "cluster/workload", own: slices.Concat([]string{"cluster/metal3", "cluster/pod", "shared/container", "shared/object", "shared/plan", "shared/plan/provisions", "shared/provisioning/ironic", "shared/provisioning/layout", "shared/provisioning/programs", "shared/spec"}, leaves), why: "objects of a plan: importable by an installer, pure, no host"},
	{room: "cluster/workload/reads", own: slices.Concat([]string{"cluster/metal3", "cluster/workload", "shared/asset", "shared/object", "shared/plan", "shared/plan/provision", "shared/provisioning", "shared/provisioning/artifact", "shared/provisioning/conductor", "shared/provisioning/ironic", "shared/provisioning/layout", "shared/provisioning/served", "shared/spec"}, leaves), why: "files of a plan: it looks at no host"},
	{room: "shared/host/copied", own: []string{"shared/container"}, why: "files that other containers have copied, whatever they are for"},
	{room: "cluster", own: slices.Concat([]string{"cluster/haproxy", "cluster/metal3", "cluster/monitor", "cluster/pod", "cluster/workload", "shared/election", "shared/object", "shared/plan", "shared/plan/speaks", "shared/provisioning/layout", "shared/provisioning/programs", "shared/spec", "shared/spoken", "units"}, formats, leaves), why: "importable by an installer: pure, no envelope, no host"},
	{room: "cluster/card", own: []string{"shared/addr", "shared/loop", "shared/plan/provision", "shared/plan/sharing"}, why: "a runtime room sees the host through its own interface"},
	{room: "cluster/vip", own: slices.Concat([]string{"cluster/migrate", "cluster/vip/", "shared/election", "shared/plan", "shared/plan/sharing", "shared/plan/speaks", "shared/spec", "shared/loop"}, formats, leaves), why: "a runtime room sees the host through its own interfaces; the rooms below it and the migration decide parts of what it does"},
	{room: "cluster/migrate", own: append([]string{"cluster/vip/member", "shared/plan"}, leaves...), why: "nodes agree by what their Nodes announce: pure"},
	{room: "cluster/vip/announce", own: slices.Concat([]string{"cluster/vip/absent", "shared/announcing", "shared/election", "shared/loop", "shared/plan", "shared/spec", "shared/spoken"}, leaves), why: "what a node announces is pure; the files are behind an interface"},
	{room: "cluster/vip/absent", own: []string{"shared/vrrp"}, why: "leaf; the form of a file"},
	{room: "cluster/vip/bootpeer", own: leaves, why: "what is known of the bootstrap machine: a state machine without a clock"},
	{room: "cluster/vip/checks", own: slices.Concat([]string{"shared/loop"}, leaves), why: "checks know no plan, and probe through an interface"},
	{room: "cluster/vip/clients", own: slices.Concat([]string{"cluster/vip/member", "shared/loop", "shared/plan"}, leaves), why: "what is reported, and what is ended when; the host is behind an interface"},
	{room: "cluster/vip/closed", own: []string{"shared/health", "shared/loop", "shared/vrrp"}, why: "it knows no plan, and looks at ports through functions"},
	{room: "cluster/vip/occupant", own: []string{"shared/loop", "shared/mac"}, why: "it knows no plan, and asks the network through an interface"},
	{room: "cluster/vip/founding", own: slices.Concat([]string{"shared/loop"}, leaves), why: "it knows no plan, and probes through an interface"},
	{room: "cluster/vip/member", own: leaves, why: "the nodes that the API names: pure"},
	{room: "cluster/vip/nodestate", own: append([]string{"cluster/vip/member"}, leaves...), why: "the format of a file: it decides nothing"},
	{room: "cluster/vip/publish", own: slices.Concat([]string{"shared/loop"}, leaves), why: "it writes to the API through functions, and knows no plan"},
	{room: "cluster/vip/probes", own: append([]string{"cluster/haproxy"}, leaves...), why: "what a probe's answer means; the sockets are behind interfaces"},
	{room: "shared/bootserver", own: slices.Concat([]string{"shared/loop", "shared/operator/metrics", "shared/plan", "shared/plan/provision", "shared/provisioning", "shared/provisioning/", "shared/spec", "shared/spec/provisioning"}, leaves), why: "the DHCP server of both phases: a runtime room sees the host through its own interfaces"},
	{room: "shared/bootfiles", own: slices.Concat([]string{"shared/bootfiles/client", "shared/bootfiles/item", "shared/bmc", "shared/loop", "shared/operator/metrics", "shared/plan", "shared/plan/provision", "shared/provisioning/access", "shared/provisioning/events", "shared/provisioning/layout", "shared/provisioning/orders", "shared/spec/provisioning"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "shared/bootfiles/client", own: slices.Concat([]string{"shared/bmc", "shared/plan/provision", "shared/provisioning/access"}, leaves), why: "which host asks follows from the plan and from its requests"},
	{room: "shared/bootfiles/item", own: slices.Concat([]string{"shared/plan", "shared/plan/provision", "shared/provisioning/artifact", "shared/provisioning/layout", "shared/provisioning/programs", "shared/spec"}, leaves), why: "what is needed follows from the plan"},
	{room: "bootstrap/provision", own: []string{"bootstrap/provision/handover", "bootstrap/provision/machine", "shared/addr", "shared/loop", "shared/mac", "shared/notice", "shared/operator/metrics", "shared/operator/scale", "shared/plan/provision", "shared/provisioning/events", "shared/provisioning/foreign", "shared/provisioning/hostfile", "shared/provisioning/ledger", "shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress"}, why: "a runtime room sees the host through its own interfaces"},
	{room: "bootstrap/provision/handover", own: []string{"shared/loop", "shared/operator/scale", "shared/provisioning/ledger", "shared/provisioning/progress"}, why: "the cluster at an instant: pure, without a clock"},
	{room: "bootstrap/provision/machine", own: []string{"shared/bmc", "shared/mac", "shared/plan/provision", "shared/provisioning/cause", "shared/provisioning/ledger", "shared/provisioning/node", "shared/provisioning/orders", "shared/provisioning/progress", "shared/rootdisk", "shared/secret", "shared/spec/machine"}, why: "one host at an instant: pure, without a clock"},
	{room: "shared/host/ironic", own: []string{"shared/mac", "shared/provisioning/node", "shared/rootdisk", "shared/secret"}, foreign: []string{"github.com/gophercloud/gophercloud/v2"}, why: "the only door to Ironic's API"},
	{room: "shared/host/ledger", own: []string{"shared/host/file", "shared/provisioning/layout", "shared/provisioning/ledger"}, why: "the one writer of a journal: what its lines mean is another's matter"},
	{room: "bootstrap/dns", own: slices.Concat([]string{"shared/corefile", "shared/loop", "shared/nameserver", "shared/operator/metrics", "shared/plan", "shared/spec"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "cluster/dns", own: slices.Concat([]string{"shared/corefile", "shared/loop", "shared/nameserver", "shared/operator/metrics", "shared/plan", "shared/spec"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "cluster/dhcp", own: []string{"shared/addr", "shared/bootserver", "shared/plan", "shared/plan/provision", "shared/provisioning/orders", "shared/provisioning/served"}, why: "when a node answers hosts that boot: pure, of plan and links"},
	{room: "cluster/lb/ironic", own: slices.Concat([]string{"cluster/haproxy", "shared/loop", "shared/plan"}, leaves), why: "which pods get connections: the API, HAProxy and the packet filter are behind interfaces"},
	{room: "cluster/lb", own: slices.Concat([]string{"cluster/haproxy", "cluster/lb/ironic", "shared/loop", "shared/operator/metrics", "shared/plan"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "cluster/mdns/wire", own: leaves, foreign: []string{"github.com/miekg/dns"}, why: "a format knows no plan"},
	{room: "cluster/mdns/announce", own: append([]string{"cluster/mdns/wire"}, leaves...), foreign: []string{"github.com/miekg/dns"}, why: "a state machine has no clock and no socket"},
	{room: "cluster/mdns/browse", own: append([]string{"cluster/mdns/wire"}, leaves...), foreign: []string{"github.com/miekg/dns"}, why: "a state machine has no clock and no socket"},
	{room: "cluster/mdns", own: slices.Concat([]string{"cluster/mdns/announce", "cluster/mdns/wire", "shared/operator/metrics", "shared/plan", "shared/spec", "shared/loop"}, leaves), why: "a runtime room sees the host through its own interfaces"},
	{room: "cluster/mco", own: slices.Concat([]string{"cluster", "cluster/mco/described", "cluster/mco/static", "cluster/mco/theirs", "cluster/pod", "shared/object", "shared/plan", "shared/plan/rollout", "shared/spec", "shared/spec/routing", "units"}, leaves),
		why: "another program's templates, made of what a node gets; importable by an installer: pure, no envelope, no host"},
	{room: "cluster/mco/theirs", why: "names of another program's files"},
	{room: "cluster/mco/described", own: []string{"shared/announcing", "shared/plan", "shared/plan/routed", "shared/spec", "shared/spec/document", "shared/spec/network", "shared/spec/routing"}, why: "a text of another program becomes a description, by the rules of descriptions alone: pure"},
	{room: "cluster/mco/static", own: slices.Concat([]string{"cluster/pod", "shared/keepalived", "shared/plan", "shared/spec", "shared/spoken"}, leaves), why: "a decision about static pods, which depends only on the plan"},
	{room: "cluster/monitoring", own: slices.Concat([]string{"shared/object", "shared/plan", "shared/spec"}, leaves), foreign: []string{"go.yaml.in/yaml/v3"},
		why: "documents of another program; importable by an installer: pure, no envelope, no host"},
	{room: "cmd/onprem-speak", own: []string{"shared/host/first", "shared/host/speak"}, why: "a small static binary in every container of FRR"},
	{room: "cmd/onprem-supervise", own: []string{"shared/host/file", "shared/host/first", "shared/host/ordered", "shared/host/supervise", "shared/loop", "shared/supervised"}, why: "a small static binary in every keepalived container"},
	{room: "cmd/onprem-sbom", why: "it reads programs, and is none that is shipped"},
	{room: "cmd/onprem-infra", own: []string{"bootstrap", "bootstrap/", "cluster", "cluster/", "ignition", "ignition/verify", "shared/"},
		foreign: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "go.yaml.in/yaml/v3"}, why: "the only place that wires host to rooms"},
	{room: "test/mdnslink", own: []string{"cluster/mdns/wire", "shared/record"}, foreign: []string{"github.com/miekg/dns"}, why: "a simulated link carries packets, whatever sends them"},
	{room: "test", why: "laws look at the code from outside"},
	{room: "test/fakehost", own: slices.Concat([]string{"cluster", "cluster/dns", "cluster/haproxy", "cluster/vip", "cluster/vip/", "shared/"}, leaves), why: "hosts for the tests of what inspects one"},
	{room: "test/", own: []string{"test/", "shared/", "bootstrap", "cluster", "cluster/haproxy", "cluster/mco", "cluster/monitoring", "ignition", "units"},
		foreign: []string{"github.com/", "golang.org/x/", "k8s.io/", "sigs.k8s.io/"}, why: "tests may use what the product uses"},
}

func within(path string, list []string) bool {
	return slices.ContainsFunc(list, func(l string) bool {
		return path == l || strings.HasSuffix(l, "/") && strings.HasPrefix(path, l)
	})
}

func lawFor(room string) (law, bool) {
	best, found := law{}, false
	for _, l := range laws {
		if within(room, []string{l.room}) && (!found || len(l.room) > len(best.room) || l.room == room) {
			best, found = l, true
		}
	}
	return best, found
}

func TestLawsImports(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range laws {
		if seen[l.room] {
			t.Errorf("%s stands twice in test/laws_test.go: merge the two", l.room)
		}
		seen[l.room] = true
	}
	for _, p := range rooms(t) {
		l, ok := lawFor(p.room())
		if !ok {
			t.Errorf("%s stands in no law: say in test/laws_test.go what it may import, and why", p.room())
			continue
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module+"/"); ok {
				if !within(own, l.own) {
					t.Errorf("%s imports %s: it may import %v (%s)", p.room(), own, l.own, l.why)
				}
				continue
			}
			if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
				continue // standard library
			}
			if !slices.ContainsFunc(l.foreign, func(f string) bool { return strings.HasPrefix(imp, f) }) {
				t.Errorf("%s imports %s: it may import %v (%s)", p.room(), imp, l.foreign, l.why)
			}
		}
	}
}

// TestLawsSupervisor keeps the parents of keepalived and FRR small: they are in every container of these
// and must start when nothing else does.
func TestLawsSupervisor(t *testing.T) {
	parents := 0
	for _, p := range rooms(t) {
		if p.room() != "cmd/onprem-supervise" && p.room() != "cmd/onprem-speak" {
			continue
		}
		parents++
		for _, dep := range p.Deps {
			for _, ban := range []string{"k8s.io/", "github.com/containers/", "net/http", "github.com/spf13/cobra"} {
				if dep == ban || strings.HasSuffix(ban, "/") && strings.HasPrefix(dep, ban) {
					t.Errorf("%s depends on %s", p.room(), dep)
				}
			}
		}
	}
	if parents != 2 {
		t.Errorf("%d of the 2 parents were found", parents)
	}
}

func TestLawsModule(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace ") {
			t.Errorf("go.mod: %q: an importer's build ignores a replace, so the product must not need one", strings.TrimSpace(line))
		}
	}
}
