package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestOneNodeIP holds N-19: on every node of every cluster one unit chooses the node's addresses,
// the same one, and it is enabled. Nothing else that runs at a start calls the choice by another
// name.
func TestOneNodeIP(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		var choose []string
		for _, u := range mustAssets(t, n.plan, n.role).Units() {
			if strings.Contains(string(u.Contents), "node-ip set") {
				choose = append(choose, u.Name)
				if !u.Enabled {
					t.Errorf("%s is not enabled", u.Name)
				}
				if !strings.Contains(string(u.Contents), n.plan.KubeletUnit) {
					t.Errorf("%s is not before %s", u.Name, n.plan.KubeletUnit)
				}
			}
		}
		if !slices.Equal(choose, []string{"nodeip-configuration.service"}) {
			t.Errorf("%v choose the node's addresses", choose)
		}
		bridge := slices.ContainsFunc(n.tree, func(f asset.File) bool {
			return strings.HasSuffix(f.Path, "/wait-for-br-ex-up.service")
		})
		if bridge != (n.plan.Distribution == spec.OpenShift) {
			t.Errorf("a unit that waits for OVN's bridge: %v", bridge)
		}
	})
}

// TestNoConnectionProfile holds N-26: no profile of NetworkManager's is put on a node. One that was
// meant for the first interface captured others.
func TestNoConnectionProfile(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		for _, f := range n.tree {
			// Below conf.d the section holds defaults for the profiles that there are.
			profile := strings.Contains(string(f.Contents), "[connection]") &&
				!strings.HasPrefix(f.Path, "/etc/NetworkManager/conf.d/")
			if strings.Contains(f.Path, "/NetworkManager/system-connections") ||
				strings.HasSuffix(f.Path, ".nmconnection") || profile {
				t.Errorf("%s is a profile of a connection", f.Path)
			}
		}
	})
}
