package ironic

import (
	"cmp"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/remedy"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// quirky is a host whose BMC has a fault.
type quirky struct {
	name        string
	quirks      fakebmc.Quirks
	certificate fakebmc.Certificate
	on          bool   // the host is on before
	unknown     bool   // Ironic does not have the CA of its certificate
	password    string // of the BMC, another than Ironic has
	inserted    string // a medium that is in its slot before
	boot        string // Ironic's boot interface; ipxe by default
	// The verb at which Ironic fails, and what its error names; empty if it copes.
	fails node.Verb
	names string
	lasts bool // the fault does not end
}

// quirkies are what the real Ironic was seen to make of each fault.
func quirkies() []quirky {
	const media = "redfish-virtual-media"
	return []quirky{
		{name: "none"},
		{name: "none, on", on: true},
		{name: "none, virtual media", boot: media, on: true},
		{name: "slow", quirks: fakebmc.Quirks{Delay: 2 * time.Second}, on: true},
		{name: "409 after off", quirks: fakebmc.Quirks{ConflictAfterOff: 8 * time.Second}, on: true, fails: node.Inspect, names: "code 409"},
		{name: "power flaps", quirks: fakebmc.Quirks{Flapping: true}, on: true},
		{name: "mode refused while on", quirks: fakebmc.Quirks{ModeRefusedOn: true}, on: true},
		{name: "another medium is inserted", inserted: "http://192.0.2.9/other.iso", boot: media, on: true},
		{name: "ejected media stay", quirks: fakebmc.Quirks{MediaStuck: true}, inserted: "http://192.0.2.9/other.iso", boot: media, fails: node.Inspect, names: "No suitable virtual media device"},
		{name: "no right to insert", quirks: fakebmc.Quirks{NoInsert: true}, boot: media, fails: node.Inspect, names: "InsertMedia is missing"},
		{name: "it starts", quirks: fakebmc.Quirks{Booting: true}, fails: node.Manage, names: "503"},
		{name: "no sessions", quirks: fakebmc.Quirks{SessionLimit: 1, OtherSessions: 1}, fails: node.Manage, names: "SessionLimitExceeded"},
		{name: "wrong password", password: "0ther", fails: node.Manage, names: "code 401", lasts: true},
		{name: "password changed", quirks: fakebmc.Quirks{PasswordAfter: 3}, on: true},
		{name: "bare", quirks: fakebmc.Quirks{Bare: true}, on: true},
		{name: "loose", quirks: fakebmc.Quirks{Loose: true}, fails: node.Inspect, names: "boot device"},
		{name: "unknown CA", unknown: true, fails: node.Manage, names: "CERTIFICATE_VERIFY_FAILED", lasts: true},
		{name: "expired", certificate: fakebmc.Certificate{Expired: time.Hour}, fails: node.Manage, names: "certificate has expired", lasts: true},
	}
}

// TestLongQuirks has the real Ironic take over hosts whose FAKE BMCs have faults, and start their
// ramdisks. Where Ironic fails its error names the fault, and once that is over the same request
// succeeds.
func TestLongQuirks(t *testing.T) {
	need.Root(t)
	esp, grub := bootLoader(t)
	all := quirkies()
	var bmcs []*fakebmc.BMC
	var urls []string
	var trusted strings.Builder
	for i, q := range all {
		machine := fakebmc.Sample(i + 1)
		machine.On, machine.Media = q.on, q.inserted
		bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: cmp.Or(q.password, "p4ss-W0rd"), Vendor: "FAKE", Product: "FAKE", Machines: []fakebmc.Machine{machine}})
		running := fakebmc.Start(t, bmc, q.certificate)
		if !q.unknown {
			trusted.Write(running.PEM)
		}
		bmcs, urls = append(bmcs, bmc), append(urls, running.URL)
	}
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) {
			s.Hosts = []ironic.Host{{Driver: "redfish", Boot: ironic.PXE}, {Driver: "redfish-virtualmedia", Boot: ironic.VirtualMedia}}
			s.Bound = true
			s.Media, s.GRUB = netip.MustParseAddrPort("192.0.2.5:6183"), grub
		},
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), trusted.String())
			for _, name := range []string{"agent.kernel", "agent.initramfs"} {
				write(t, filepath.Join(state, "http/images", name), name)
			}
			write(t, filepath.Join(state, "http/images", filepath.Base(layout.Loader)), string(esp))
		},
	})
	for i, q := range all {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			a := newAsker(t, s, i+1)
			a.create(t, urls[i], cmp.Or(q.boot, "ipxe"))
			bmcs[i].Set(q.quirks)
			a.copes(t, q, func() { bmcs[i].Set(fakebmc.Quirks{}) })
		})
	}
}

// copes follows a host until its ramdisk starts. end ends its fault.
func (a *asker) copes(t *testing.T, q quirky, end func()) {
	t.Helper()
	begin := time.Now()
	for _, step := range []struct {
		verb   node.Verb
		to, at node.State // it gets to, or is at if it fails
	}{{node.Manage, node.Manageable, node.Enroll}, {node.Inspect, node.InspectWait, node.InspectFailed}} {
		a.do(t, node.Request{Verb: step.verb})
		n := a.ended(t, step.to, step.at)
		t.Logf("%s: %s, %s, after %v: %s", step.verb, n.State, n.Power, time.Since(begin).Round(100*time.Millisecond), n.Error)
		if failed := n.State != step.to; failed != (q.fails == step.verb) || failed && !strings.Contains(n.Error, q.names) {
			t.Fatalf("%s fails: %t, %q; want %q at %q", step.verb, failed, n.Error, q.names, q.fails)
		} else if !failed {
			continue
		}
		if remedy.Of(n.Error) == "" {
			t.Errorf("no remedy for %q", n.Error)
		}
		if q.lasts {
			return
		}
		end()
		a.do(t, node.Request{Verb: step.verb})
		if n = a.ended(t, step.to, step.at); n.State != step.to {
			t.Fatalf("%s after the fault: %s: %s", step.verb, n.State, n.Error)
		}
	}
	if n := a.now(t); n.Power != node.On {
		t.Errorf("its ramdisk is to start, and its power is %s", n.Power)
	}
}

// ended waits until Ironic has done what it was asked for, or has failed.
func (a *asker) ended(t *testing.T, to, at node.State) (n node.Node) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if n = a.now(t); !n.Locked && (n.State == to || n.State == at && n.Error != "") {
			return n
		}
	}
	t.Fatalf("it is %q after minutes: %s", n.State, n.Error)
	return n
}
