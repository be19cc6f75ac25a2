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
		want := fields{"poweredOn": true, "lastUpdated": at, "operationalStatus": "OK", "errorMessage": "", "provisioning": fields{"state": tt.to, "ID": ""}, "operationHistory": tt.want}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
}
