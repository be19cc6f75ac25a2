package ironic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
)

// holds judges the ISO that Ironic made: kernel, ramdisk and boot loader are those of the images, the
// loader finds its configuration, and the ramdisk gets the certificate of Ironic.
func holds(t *testing.T, s *Server, iso, grub string, kernel, loader []byte) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-euc",
		`mount --bind "$2" "$1/mnt"; chroot "$1" xorriso -osirrox on -indev /mnt/boot.iso -extract / /mnt/tree`, "sh", root(t), dir)
	text, err := os.ReadFile(iso)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "boot.iso"), string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("read the ISO: %v: %s", err, out)
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(dir, "tree", path))
		if err != nil {
			t.Errorf("the ISO: %v", err)
		}
		return string(text)
	}
	for path, want := range map[string]string{"vmlinuz": string(kernel), "initrd": initramfs,
		"boot/grub/efiboot.img": string(loader)} {
		if read(path) != want {
			t.Errorf("the ISO has another %s", path)
		}
	}
	for _, want := range []string{"/vmlinuz", "/initrd", "ipa-insecure=0", "ipa-api-url=" + s.URL} {
		if config := read(grub); !strings.Contains(config, want) {
			t.Errorf("no %q in %s:\n%s", want, grub, config)
		}
	}
	certificate, err := os.ReadFile(filepath.Join(s.State, strings.TrimPrefix(s.Settings.Paths.Certificate, layout.State)))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	_ = filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			content, err := os.ReadFile(path)
			found = found || err == nil && bytes.Contains(content, bytes.TrimSpace(certificate))
		}
		return nil
	})
	if !found {
		t.Error("no file of the ISO has the certificate of Ironic")
	}
}

// initramfs is no file system: a kernel that has loaded it ends.
var initramfs = strings.Repeat("agent.initramfs", 100)

