package ironic

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// everything is settings with each driver and each way to boot.
func everything(t *testing.T) ironic.Settings {
	s := settings(t)
	for driver, b := range map[string]ironic.Boot{"redfish-virtualmedia": ironic.VirtualMedia, "idrac-virtualmedia": ironic.VirtualMedia,
		"ilo5-virtualmedia": ironic.VirtualMedia, "redfish-uefihttp": ironic.UEFIHTTP, "ilo5-redfish": ironic.PXE, "libvirt": ironic.PXE} {
		s.Hosts = append(s.Hosts, ironic.Host{Driver: driver, Boot: b})
	}
	s.Media, s.GRUB = netip.MustParseAddrPort("192.0.2.5:6183"), "EFI/centos/grub.cfg"
	return s
}

// judge is a Python program that fails for an option that Ironic or its libraries do not have, and
// for a value that is not of the option's type. Ironic itself ignores the former.
const judge = `
import configparser, sys
from oslo_config import cfg, generator
known = {}
for _, groups in generator._list_opts(["ironic", "oslo.log", "oslo.db", "oslo.concurrency", "oslo.service.service", "oslo.service.sslutils"]):
    for group, options in groups:
        name = getattr(group, "name", group) or "DEFAULT"
        for o in options:
            known[name, o.dest] = o
f = configparser.RawConfigParser(default_section="none", strict=True)
f.read_file(sys.stdin)
wrong = []
for section in f.sections():
    for name, value in f.items(section):
        if (section, name) not in known:
            wrong.append("[%s] %s: no such option" % (section, name))
            continue
        try:
            known[section, name].type(value)
        except ValueError as e:
            wrong.append("[%s] %s: %s" % (section, name, e))
print("\n".join(wrong))
sys.exit(bool(wrong))
`

func root(t *testing.T) string {
	t.Helper()
	need.Root(t)
	need.Command(t, "debootstrap")
	dir, err := Root(t.Context(), slog.Default())
	if err != nil {
		need.Missing(t, "needs a root file system with Ironic: "+err.Error())
	}
	return dir
}

