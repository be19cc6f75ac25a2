package provisioning

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/port"
	render "github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/ironic"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/osimage"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
)

// TestLongChain takes an empty machine of each kind to an operating system with its document: it is
// enrolled, inspected and written by one boot of the ramdisk, and then starts from its
// disk, with the trap as it was.
func TestLongChain(t *testing.T) {
	needLong(t)
	p := built(t)
	for _, k := range []kind{{name: "bios-redfish", legacy: true}, {name: "uefi-redfish"}, {name: "bios-ipmi", legacy: true, ipmi: true}} {
		t.Run(k.name, func(t *testing.T) { install(t, k, p.Files, p.Image) })
	}
}

func install(t *testing.T, k kind, files ramdisk.Files, image osimage.Image) {
	l := newLab(t, server)
	reported := l.receive(t)
	times := newLaps(t)
	h := l.addHost(t, 1, k)
	server := l.startIronic(t, h, files, image)
	l.startDnsmasq(t, server.State, h)
	l.serve(t, server.Settings.HTTP, requests{http.FileServer(http.Dir(server.State + "/http")), t.Logf})
	times.lap("Ironic serves, %v after its start", server.Started.Round(100*time.Millisecond))

	d := &driver{Server: server, host: h, laps: times}
	d.enroll(t)
	d.inspect(t)
	t.Logf("%q", h.stages())
	d.to(t, "provide", "available", nil)
	d.meet(t)
	d.deploy(t, image, "worker-7", "applied to "+k.name, l.reports)
	times.lap("active")
	select {
	case got := <-reported:
		if want := h.address.String() + " worker-7 applied to " + k.name; got != want {
			t.Errorf("the operating system reports %q, want %q", got, want)
		}
	case <-time.After(patience()):
		t.Fatal("the operating system does not report")
	}
	times.lap("the operating system has reported")

	var from []string
	for _, c := range h.Starts() {
		from = append(from, c.Boot)
	}
	// Ironic may start a machine that is off from its disk before it boots the ramdisk: it does not.
	if !slices.Equal(from, []string{"Pxe", "Hdd"}) {
		t.Errorf("the machine started from %v", from)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if whole, err := h.TrapIsWhole(); err != nil || !whole {
		t.Errorf("the trap is whole: %v, %v", whole, err)
	}
}

// startIronic starts Ironic in the network, with all that it serves below its State.
func (l lab) startIronic(t *testing.T, h *host, files ramdisk.Files, image osimage.Image) *ironic.Server {
	t.Helper()
	root, err := ironic.Root(t.Context(), logger())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs a root file system with Ironic: %v", err))
	}
	return ironic.Start(t, ironic.Options{
		In: l.In,
		Settings: func(s *render.Settings) {
			s.API = netip.AddrPortFrom(server, number(port.Ironic))
			s.HTTP = netip.AddrPortFrom(server, number(port.ProvisioningHTTP))
			s.Hosts = []render.Host{{Driver: h.driver, Boot: render.PXE}}
		},
		Before: func(state, _ string) {
			images := filepath.Join(state, layout.Images[len(layout.State):])
			certificate, err := os.ReadFile(filepath.Join(state, layout.Certificate[len(layout.State):]))
			if err == nil {
				err = os.WriteFile(filepath.Join(images, render.TrustFile), render.TrustArchive(certificate), 0o644)
			}
			for to, from := range map[string]string{
				images + "/agent.kernel": files.Kernel, images + "/agent.initramfs": files.Initramfs, images + "/os.raw": image.Path,
				state + "/tftp/undionly.kpxe": root + "/usr/lib/ipxe/undionly.kpxe", state + "/tftp/snponly.efi": root + "/usr/lib/ipxe/snponly.efi",
			} {
				err = errors.Join(err, exec.CommandContext(t.Context(), "cp", "--sparse=always", from, to).Run())
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	})
}
