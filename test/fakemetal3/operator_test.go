package fakemetal3

import (
	"reflect"
	"testing"
	"time"
)

// TestTransition holds which times of a host's history a transition begins and ends.
func TestTransition(t *testing.T) {
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	const at = "2026-11-26T09:00:00Z"
	for name, tt := range map[string]struct {
		from, to string
		want     fields
	}{
		"the first":         {"", "registering", fields{"register": fields{"start": at, "end": nil}}},
		"between two":       {"registering", "inspecting", fields{"register": fields{"end": at}, "inspect": fields{"start": at, "end": nil}}},
		"to one without":    {"provisioning", "provisioned", fields{"provision": fields{"end": at}}},
		"none: it stays":    {"inspecting", "inspecting", fields{}},
		"of removal":        {"provisioned", "deprovisioning", fields{"deprovision": fields{"start": at, "end": nil}}},
		"none of these has": {"deleting", "x", fields{}},
	} {
		got := Transition(tt.from, tt.to, true, now)
		want := fields{"poweredOn": true, "lastUpdated": at, "operationalStatus": "OK", "provisioning": fields{"state": tt.to}, "operationHistory": tt.want}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
}

// TestAccess holds what Ironic is given of a BMC.
func TestAccess(t *testing.T) {
	for bmc, want := range map[string]fields{
		"redfish://192.0.2.100:8002/redfish/v1/Systems/1": {"redfish_address": "https://192.0.2.100:8002", "redfish_system_id": "/redfish/v1/Systems/1", "redfish_username": "u", "redfish_password": "p"},
		"ipmi://192.0.2.100":                              {"ipmi_address": "192.0.2.100", "ipmi_port": "623", "ipmi_username": "u", "ipmi_password": "p"},
		"ipmi://192.0.2.100:6230":                         {"ipmi_address": "192.0.2.100", "ipmi_port": "6230", "ipmi_username": "u", "ipmi_password": "p"},
	} {
		if _, got, err := access(bmc, true, "u", "p"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", bmc, got, err)
		}
	}
	if _, got, err := access("redfish://h/1", false, "u", "p"); err != nil || got["redfish_verify_ca"] != false {
		t.Errorf("without verification: %v, %v", got, err)
	}
	for _, bmc := range []string{"", "192.0.2.100", "idrac-virtualmedia://192.0.2.100/1"} {
		if _, _, err := access(bmc, true, "u", "p"); err == nil {
			t.Errorf("%q has no error", bmc)
		}
	}
}
