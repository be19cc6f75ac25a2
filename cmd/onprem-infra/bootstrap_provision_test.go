//go:build remote

package main

import (
	"testing"
	"time"

	deploy "github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// TestTraceOf holds what the servers' events say of a disk: the image, or a range of it, may be on
// it, and a transfer that broke off has not come to its end.
func TestTraceOf(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		source events.Source
		kind   string
		want   deploy.Trace
	}{
		{events.DHCP, "discover", deploy.Trace{Asked: true}},
		{events.DHCP, "solicit", deploy.Trace{Asked: true}},
		{events.DHCP, "program", deploy.Trace{Loaded: true}},
		{events.HTTP, "script", deploy.Trace{Loaded: true}},
		{events.HTTP, "kernel", deploy.Trace{Kernel: true}},
		{events.HTTP, "ramdisk", deploy.Trace{Kernel: true}},
		{events.HTTP, "image", deploy.Trace{Fetched: at}},
		{events.HTTP, "broken", deploy.Trace{}},
		{events.HTTP, "head", deploy.Trace{}},
	} {
		got := traceOf([]events.Event{{Time: at, Source: tt.source, Kind: tt.kind}}, at)
		if tt.want.Since = at; got.Last.At != at || got.Last.What != string(tt.source)+" "+tt.kind {
			t.Errorf("%s: last is %+v", tt.kind, got.Last)
		}
		if tt.want.Last = got.Last; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.kind, got, tt.want)
		}
	}
}
