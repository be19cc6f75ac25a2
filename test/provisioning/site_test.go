package provisioning

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/ironic"
	lan "github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/osimage"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

const (
	// card is the bootstrap machine's on the provisioning network, and cable the other end of its
	// wire.
	card, cable = "enp2s0", "bootstrap"
	cardMAC     = "52:54:00:22:02:01"
)

// mirror is the host with the files that the bootstrap machine fetches.
var mirror = netip.MustParseAddr("192.0.2.4")

// member is a host that is to be installed, and its BMC.
type member struct {
	*host
	control *fakebmc.BMC
	serial  string // of its root disk, as the description names it
	applied string // what its operating system reports once its document is applied
	lost    int    // boots from the network that may come to nothing
}

// url is the address of its BMC, as the description has it.
func (m *member) url() string {
	switch {
	case m.ipmi:
		return "ipmi://" + m.bmc.String()
	case m.media:
		return "redfish-virtualmedia://" + m.bmc.String() + "/redfish/v1/Systems/1"
	}
	return "redfish://" + m.bmc.String() + "/redfish/v1/Systems/1"
}

// site is a bootstrap machine that provisions hosts, with all that is around it: a registry, a
// mirror, the BMCs, and the provisioning network.
type site struct {
	*chain.Chain
	t        testing.TB
	wire     lab       // of the provisioning network
	bmcs     *lan.Host // of the machine network, with all BMCs
	members  []*member
	plan     plan.Plan
	up       time.Time // when the machine was switched on, of a site that is started
	registry *chain.Registry
	reported <-chan string
	foreign  bool // another DHCP server is on the provisioning network
	laps     *laps
}

// payload are the files of this machine that hosts boot and get.
type payload struct {
	ramdisk.Files
	osimage.Image
}