// starts boots a bare machine with UEFI firmware from an ISO, until its kernel prints its command line.
func starts(t *testing.T, iso, argument string) {
	t.Helper()
	served := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(iso))))
	defer served.Close()
	host, err := qemuhost.New(t.Context(), qemuhost.Options{Name: "m", MAC: "52:54:00:00:00:09", UUID: "00000000-0000-0000-0000-000000000009", Dir: t.TempDir(), Log: slog.Default()})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	begin := time.Now()
	if err := host.Power(fakebmc.Change{On: true, Boot: "Cd", Mode: "UEFI", Media: served.URL + "/" + filepath.Base(iso)}); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(host.Console(), argument) {
		if time.Since(begin) > 3*time.Minute {
			t.Fatalf("no kernel starts from the ISO:\n%s\n%s", host.Console(), host.Errors())
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("from the medium to the kernel: %v", time.Since(begin).Round(time.Second))
}

// bootLoader is the image of a boot loader for virtual media, and the path of the configuration that
// its GRUB reads.
func bootLoader(t *testing.T) (esp []byte, grub string) {
	t.Helper()
	dir, err := loader(t.Context(), slog.Default())
	if err != nil {
		need.Missing(t, "needs a root file system with GRUB: "+err.Error())
	}
	if esp, err = os.ReadFile(filepath.Join(dir, loaderFile)); err != nil {
		t.Fatal(err)
	}
	if grub, err = ironic.GRUBConfig(esp); err != nil {
		t.Fatal(err)
	}
	return esp, grub
}

// TestLongBoot has Ironic boot a FAKE machine by PXE, one by HTTP, and one by virtual media, whose
// BMC it verifies. It does so without a capability, and writes nowhere but below its own directories.
func TestLongBoot(t *testing.T) {
	var started sync.Map // by the machine's ID
	bmc := fakebmc.New(fakebmc.Options{User: "admin", Password: "p4ss-W0rd", Vendor: "FAKE", Product: "FAKE",
		Power: func(m fakebmc.Machine, c fakebmc.Change) error {
			if c.On {
				started.Store(m.ID, c)
			}
			return nil
		},
		Machines: []fakebmc.Machine{fakebmc.Sample(1), fakebmc.Sample(2), fakebmc.Sample(3)}})
	running := fakebmc.Start(t, bmc, fakebmc.Certificate{})
	need.Root(t)
	esp, grub := bootLoader(t)
	files, err := ramdisk.Build(t.Context(), slog.Default())
	if err != nil {
		need.Missing(t, "needs a kernel: "+err.Error())
	}
	kernel, err := os.ReadFile(files.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	if grub != "EFI/onprem/grub.cfg" {
		t.Fatalf("a real GRUB reads %q", grub)
	}
	s := Start(t, Options{
		Settings: func(s *ironic.Settings) {
			s.Hosts = []ironic.Host{{Driver: "redfish", Boot: ironic.PXE}, {Driver: "redfish-virtualmedia", Boot: ironic.VirtualMedia},
				{Driver: "redfish-uefihttp", Boot: ironic.UEFIHTTP}}
			s.Bound = true
			s.Media, s.GRUB = netip.MustParseAddrPort("192.0.2.5:6183"), grub
		},
		Before: func(state, _ string) {
			write(t, filepath.Join(state, strings.TrimPrefix(layout.BMCCA, layout.State)), string(running.PEM))
			write(t, filepath.Join(state, "http/images/agent.kernel"), string(kernel))
			write(t, filepath.Join(state, "http/images/agent.initramfs"), initramfs)
			write(t, filepath.Join(state, "http/images", filepath.Base(layout.Loader)), string(esp))
		},
	})
	elsewhere := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), s.Settings.API.Port())
	if conn, err := net.DialTimeout("tcp", elsewhere.String(), time.Second); err == nil {
		conn.Close()
		t.Errorf("it listens at %s, not only at %s", elsewhere, s.Settings.API)
	}
	pxe := enrol(t, s, running.URL, 1, "ipxe")
	medium := enrol(t, s, running.URL, 2, "redfish-virtual-media")
	byHTTP := enrol(t, s, running.URL, 3, "http-ipxe")
	for _, node := range []string{pxe, medium, byHTTP} {
		state(t, s, node, "manage", "manageable")
		state(t, s, node, "inspect", "inspect wait")
	}
	for machine, node := range map[int]string{1: pxe, 3: byHTTP} {
		card := strings.ReplaceAll(strings.ToLower(fakebmc.Sample(machine).Ports[0].MAC), ":", "-")
		script, err := os.ReadFile(filepath.Join(s.State, "http/pxelinux.cfg", card))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			fmt.Sprintf("kernel --timeout 60000 http://%s/%s/deploy_kernel selinux=0 text nofb vga=normal rd.net.timeout.carrier=30 ipa-insecure=0 ", s.Settings.HTTP, node),
			"ipa-inspection-callback-url=" + s.URL + "/v1/continue_inspection", "ipa-api-url=" + s.URL,
			"initrd --name ironic-trust.img",
		} {
			if !strings.Contains(string(script), want) {
				t.Errorf("no %q in\n%s", want, script)
			}
		}
	}
	if c, _ := started.Load(fakebmc.Sample(3).ID); c != (fakebmc.Change{On: true, Boot: "UefiHttp", Mode: "UEFI"}) {
		t.Errorf("the firmware is to boot %+v, want a program that DHCP names", c)
	}
	for _, path := range []string{pxe + "/deploy_kernel", pxe + "/deploy_ramdisk", byHTTP + "/deploy_kernel", byHTTP + "/deploy_ramdisk", "redfish/boot-" + medium + ".iso"} {
		if info, err := os.Stat(filepath.Join(s.State, "http", path)); err != nil || info.Mode().Perm()&0o004 == 0 {
			t.Errorf("%s: %v: the HTTP server cannot read it", path, err)
		}
	}
	holds(t, s, filepath.Join(s.State, "http/redfish/boot-"+medium+".iso"), grub, kernel, esp)
	starts(t, filepath.Join(s.State, "http/redfish/boot-"+medium+".iso"), "ipa-api-url="+s.URL)
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
	console := "" // the kernel reports there, and on no screen
	if boot == "redfish-virtual-media" {
		console = `"kernel_append_params":"%%default%% console=ttyS0 panic=-1",`
	}
	body := fmt.Sprintf(`{"name":"master-%d","driver":"redfish","boot_interface":%q,"driver_info":{`+console+`"redfish_address":%q,"redfish_system_id":"/redfish/v1/Systems/%s","redfish_username":"admin","redfish_password":"p4ss-W0rd","redfish_verify_ca":%q},"properties":{"capabilities":"boot_mode:uefi"}}`,
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
