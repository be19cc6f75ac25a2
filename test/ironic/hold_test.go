package ironic

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/onprem-infra/onprem-infra/shared/host/ironic"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// asker asks the real Ironic for one node by the product's client.
type asker struct {
	*api.API
	machine fakebmc.Machine
	name    string
	card    mac.MAC
}

// newAsker is the asker of a server, for a machine of a FAKE BMC.
func newAsker(t *testing.T, s *Server, number int) *asker {
	t.Helper()
	outside := func(path string) string { return filepath.Join(s.State, strings.TrimPrefix(path, layout.State)) }
	machine := fakebmc.Sample(number)
	card, err := mac.Parse(machine.Ports[0].MAC)
	if err != nil {
		t.Fatal(err)
	}
	return &asker{api.New(api.Options{URL: s.URL, Certificate: outside(layout.Certificate), Account: outside(layout.Account)}),
		machine, fmt.Sprintf("master-%d", number-1), card}
}

// withBMC starts an Ironic that knows a host whose BMC is a FAKE.
func withBMC(t *testing.T) (*Server, *asker) {
	t.Helper()
	bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: "p4ss-W0rd", Vendor: "FAKE", Product: "FAKE", Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	running := fakebmc.Start(t, bmc, fakebmc.Certificate{})
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) { s.Hosts = []ironic.Host{{Driver: "redfish", Boot: ironic.PXE}} },
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), string(running.PEM))
			for _, name := range []string{"agent.kernel", "agent.initramfs"} {
				write(t, filepath.Join(state, "http/images", name), name)
			}
		},
	})
	a := newAsker(t, s, 1)
	a.create(t, running.URL, "ipxe")
	return s, a
}

// now is the node as it is; the zero node if there is none.
func (a *asker) now(t *testing.T) node.Node {
	t.Helper()
	all, err := a.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n, _ := node.Of(all, a.name, a.card)
	return n
}

// do makes a request, again until Ironic takes it.
func (a *asker) do(t *testing.T, r node.Request) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		r.UUID = a.now(t).UUID
		err := a.Do(t.Context(), r)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", r.Verb, err)
		}
	}
}

// await waits for a state.
func (a *asker) await(t *testing.T, want node.State) (n node.Node) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if n = a.now(t); n.State == want && !n.Locked {
			return n
		}
	}
	t.Fatalf("it is %q, want %q: %s", n.State, want, n.Error)
	return n
}

// create makes the node of a machine of a FAKE BMC, with Ironic's boot interface.
func (a *asker) create(t *testing.T, bmc, boot string) {
	t.Helper()
	a.do(t, node.Request{Verb: node.Create, MAC: a.card, Spec: node.Spec{Name: a.name, Driver: "redfish",
		Interfaces: map[string]string{"deploy_interface": "direct", "boot_interface": boot, "network_interface": "noop", "bios_interface": "no-bios",
			"raid_interface": "no-raid", "inspect_interface": "agent", "firmware_interface": "no-firmware"},
		Info: map[string]any{"redfish_address": bmc, "redfish_system_id": "/redfish/v1/Systems/" + a.machine.ID, "redfish_username": secret.New("admin"),
			"redfish_password": secret.New("p4ss-W0rd"), "redfish_verify_ca": layout.BMCCA, "deploy_kernel": "file://" + layout.Images + "/agent.kernel",
			"deploy_ramdisk": "file://" + layout.Images + "/agent.initramfs"},
		Properties: map[string]string{"capabilities": "boot_mode:uefi"}}})
}

// agent is a FAKE ramdisk: it reports, and notes what Ironic asks of it. It does nothing.
type agent struct {
	mu    sync.Mutex
	asked []string
	url   string
	ca    string // of url, in PEM
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Method+" "+r.URL.Path)
	w.WriteHeader(http.StatusTeapot)
}

// newAgent listens until the test ends.
func newAgent(t *testing.T) *agent {
	t.Helper()
	a := &agent{}
	s := httptest.NewTLSServer(a)
	t.Cleanup(s.Close)
	a.url, a.ca = s.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return a
}

func (a *agent) heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// reports has the ramdisk look its node up, and report, as it does after its boot.
func (a *agent) reports(t *testing.T, s *Server, n node.Node) {
	t.Helper()
	var found struct {
		Config struct {
			Token string `json:"agent_token"`
		}
	}
	get(t, s, "/v1/lookup?node_uuid="+n.UUID, &found)
	if found.Config.Token == "" {
		t.Fatal("it gets no token")
	}
	body, err := json.Marshal(map[string]string{"callback_url": a.url, "agent_token": found.Config.Token, "agent_version": "11.0.0", "agent_verify_ca": a.ca})
	if err != nil {
		t.Fatal(err)
	}
	if code, answer, err := s.Do(t.Context(), http.MethodPost, "/v1/heartbeat/"+n.UUID, body); err != nil || code != http.StatusAccepted {
		t.Fatalf("a report: %d %s %v", code, answer, err)
	}
}

// TestLongHold has the real Ironic ignore the ramdisk of a node that waits for one, as the phase machine
// asks for a host whose disk counts as written. The deployment ends in maintenance, and the maintenance
// after it. The ramdisk of the next deployment is then asked for the first step.
func TestLongHold(t *testing.T) {
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "image") }))
	defer images.Close()
	s, a := withBMC(t)
	a.do(t, node.Request{Verb: node.Manage})
	a.await(t, node.Manageable)
	a.do(t, node.Request{Verb: node.Pin, Disk: node.Pinned{Serial: "S1"}})
	a.do(t, node.Request{Verb: node.Provide})
	a.await(t, node.Available)
	deploy := node.Request{Verb: node.Deploy, Image: node.Image{URL: images.URL + "/os.raw", SHA256: strings.Repeat("ab", 32), Format: "raw"},
		Drive: node.Drive{Name: "master-0", UserData: secret.New("{}")}}
	a.do(t, deploy)
	before := a.await(t, node.DeployWait)
	a.do(t, node.Request{Verb: node.Hold})
	if n := a.now(t); !n.Maintenance.Held() {
		t.Fatalf("it is not held: %+v", n.Maintenance)
	}
	ramdisk := newAgent(t)
	ramdisk.reports(t, s, before)
	soon(func() bool { return strings.Contains(s.Log(), "not taking any action") || len(ramdisk.heard()) > 0 })
	if n := a.await(t, node.DeployWait); n.Step.Index != before.Step.Index || n.Power != before.Power || len(ramdisk.heard()) > 0 || n.Called.IsZero() {
		t.Errorf("a report has effects: %+v, the ramdisk is asked %q", n, ramdisk.heard())
	}

	a.do(t, node.Request{Verb: node.Undeploy})
	if n := a.await(t, node.Available); !n.Maintenance.Held() {
		t.Errorf("after its deployment has ended: %+v", n.Maintenance)
	}
	a.do(t, node.Request{Verb: node.Clear})
	if n := a.now(t); n.Maintenance.On {
		t.Errorf("its maintenance does not end: %+v", n.Maintenance)
	}

	a.do(t, deploy)
	ramdisk.reports(t, s, a.await(t, node.DeployWait))
	soon(func() bool { return len(ramdisk.heard()) > 0 })
	if len(ramdisk.heard()) == 0 {
		t.Error("the ramdisk of the next deployment is not asked for anything")
	}
}

// soon waits until something is so, but not for ever.
func soon(is func() bool) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !is(); {
		time.Sleep(200 * time.Millisecond)
	}
}
