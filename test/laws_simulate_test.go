package test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// played are the decisions that the simulator and the product share, each by a name that a caller
// cannot do without, and the rooms of the product that call it.
var played = []struct {
	name  string // room and identifier
	rooms []string
	why   string
}{
	{"shared/release.State", []string{"bootstrap/vip"}, "when the bootstrap machine releases the VIP"},
	{"shared/release.HeirAmong", []string{"cmd/onprem-infra"}, "whether a control plane node could take over"},
	{"shared/bonus.State", []string{"shared/host/supervise"}, "which bonus an instance has, from its start to its end"},
	{"shared/vrrp.Elects", []string{"shared/plan"}, "how many nodes elect a holder"},
}

// TestLawsSimulatorPlays holds S-05: the simulator makes no decision of its own where the product has
// one. Both call the same function, so that neither can change alone.
func TestLawsSimulatorPlays(t *testing.T) {
	all := rooms(t)
	for _, d := range played {
		for _, room := range append([]string{"shared/simulate"}, d.rooms...) {
			i := slices.IndexFunc(all, func(p pkg) bool { return p.room() == room })
			if i < 0 || !names(t, all[i], d.name) {
				t.Errorf("%s does not name %s (%s): call it there, and copy no decision", room, d.name, d.why)
			}
		}
	}
}

// names says whether a shipped file of a room names an identifier of another room.
func names(t *testing.T, p pkg, name string) (found bool) {
	t.Helper()
	room, identifier, _ := strings.Cut(name, ".")
	_, files := source(t, p)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			found = found || ok && selects(sel, path.Base(room), identifier)
			return !found
		})
	}
	return found
}
