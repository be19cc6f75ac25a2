package units

import (
	"slices"
	"testing"
)

// TestVIPLeave holds K-59: at a reboot everything is stopped side by side but for what is ordered.
// A unit stops before what it is started after, so this one is started after kubelet, the container
// engines and the network, and containers stop after it.
func TestVIPLeave(t *testing.T) {
	list := Host{Kubelet: "k3s.service"}.VIPLeave()
	leave := list[0]
	if leave.Name != "onprem-vip-leave.service" || !leave.Enabled {
		t.Fatalf("%s, enabled %v", leave.Name, leave.Enabled)
	}
	after := values(t, leave.Contents, "Unit", "After")
	for _, later := range []string{
		"k3s.service", "crio.service", "containerd.service", "network.target",
		"network-online.target", "NetworkManager.service", "systemd-networkd.service",
	} {
		if !slices.Contains(after, later) {
			t.Errorf(
				"After=%v lacks %s, which would be stopped while the VIP is still here", after,
				later,
			)
		}
	}
	for _, want := range []struct{ section, key, value string }{
		{"Service", "Type", "oneshot"}, {"Service", "RemainAfterExit", "yes"},
		{"Service", "TimeoutStopSec", "30"}, {"Install", "WantedBy", "multi-user.target"},
	} {
		if got := values(t, leave.Contents, want.section, want.key); !slices.Equal(got, []string{
			want.value,
		}) {
			t.Errorf("%s=%v, want %s", want.key, got, want.value)
		}
	}
	if stop := values(t, leave.Contents, "Service", "ExecStop"); !slices.Equal(stop, []string{
		"/usr/local/bin/onprem-infra", "vip", "leave",
	}) {
		t.Errorf("ExecStop=%v", stop)
	}
	// A requirement would stop it, and with it give the VIP up, whenever the other is restarted.
	for _, key := range []string{"Requires", "Requisite", "BindsTo", "PartOf", "Wants", "Before"} {
		if got := values(t, leave.Contents, "Unit", key); len(got) > 0 {
			t.Errorf("%s=%v, want it to depend on nothing", key, got)
		}
	}
	var scopes []string
	for _, u := range list[1:] {
		scopes = append(scopes, u.Name)
		if len(u.Contents) > 0 || u.Enabled || len(u.DropIns) != 1 {
			t.Errorf("%s is more than a drop-in: %+v", u.Name, u)
		} else if before := values(
			t, u.DropIns[0].Contents, "Unit", "Before",
		); !slices.Equal(before, []string{"onprem-vip-leave.service"}) {
			t.Errorf("%s: Before=%v: containers would be stopped beside it", u.Name, before)
		}
	}
	if want := []string{"cri-containerd-.scope", "crio-.scope"}; !slices.Equal(scopes, want) {
		t.Errorf("scopes %v, want %v", scopes, want)
	}
}
