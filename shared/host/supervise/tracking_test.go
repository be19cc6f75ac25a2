package supervise

import (
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

const trackingConfig = `global_defs {
    script_user root
    vrrp_notify_priority_changes true
}

vrrp_script chk {
    script "/bin/true"
    interval 1
    weight 5
}

track_file leave {
    file /run/track/leave
    weight -253
}

track_file lb {
    file /run/track/lb
    weight 30
}

track_file router {
    file /run/fault/router
    weight 0 reverse
}

vrrp_sync_group VG_API {
    group {
        one_API_0
        one_API_1
    }
    track_file {
        leave
        lb
    }
}

vrrp_instance one_API_0 {
    interface ens3
    priority 100
    virtual_ipaddress {
        192.0.2.5/32 label vip
    }
}

vrrp_instance one_API_1 {
    priority 100
}

vrrp_instance one_INGRESS_0 {
    priority 20
    track_file {
        leave
        router
    }
}

vrrp_instance one_SCRIPT_0 {
    priority 20
    track_script {
        chk
    }
}
`

func TestReadTracking(t *testing.T) {
	leave, lb := tracked{"/run/track/leave", -253, false}, tracked{"/run/track/lb", 30, false}
	router := tracked{"/run/fault/router", 0, true}
	want := map[string]tracking{
		"one_API_0":     {base: 100, files: []tracked{leave, lb}},
		"one_API_1":     {base: 100, files: []tracked{leave, lb}},
		"one_INGRESS_0": {base: 20, files: []tracked{leave, router}},
		"one_SCRIPT_0":  {base: 20, other: true},
	}
	if got := readTracking([]byte(trackingConfig)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	silent := strings.Replace(trackingConfig, "priority_changes true", "priority_changes false", 1)
	if got := readTracking([]byte(silent)); got != nil {
		t.Errorf("of a configuration without reports: %v", got)
	}
	for _, text := range []string{"", "}\n}\n", "track_file {\n", "vrrp_instance\n", "{\n priority\n}\n"} {
		readTracking([]byte(text)) // whatever it is, nothing breaks
	}
}

func TestTracking_Differs(t *testing.T) {
	both := tracking{base: 100, files: []tracked{{"lb", 30, false}, {"router", 0, true}, {"leave", -253, false}, {"holder", 10, false}}}
	for _, tt := range []struct {
		name    string
		files   map[string]int
		is      supervised.Instance
		differs bool
	}{
		{"all is well", map[string]int{"lb": 1, "router": 1}, supervised.Instance{State: supervised.Backup, Priority: 130}, false},
		{"nothing is tracked", map[string]int{"lb": 1, "router": 1}, supervised.Instance{State: supervised.Backup, Priority: 100}, true},
		{"an older number counts", map[string]int{"router": 1}, supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"a fault counts", map[string]int{"lb": 1}, supervised.Instance{State: supervised.Fault, Priority: 130}, false},
		{"a fault does not count", map[string]int{"lb": 1}, supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"a fault for another reason", map[string]int{"lb": 1, "router": 1}, supervised.Instance{State: supervised.Fault, Priority: 110}, false},
		{"a fault as nothing is tracked", map[string]int{"lb": 1, "router": 1}, supervised.Instance{State: supervised.Fault, Priority: 100}, true},
		{"it is demoted", map[string]int{"lb": 1, "router": 1, "leave": 1}, supervised.Instance{State: supervised.Master, Priority: 1}, false},
		{"it is not demoted", map[string]int{"lb": 1, "router": 1, "leave": 1}, supervised.Instance{State: supervised.Master, Priority: 130}, true},
		{"it gives up what is not served", map[string]int{"lb": 1, "router": 1, "holder": -254}, supervised.Instance{State: supervised.Fault, Priority: 140}, false},
		{"the most", map[string]int{"lb": 9, "router": 1}, supervised.Instance{State: supervised.Backup, Priority: 254}, false},
		{"it has not begun", map[string]int{"lb": 1, "router": 1}, supervised.Instance{State: supervised.Init}, false},
	} {
		if got := both.differs(tt.is, func(path string) int { return tt.files[path] }); got != tt.differs {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.differs)
		}
	}
	if (tracking{base: 20, other: true, files: both.files}).differs(supervised.Instance{State: supervised.Master, Priority: 3}, func(string) int { return 0 }) {
		t.Error("what also follows from scripts is compared")
	}
}
