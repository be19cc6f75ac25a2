package test

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ofTheProduct are the decisions that the simulator and the product share, each by a name that a caller
// cannot do without (a function, a type or a method), and the rooms of the product that call it.
var ofTheProduct = []struct {
	name  string // room and identifier
	rooms []string
	why   string
}{
	{"shared/release.State", []string{"bootstrap/vip"}, "when the bootstrap machine releases the VIP"},
	{"shared/release.State.JudgeLate",
		[]string{"bootstrap/vip", simulator + "/supervisor", simulator + "/routed/host"},
		"when an API that hangs beside a ready node is not waited for"},
	{"shared/release.HeirAmong", []string{"shared/host/services"}, "whether a control plane node could take over"},
	{"shared/bonus.State", []string{"shared/host/supervise/instances"},
		"which bonus an instance has, from its start to its end"},
	{"shared/vrrp.Candidates.Unserved", []string{"cluster/vip"},
		"whether a holder releases a VIP that it does not serve"},
	{"shared/vrrp.Candidates.BootstrapPatience", []string{"shared/plan", "shared/plan/bound"},
		"how long the bootstrap machine waits for its successor"},
	{"shared/health.Latch", []string{"cluster/vip/checks"}, "when a check changes its state"},
	{"shared/health.GateInterval", []string{"cluster/vip/checks"},
		"how soon a node sees that the API works"},
	{"shared/vrrp.Elects", []string{"shared/plan"}, "how many nodes elect a holder"},
	{"shared/election.Gate", []string{"cluster/vip"}, "whether a node may run for a VIP"},
	{"shared/supervised.Backoff", []string{"shared/host/supervise/daemon"},
		"when keepalived starts again after it has exited"},
	{"cluster/vip/announce.Decide", nil, "what a node announces to its routers"},
	{"shared/speak.Decide", []string{"shared/host/speak"}, "when a host announces and withdraws a VIP"},
	{"bootstrap/provision.New", []string{"cmd/onprem-infra"},
		"what the bootstrap machine does in which phase, and with each host"},
	{"bootstrap/provisioning/address.New", []string{"cmd/onprem-infra"}, "whether it takes its address"},
	{"shared/bootserver.New", []string{"cmd/onprem-infra"}, "when a DHCP server is on, and behind which filter"},
	{"shared/provisioning/served.Network", []string{"shared/bootserver"}, "what a host is answered"},
	{"cluster/dhcp.Orders", []string{"cmd/onprem-infra"}, "which node answers hosts that boot"},
	{"cluster/vip/occupant.Finding.Bars", []string{"cluster/vip"},
		"whether a node is a candidate for the provisioning address"},
	{"shared/operator/scale.Release", []string{"shared/host/machines", "bootstrap/provision/handover"},
		"when the workers may begin"},
}

// TestLawsSimulatorRunsTheProduct holds S-05: the simulator makes no decision of its own where the product
// has one. Both call the same function, so that neither can change alone.
func TestLawsSimulatorRunsTheProduct(t *testing.T) {
	all := rooms(t)
	for _, d := range ofTheProduct {
		if !slices.ContainsFunc(all, func(p pkg) bool { return simulates(p) && names(t, p, d.name) }) {
			t.Errorf("%s does not name %s (%s): call it there, and copy no decision", simulator, d.name, d.why)
		}
		for _, room := range d.rooms {
			i := slices.IndexFunc(all, func(p pkg) bool { return p.room() == room })
			if i < 0 || !names(t, all[i], d.name) {
				t.Errorf("%s does not name %s (%s): call it there, and copy no decision", room, d.name, d.why)
			}
		}
	}
}

// simulator is the room of the simulator, with those below it.
const simulator = "shared/operator/simulate"

func simulates(p pkg) bool {
	return p.room() == simulator || strings.HasPrefix(p.room(), simulator+"/")
}

// names says whether a shipped file of a room names an identifier of another room.
func names(t *testing.T, p pkg, name string) (found bool) {
	t.Helper()
	room, identifier, _ := strings.Cut(name, ".")
	_, method, isMethod := strings.Cut(identifier, ".")
	_, files := source(t, p)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			found = found || ok && (isMethod && sel.Sel.Name == method ||
				selects(sel, path.Base(room), identifier))
			return !found
		})
	}
	return found
}

var units = []string{"Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}

// timed are the files of the simulator that may name a unit of time.
var timed = map[string]string{
	"world/machine.go":     "what machines take, as measured",
	"schedule/cluster.go":  "how often a client asks",
	"schedule/schedule.go": "the longest schedule",
	"schedule/random.go":   "when random faults begin, and how long they last",
	"trace/figures.go":     "which gaps count as outages",
	"trace/picture.go":     "the margins of a picture",
	"trace/result.go":      "what a line of text resolves",
	"row.go":               "what a client's measurement resolves",
	"scenario.go":          "when the faults of a scenario begin, and how long they last",

	"provisioning/world/machine.go":   "what machines and programs of others take",
	"provisioning/schedule/random.go": "when random faults begin, and how long they last",
	"provisioning/scenario.go":        "when the faults of a scenario begin, and how long they last",

	"table/table.go": "how many lines a person reads",

	"both/schedule/schedule.go": "when random migrations happen, and how long a run goes on after faults",
	"both/scenario.go":          "when a migration happens, and how long a run goes on",
	"both/picture.go":           "the margin of a picture",

	"routed/world/machine.go":   "what machines, routers and FRR take",
	"routed/schedule/random.go": "when random faults begin, and how long they last",
	"routed/scenario.go":        "when the faults of a scenario begin, and how long they last",
	"routed/row.go":             "what a line of text resolves",
}

// TestLawsSimulatorThresholds holds that the simulator has no interval, timeout or threshold of
// its own. What the product waits for and counts comes from the room that decides it.
func TestLawsSimulatorThresholds(t *testing.T) {
	files := map[string]*ast.File{}
	for _, p := range rooms(t) {
		if !simulates(p) {
			continue
		}
		fset, own := source(t, p)
		for name, f := range own {
			file := strings.TrimPrefix(path.Join(strings.TrimPrefix(p.room(), simulator), filepath.Base(name)), "/")
			judgeTimes(t, fset, file, f)
			files[file] = f
		}
	}
	for file := range timed {
		if files[file] == nil {
			t.Errorf("%s has no %s: take it from the table", simulator, file)
		}
	}
}

// judgeTimes reports units of time and thresholds in a file that may have none.
func judgeTimes(t *testing.T, fset *token.FileSet, file string, f *ast.File) {
	t.Helper()
	if timed[file] != "" {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && selects(sel, "time", units...) {
			t.Errorf("%s: a time of its own: name the product's, or put what a machine takes "+
				"into world/machine.go", fset.Position(n.Pos()))
		}
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST && counts(decl) {
			t.Errorf("%s: a threshold of its own: name the product's", fset.Position(n.Pos()))
		}
		return true
	})
}

// counts says whether a declaration of constants gives one of them a number above 1. MaxMasters
// may have one: events name hosts in 8 bits.
func counts(decl *ast.GenDecl) (found bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == "MaxMasters" {
			return false
		}
		lit, ok := n.(*ast.BasicLit)
		found = found || ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) &&
			lit.Value != "0" && lit.Value != "1"
		return !found
	})
	return found
}
