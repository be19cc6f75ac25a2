package tracks

import (
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestExpectations(t *testing.T) {
	base := func(name string, priority vrrp.Priority) keepalived.Instance {
		return keepalived.Instance{Name: vrrp.InstanceName(name), Priority: priority}
	}
	member, alone, script := base("one_API_0", 100), base("one_INGRESS_0", 20),
		base("one_SCRIPT_0", 20)
	member.Grouped, alone.Tracks, script.Checks = true, []vrrp.CheckName{"router"},
		[]vrrp.CheckName{"chk"}
	leave := keepalived.Track{Name: "leave", File: "/run/track/leave", Weight: -253}
	lb, router := keepalived.Track{Name: "lb", File: "/run/track/lb", Weight: 30},
		keepalived.Track{Name: "router", File: "/run/fault/router"}
	c := keepalived.Config{
		NotifyFIFO: "/run/notify.fifo", Leave: leave.File, Tracks: []keepalived.Track{lb, router},
		Groups: []keepalived.SyncGroup{{Name: "VG_API",
			Members: []vrrp.InstanceName{"one_API_0"}, Tracks: []vrrp.CheckName{"lb"}}},
		Instances: []keepalived.Instance{member, alone, script},
	}
	want := map[string]expectation{
		"one_API_0":     {base: 100, files: []keepalived.Track{leave, lb}},
		"one_INGRESS_0": {base: 20, files: []keepalived.Track{leave, router}},
		"one_SCRIPT_0":  {base: 20, files: []keepalived.Track{leave}, scripts: true},
	}
	if got := expectations(c); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if c.NotifyFIFO = ""; expectations(c) != nil {
		t.Error("of a configuration without reports there is something to compare")
	}
}

func TestExpectation_Differs(t *testing.T) {
	both := expectation{base: 100, files: []keepalived.Track{{File: "lb", Weight: 30},
		{File: "router"}, {File: "leave", Weight: -253}, {File: "holder", Weight: 10}}}
	for _, tt := range []struct {
		name    string
		files   map[string]int
		is      supervised.Instance
		differs bool
	}{
		{"keepalived follows its files", map[string]int{"lb": 1, "router": 1},
			supervised.Instance{State: supervised.Backup, Priority: 130}, false},
		{"nothing is tracked", map[string]int{"lb": 1, "router": 1},
			supervised.Instance{State: supervised.Backup, Priority: 100}, true},
		{"an older number counts", map[string]int{"router": 1},
			supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"a fault counts", map[string]int{"lb": 1}, supervised.Instance{State: supervised.Fault,
			Priority: 130}, false},
		{"a fault does not count", map[string]int{"lb": 1},
			supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"a fault for another reason", map[string]int{"lb": 1, "router": 1},
			supervised.Instance{State: supervised.Fault, Priority: 110}, false},
		{"a fault as nothing is tracked", map[string]int{"lb": 1, "router": 1},
			supervised.Instance{State: supervised.Fault, Priority: 100}, true},
		{"it is demoted", map[string]int{"lb": 1, "router": 1, "leave": 1},
			supervised.Instance{State: supervised.Master, Priority: 1}, false},
		{"it is not demoted", map[string]int{"lb": 1, "router": 1, "leave": 1},
			supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"it gives up what is not served", map[string]int{"lb": 1, "router": 1, "holder": -254},
			supervised.Instance{State: supervised.Fault, Priority: 140}, false},
		{"the most", map[string]int{"lb": 9, "router": 1},
			supervised.Instance{State: supervised.Backup, Priority: 254}, false},
		{"it has not begun", map[string]int{"lb": 1, "router": 1},
			supervised.Instance{State: supervised.Init}, false},
	} {
		if got := both.differs(tt.is,
			func(path string) int { return tt.files[path] }); got != tt.differs {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.differs)
		}
	}
	if (expectation{base: 20, scripts: true,
		files: both.files}).differs(supervised.Instance{State: supervised.Master, Priority: 3},
		func(string) int { return 0 }) {
		t.Error("what also follows from scripts is compared")
	}
}
