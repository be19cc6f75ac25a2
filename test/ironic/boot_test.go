package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestLongBoot has Ironic boot a FAKE machine by PXE and one by virtual media, whose BMC it
// verifies. It does so without a capability, and writes nowhere but below its own directories.
func TestLongBoot(t *testing.T) {
	bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: "p4ss-W0rd", Vendor: "FAKE", Product: "FAKE",
		Machines: []fakebmc.Machine{fakebmc.Sample(1), fakebmc.Sample(2)}})
	running := fakebmc.Start(t, bmc, fakebmc.Certificate{})
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) {
			s.Hosts = []ironic.Host{{Driver: "redfish", Boot: ironic.PXE}, {Driver: "redfish-virtualmedia", Boot: ironic.VirtualMedia}}
			s.Media = netip.MustParseAddrPort("192.0.2.5:6183")
		},
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), string(running.PEM))
			for _, name := range []string{"agent.kernel", "agent.initramfs", "esp.img"} {
				write(t, filepath.Join(state, "http/images", name), strings.Repeat(name, 100))
			}
		},
	})
	pxe := enrol(t, s, running.URL, 1, "ipxe")
	medium := enrol(t, s, running.URL, 2, "redfish-virtual-media")
	for _, node := range []string{pxe, medium} {
		state(t, s, node, "manage", "manageable")
		state(t, s, node, "inspect", "inspect wait")
	}
	card := strings.ReplaceAll(strings.ToLower(fakebmc.Sample(1).Ports[0].MAC), ":", "-")
	script, err := os.ReadFile(filepath.Join(s.State, "http/pxelinux.cfg", card))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("kernel --timeout 60000 http://%s/%s/deploy_kernel selinux=0 text nofb vga=normal rd.net.timeout.carrier=30 ipa-insecure=0 ", s.Settings.HTTP, pxe),
		"ipa-inspection-callback-url=" + s.URL + "/v1/continue_inspection", "ipa-api-url=" + s.URL,
		"initrd --name ironic-trust.img",
	} {
		if !strings.Contains(string(script), want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	for _, path := range []string{pxe + "/deploy_kernel", pxe + "/deploy_ramdisk", "redfish/boot-" + medium + ".iso"} {
		if info, err := os.Stat(filepath.Join(s.State, "http", path)); err != nil || info.Mode().Perm()&0o004 == 0 {
			t.Errorf("%s: %v: the HTTP server cannot read it", path, err)
		}
	}
	inserted := ""
	for _, r := range bmc.Requests() {
		if strings.HasSuffix(r.Path, "InsertMedia") {
			inserted = r.Path
		}
	}
	if inserted == "" {
		t.Error("no medium was inserted")
	}
	if strings.Contains(s.Log(), "p4ss-W0rd") {
		t.Error("the BMC's password is in the log")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// enrol makes a node with a port, and returns its UUID.
func enrol(t *testing.T, s *Server, bmc string, machine int, boot string) string {
	t.Helper()
	body := fmt.Sprintf(`{"name":"master-%d","driver":"redfish","boot_interface":%q,"driver_info":{"redfish_address":%q,"redfish_system_id":"/redfish/v1/Systems/%s","redfish_username":"admin","redfish_password":"p4ss-W0rd","redfish_verify_ca":%q},"properties":{"capabilities":"boot_mode:uefi"}}`,
		machine, boot, bmc, fakebmc.Sample(machine).ID, layout.BMCCA)
	code, answer, err := s.Do(t.Context(), http.MethodPost, "/v1/nodes", []byte(body))
	var node struct{ UUID string }
	if err != nil || code != http.StatusCreated || json.Unmarshal(answer, &node) != nil {
		t.Fatalf("enrol: %d %s %v", code, answer, err)
	}
	port := fmt.Sprintf(`{"node_uuid":%q,"address":%q}`, node.UUID, fakebmc.Sample(machine).Ports[0].MAC)
	if code, answer, err := s.Do(t.Context(), http.MethodPost, "/v1/ports", []byte(port)); err != nil || code != http.StatusCreated {
		t.Fatalf("add a port: %d %s %v", code, answer, err)
	}
	return node.UUID
}

// state asks for a change of a node's state, and waits for its end.
func state(t *testing.T, s *Server, node, target, want string) {
	t.Helper()
	const enough = 2 * time.Minute
	if code, answer, err := s.Do(t.Context(), http.MethodPut, "/v1/nodes/"+node+"/states/provision", []byte(`{"target":"`+target+`"}`)); err != nil || code != http.StatusAccepted {
		t.Fatalf("%s: %d %s %v", target, code, answer, err)
	}
	var now struct {
		State string `json:"provision_state"`
		Error string `json:"last_error"`
	}
	for end := time.Now().Add(enough); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		get(t, s, "/v1/nodes/"+node, &now)
		if now.State == want || now.Error != "" {
			break
		}
	}
	if now.State != want {
		t.Fatalf("%s: %s is %q, want %q: %s", target, node, now.State, want, now.Error)
	}
}
