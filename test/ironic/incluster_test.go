package ironic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/conductor"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestLongMediaInCluster has the Ironic of a cluster of any Kubernetes insert a medium at a FAKE BMC,
// with a worker as metal3's operator enrols it: the URL is at the node, and the medium is where the
// server beside Ironic serves it.
func TestLongMediaInCluster(t *testing.T) {
	inserted := make(chan string, 10)
	bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: "p4ss-W0rd", Vendor: "FAKE", Product: "FAKE", Machines: []fakebmc.Machine{fakebmc.Sample(1)},
		Power: func(_ fakebmc.Machine, c fakebmc.Change) error {
			if c.On {
				inserted <- c.Media
			}
			return nil
		}})
	running := fakebmc.Start(t, bmc, fakebmc.Certificate{})
	need.Root(t)
	esp, grub := bootLoader(t)
	node := netip.MustParseAddr("192.0.2.21")
	inCluster, err := conductor.OnNode(plan.Plan{Ports: port.Numbers(nil), Provisioning: &provision.Plan{IP: netip.MustParseAddr("172.22.0.3"),
		Deadlines: []provision.Deadline{{Step: "call-back", Seconds: 1800}, {Step: "boot-retry", Seconds: 600}},
		Hosts:     []provision.Host{{Name: "w0", Phase: provision.Cluster, Driver: "redfish-virtualmedia", BMC: "redfish-virtualmedia://198.51.100.1/1", Boot: provision.VirtualMedia, Ironic: "https://172.22.0.3:6385"}}}},
		node, grub)
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) { // at the loopback, as the test has no VIP
			inCluster.API, inCluster.HTTP, inCluster.Paths = s.API, s.HTTP, s.Paths
			*s = inCluster
		},
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), string(running.PEM))
			write(t, filepath.Join(state, "http/images/agent.kernel"), "kernel")
			write(t, filepath.Join(state, "http/images/agent.initramfs"), initramfs)
			write(t, filepath.Join(state, "http/images", filepath.Base(layout.Loader)), string(esp))
		},
	})
	at, err := net.Listen("tcp", s.Settings.HTTP.String())
	if err != nil {
		t.Fatal(err)
	}
	served := &http.Server{Handler: http.FileServer(http.Dir(filepath.Join(s.State, "http"))), ReadHeaderTimeout: time.Second}
	go func() { _ = served.Serve(at) }()
	t.Cleanup(func() { _ = served.Close() })
	images := "http://" + s.Settings.HTTP.String() + "/images/"
	body, err := json.Marshal(map[string]any{"name": "onprem-infra-metal3~w0", "driver": "redfish", "boot_interface": "redfish-virtual-media", "inspect_interface": "agent", "automated_clean": true,
		"driver_info": map[string]any{"redfish_address": running.URL, "redfish_system_id": "/redfish/v1/Systems/" + fakebmc.Sample(1).ID, "redfish_username": "admin", "redfish_password": "p4ss-W0rd",
			"redfish_verify_ca": layout.BMCCA, "deploy_kernel": images + "agent.kernel", "deploy_ramdisk": images + "agent.initramfs"}})
	if err != nil {
		t.Fatal(err)
	}
	code, answer, err := s.Do(t.Context(), http.MethodPost, "/v1/nodes", body)
	var enrolled struct{ UUID string }
	if err != nil || code != http.StatusCreated || json.Unmarshal(answer, &enrolled) != nil {
		t.Fatalf("enrol: %d %s %v", code, answer, err)
	}
	port := fmt.Sprintf(`{"node_uuid":%q,"address":%q}`, enrolled.UUID, fakebmc.Sample(1).Ports[0].MAC)
	if code, answer, err := s.Do(t.Context(), http.MethodPost, "/v1/ports", []byte(port)); err != nil || code != http.StatusCreated {
		t.Fatalf("add a port: %d %s %v", code, answer, err)
	}
	state(t, s, enrolled.UUID, "manage", "manageable")
	state(t, s, enrolled.UUID, "inspect", "inspect wait")
	medium, err := os.ReadFile(filepath.Join(s.State, "http", layout.Media, "boot-"+enrolled.UUID+".iso"))
	if err != nil || !bytes.Contains(medium, []byte(initramfs)) || !bytes.Contains(medium, []byte("ipa-api-url="+s.URL)) {
		t.Errorf("the medium of %d bytes: %v", len(medium), err)
	}
	if got := <-inserted; !strings.HasPrefix(got, "https://192.0.2.21:6183/"+layout.Media+"/boot-"+enrolled.UUID+".iso") {
		t.Errorf("the BMC fetches %q", got)
	}
}
