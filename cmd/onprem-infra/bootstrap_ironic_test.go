//go:build remote

package main

import (
	"net"
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// TestIronicHost_Closed holds that a program keeps Ironic from being off only if it listens on this
// machine. No link has 127.0.0.2, though a server can listen there: it is another host's.
func TestIronicHost_Closed(t *testing.T) {
	for _, tt := range []struct {
		address string
		here    bool
	}{{"127.0.0.1", true}, {"127.0.0.2", false}} {
		listener, err := net.Listen("tcp", net.JoinHostPort(tt.address, "0"))
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddr(tt.address)
		h := newIronicHost(plan.Plan{Provisioning: &provision.Plan{BootstrapIP: at},
			Ports: map[string]uint16{port.Ironic: uint16(listener.Addr().(*net.TCPAddr).Port)}})
		if here, err := h.Has(at); err != nil || here != tt.here {
			t.Errorf("the machine has %s: %t, %v", at, here, err)
		}
		if closed := h.Closed(t.Context()); closed == tt.here {
			t.Errorf("a program listens at %s: closed is %t", at, closed)
		}
		listener.Close()
		if !h.Closed(t.Context()) {
			t.Errorf("nothing listens at %s: closed is false", at)
		}
	}
}
