package node

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// While one of these lasts, neither Ironic nor DHCP may stop.
func TestState_InMotion(t *testing.T) {
	moving := map[State]bool{}
	for _, s := range []State{"verifying", "inspecting", "inspect wait", "cleaning", "clean wait", "clean hold", "deploying", "wait call-back", "deploy hold", "deploy complete",
		"deleting", "adopting", "rebuild", "servicing", "service wait", "service hold", "rescuing", "rescue wait", "unrescuing", "no such state", ""} {
		moving[s] = true
		if !s.InMotion() {
			t.Errorf("%q is at rest", s)
		}
	}
	for _, s := range States() {
		if s.InMotion() != moving[s] {
			t.Errorf("%q: in motion is %t", s, s.InMotion())
		}
		if s.Kind() == Strange {
			t.Errorf("%q is not known", s)
		}
	}
	if n := len(States()); n != 33 {
		t.Errorf("%d states, Ironic has 33", n)
	}
}

func TestStep_Written(t *testing.T) {
	names := []string{"deploy", WriteStep, "prepare_instance_boot", "tear_down_agent"}
	for i, want := range []bool{false, false, true, true} {
		if got := (Step{Index: i, Names: names}).Written(); got != want {
			t.Errorf("step %d: %t", i, got)
		}
		if got := (Step{Index: i, Names: names}).Before(); got != (i == 0) {
			t.Errorf("step %d: before is %t", i, got)
		}
	}
	for _, s := range []Step{{Index: -1, Names: names}, {Index: 3}, {Index: 3, Names: []string{"deploy"}}} {
		if s.Written() {
			t.Errorf("%+v: written", s)
		}
	}
}

func TestOf(t *testing.T) {
	card := mac.MAC{2, 0, 0, 0, 0, 1}
	all := []Node{{UUID: "1", Name: "other", MACs: []mac.MAC{card}}, {UUID: "2", Name: "Master-0"}}
	if n, ok := Of(all, "master-0", card); !ok || n.UUID != "2" {
		t.Errorf("by its name: %+v", n)
	}
	if n, ok := Of(all, "master-1", card); !ok || n.UUID != "1" {
		t.Errorf("by its card: %+v", n)
	}
	if _, ok := Of(all, "master-1", mac.MAC{2}); ok {
		t.Error("a node of no host")
	}
}