// TestConfig_Options holds that Ironic has each option of the configuration, by the names that it
// has, and takes its value.
func TestConfig_Options(t *testing.T) {
	dir := root(t)
	four, six := everything(t), everything(t)
	six.API = netip.MustParseAddrPort("[fd00:22::2]:6385")
	six.HTTP = netip.MustParseAddrPort("[fd00:22::2]:6180")
	examine := func(config string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "chroot", dir, "python3", "-c", judge)
		cmd.Stdin = strings.NewReader(config)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, s := range map[string]ironic.Settings{"IPv4": four, "IPv6": six} {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		if out, err := examine(string(ironic.Config(s))); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	broken := strings.Replace(string(ironic.Config(four)), "fast_track = true", "fast_trak = true", 1)
	broken = strings.Replace(broken, "api_workers = 1", "api_workers = one", 1)
	if out, err := examine(broken); err == nil || !strings.Contains(out, "[deploy] fast_trak: no such option") || !strings.Contains(out, "[api] api_workers") {
		t.Errorf("the judge accepts a wrong option and a wrong value: %s", out)
	}
}

// TestLongIronic starts Ironic with all drivers, without any capability and without a place to write
// to but its own, twice: it keeps what it knows, and ends in time.
func TestLongIronic(t *testing.T) {
	all := func(s *ironic.Settings) {
		full := everything(t)
		full.API, full.HTTP = s.API, s.HTTP
		*s = full
	}
	first := Start(t, Options{Settings: all})
	t.Logf("first start %v, memory %s", first.Started, memory(t, first.PID()))
	var list struct{ Drivers []struct{ Name string } }
	get(t, first, "/v1/drivers", &list)
	names := []string{}
	for _, d := range list.Drivers {
		names = append(names, d.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"idrac", "ipmi", "redfish"}) {
		t.Errorf("drivers %v", names)
	}
	unauthorized(t, first)
	trusted(t, first)
	body := []byte(`{"name":"master-0","driver":"redfish","boot_interface":"redfish-virtual-media","driver_info":{"redfish_address":"https://192.0.2.9","redfish_password":"p4ss-W0rd"}}`)
	if code, answer, err := first.Do(t.Context(), http.MethodPost, "/v1/nodes", body); err != nil || code != http.StatusCreated {
		t.Errorf("enrol a node: %d %s %v", code, answer, err)
	}
	if _, answer, _ := first.Do(t.Context(), http.MethodPatch, "/v1/nodes/master-0", []byte(`[{"op":"add","path":"/extra/a","value":"b"}]`)); !strings.Contains(string(answer), `"master-0"`) {
		t.Errorf("change a node: %s", answer)
	}
	const soon = 30 * time.Second // it takes 3 s, and more on a busy machine
	t.Logf("stopped in %v", first.Stop(t, soon))
	if strings.Contains(first.Log(), "p4ss-W0rd") || strings.Contains(first.Log(), first.Account.Password.Reveal()) {
		t.Error("a password is in the log")
	}
	for _, path := range []string{"http/ironic.ipxe", "ironic/ironic.sqlite"} {
		if _, err := os.Stat(filepath.Join(first.State, path)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(first.State, "http/boot.ipxe")); err == nil {
		t.Error("Ironic has written over boot.ipxe")
	}

	again := Start(t, Options{State: first.State, Settings: func(s *ironic.Settings) { *s = first.Settings }})
	t.Logf("second start %v", again.Started)
	var node struct{ Name string }
	if get(t, again, "/v1/nodes/master-0", &node); node.Name != "master-0" {
		t.Error("a restart lost the node")
	}
}

// unauthorized holds that only the account may change anything.
func unauthorized(t *testing.T, s *Server) {
	t.Helper()
	for path, want := range map[string]int{"/v1": http.StatusOK, "/v1/nodes": http.StatusUnauthorized, "/v1/drivers": http.StatusUnauthorized} {
		answer, err := s.Client.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s without an account: %d, want %d", path, answer.StatusCode, want)
		}
	}
}

// trusted holds that the ramdisk's agent, which asks by Python's requests, knows Ironic by the
// certificate alone, and no other server by it.
func trusted(t *testing.T, s *Server) {
	t.Helper()
	const ask = `
import requests, sys
sys.stdout.write(str(requests.get(sys.argv[1] + "/v1", verify=%s).status_code))
`
	certificate, err := os.ReadFile(filepath.Join(s.State, strings.TrimPrefix(layout.Certificate, layout.State)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ironic.crt")
	write(t, path, string(certificate))
	by := func(verify string) (string, error) {
		// The root's Python, with the file of this test: it is in another root.
		cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-euc",
			`mount -t tmpfs tmpfs "$1/mnt"; cp "$2" "$1/mnt/ironic.crt"; exec chroot "$1" python3 -c "$3" "$4"`,
			"ask", root(t), path, fmt.Sprintf(ask, verify), s.URL)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := by(`"/mnt/ironic.crt"`); err != nil || out != "200" {
		t.Errorf("the agent does not know Ironic by its certificate: %v %s", err, out)
	}
	if out, err := by("True"); err == nil || !strings.Contains(out, "CERTIFICATE_VERIFY_FAILED") {
		t.Errorf("without it: %s", out)
	}
}

func get(t *testing.T, s *Server, path string, into any) {
	t.Helper()
	code, body, err := s.Do(t.Context(), http.MethodGet, path, nil)
	if err != nil || code != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, code, body, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}

// memory is what a process has of the machine's.
func memory(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}

// TestTemplate has Ironic itself render the script of a host, with and without what is optional.
func TestTemplate(t *testing.T) {
	dir, s := root(t), everything(t)
	const render = `
import json, sys
from ironic.common import utils
text, options = json.load(sys.stdin)
sys.stdout.write(utils.render_template(text, {"pxe_options": options}, is_file=False))
`
	for _, tt := range []struct {
		options map[string]any
		want    []string
	}{
		{map[string]any{"deployment_aki_path": "http://h/u/deploy_kernel", "deployment_ari_path": "http://h/u/deploy_ramdisk", "pxe_append_params": "a=b ipa-api-url=https://h", "ipxe_timeout": 60000, "initrd_filename": "deploy_ramdisk"},
			[]string{"kernel --timeout 60000 http://h/u/deploy_kernel selinux=0 text a=b ipa-api-url=https://h BOOTIF=${mac} initrd=deploy_ramdisk initrd=ironic-trust.img || goto again",
				"initrd --timeout 60000 http://h/u/deploy_ramdisk || goto again", "initrd --name ironic-trust.img --timeout 60000 http://" + s.HTTP.String() + "/images/ironic-trust.img || goto again", "goto deploy"}},
		{map[string]any{"deployment_aki_path": "k", "deployment_ari_path": "r", "ipxe_timeout": 0},
			[]string{"kernel k selinux=0 text  BOOTIF=${mac} initrd=deploy_ramdisk initrd=ironic-trust.img || goto again", "initrd r || goto again"}},
	} {
		in, err := json.Marshal([]any{string(ironic.Template(s)), tt.options})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "chroot", dir, "python3", "-c", render)
		cmd.Stdin = strings.NewReader(string(in))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		lines := strings.Split(string(out), "\n")
		for _, want := range tt.want {
			if !slices.Contains(lines, want) {
				t.Errorf("no line %q in\n%s", want, out)
			}
		}
		if lines[0] != "#!ipxe" {
			t.Errorf("the first line is %q", lines[0])
		}
	}
}