// newSite makes a machine that is ready to boot. Hosts are plugged in by add, before install.
func newSite(t testing.TB) *site {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make", registry.Program} {
		need.Command(t, name)
	}
	s := &site{t: t, wire: newLab(t, beside)}
	var err error
	if s.Chain, err = chain.New(t.Context(), logger()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	s.bmcs, err = s.Host("bmcs", chain.BMCIP)
	s.must(err)
	// BMCs reach virtual media on the machine network, and few of them verify a server.
	s.wire.client = &http.Client{Transport: &http.Transport{DialContext: s.bmcs.Dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s.reported = s.wire.receive(t)
	s.plugIn()
	return s
}

// close ends the machine; of a test that failed it prints what is left of it nowhere else.
func (s *site) close() {
	if s.t.Failed() && s.VM != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		const state = `systemctl --no-pager --failed; podman ps --all --external; ip -br addr; df -h /var
			tail -n 40 /run/onprem-infra/provisioning/*.json; cat /var/lib/onprem-infra/provisioning/journal.jsonl`
		out, err := s.VM.Run(ctx, "sh", "-c", state)
		s.t.Logf("console:\n%s\nmachine:\n%s%v\njournal:\n%s", s.VM.Console(), out, err,
			s.Journal(ctx, append([]string{"onprem-keepalived.service", "onprem-coredns.service"}, units...)...))
	}
	if err := s.Close(context.Background()); err != nil {
		s.t.Error(err)
	}
}

// plugIn gives the machine its second card, which is down, as after a boot.
func (s *site) plugIn() {
	s.t.Helper()
	s.wire.IP(s.t, fmt.Sprintf(`link add %s type veth peer name %s address %s netns %s
		link set %[1]s master %[5]s up`, cable, card, cardMAC, s.Bootstrap.Path(), link))
}

// must ends the test on an error.
func (s *site) must(errs ...error) {
	s.t.Helper()
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
}

// install has Ignition write to the machine's disk what its description comes to, and pushes all
// images to the registry.
func (s *site) install(p payload) {
	s.t.Helper()
	ctx, t := s.t.Context(), s.t
	build := ironic.Image
	if slices.ContainsFunc(s.members, func(m *member) bool { return m.media }) {
		build = ironic.MediaImage
	}
	image, err := build(ctx, logger())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs a root file system with Ironic: %v", err))
	}
	s.laps = newLaps(t)
	s.must(s.Build(ctx), s.Images(ctx, need.Command(t, "keepalived")))
	s.laps.lap("our programs and images are built")
	s.registry, err = s.Supply(ctx)
	s.must(err)
	config, images, flags := s.describe(), s.serveFiles(p), s.documents()
	images["ironicImage"], err = s.registry.Add("ironic", image)
	s.must(err)
	s.laps.lap("the registry has all images")
	document, took, err := s.CompileOf(ctx, config, images, flags...)
	s.must(err)
	t.Logf("ignition: %d bytes in %s", len(document), took.Round(time.Millisecond))
	described, findings := spec.Parse("install-config.yaml", config, spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	described.Images = images
	s.plan, err = plan.Compile(described)
	s.must(err, s.Machine.Ignite(ctx, document), s.Equip())
	for _, m := range s.members {
		for _, planned := range s.plan.Provisioning.Hosts {
			if planned.Name == m.name {
				m.address = planned.Address
			}
		}
	}
}

// describe is the install-config.
func (s *site) describe() []byte {
	_, ca, err := s.Certificate()
	s.must(err)
	var text strings.Builder
	fmt.Fprintf(&text, `apiVersion: v1
metadata:
  name: %s
baseDomain: example.com
controlPlane: {name: master, replicas: %d}
compute: [{name: worker, replicas: 0}]
networking:
  networkType: OVNKubernetes
  machineNetwork: [{cidr: 192.0.2.0/24}]
platform:
  baremetal:
    apiVIPs: [%s]
    ingressVIPs: [%s]
    provisioningNetwork: Managed
    provisioningNetworkCIDR: %s
    provisioningNetworkInterface: %s
    provisioningDHCPRange: 172.22.0.10,172.22.0.100
    bootstrapProvisioningIP: %s
    clusterProvisioningIP: 172.22.0.3
    provisioningMACAddress: %s
    bmcVerifyCA: |
%s    hosts:
`, chain.Cluster, max(3, len(s.members)), chain.APIVIP, chain.IngressVIP, prefix, card, server, cardMAC, indent(string(ca)))
	for _, m := range s.members {
		fmt.Fprintf(&text, `    - name: %s
      role: master
      bootMACAddress: %s
      bootMode: %s
      rootDeviceHints: {serialNumber: %s}
      bmc: {address: '%s', username: %s, password: %s}
`, m.name, m.mac, map[bool]string{true: "legacy", false: "UEFI"}[m.legacy], m.serial, m.url(), qemuhost.User, qemuhost.Password)
	}
	text.WriteString(`pullSecret: '{"auths": {"registry.example.com": {"auth": "c2VjcmV0"}}}'` + "\n")
	return []byte(text.String())
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}

// serveFiles serves the payload on the mirror, and returns the images that name it.
func (s *site) serveFiles(p payload) map[string]string {
	s.t.Helper()
	host, err := s.Host("mirror", mirror)
	s.must(err)
	mux, images := http.NewServeMux(), map[string]string{}
	for key, path := range map[string]string{"ironicAgentKernel": p.Kernel, "ironicAgentInitramfs": p.Initramfs, "osImage": p.Path} {
		content, err := os.ReadFile(path)
		s.must(err)
		name := filepath.Base(path)
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
		images[key] = fmt.Sprintf("http://%s:8080/%s@sha256:%x", mirror, name, sha256.Sum256(content))
	}
	s.serve(host, 8080, mux, nil)
	return images
}

// documents writes each host's Ignition document, and returns the flags that name them.
func (s *site) documents() (flags []string) {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, m := range s.members {
		document, err := osimage.Document(m.name, m.applied, "http://"+s.wire.reports.String()+"/")
		s.must(err)
		path := filepath.Join(dir, m.name+".ign")
		s.must(os.WriteFile(path, document, 0o600))
		flags = append(flags, "--host-ignition", m.name+"="+path)
	}
	return flags
}

// serve serves on a host of the machine network until the test ends.
func (s *site) serve(on *lan.Host, port uint16, handler http.Handler, pair *tls.Certificate) {
	s.t.Helper()
	listener, err := on.Listen(fmt.Sprintf("0.0.0.0:%d", port))
	s.must(err)
	server := &http.Server{Handler: handler}
	if pair != nil {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*pair}})
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	s.t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-done); !errors.Is(err, http.ErrServerClosed) {
			s.t.Error(err)
		}
	})
}

// add takes hosts in, with their BMCs on a host of the machine network.
func (s *site) add(hosts ...*host) {
	s.t.Helper()
	pair, _, err := s.Certificate()
	s.must(err)
	for i, h := range hosts {
		m := &member{host: h, applied: "applied to " + h.name}
		if m.serial, m.control = "disk-"+h.name, bmcOf(h); h.Host != nil {
			m.control = h.BMC()
		}
		m.bmc = netip.AddrPortFrom(chain.BMCIP, 8000+uint16(i))
		if h.ipmi {
			h.serveIPMI(s.t, m.bmc, s.bmcs.Do)
		} else {
			s.serve(s.bmcs, m.bmc.Port(), m.control, &pair)
		}
		s.members = append(s.members, m)
	}
}

// bmcOf is the FAKE BMC of a host of which there is nothing else: it can be switched on, and boots
// nothing.
func bmcOf(h *host) *fakebmc.BMC {
	return fakebmc.New(fakebmc.Options{User: qemuhost.User, Password: qemuhost.Password, Vendor: "FAKE", Product: "FAKE",
		Machines: []fakebmc.Machine{{ID: "1", UUID: "11111111-1111-4111-8111-111111111100", Serial: h.name, Manufacturer: "FAKE", Model: "FAKE",
			Legacy: h.legacy, MemoryGiB: 4, CPUs: 1, Ports: []fakebmc.Port{{MAC: h.mac, Link: "LinkUp"}},
			Disks: []fakebmc.Disk{{Name: "sda", Serial: "disk-" + h.name, Bytes: 8 << 30, Media: "SSD", Protocol: "NVMe"}}}}})
}
