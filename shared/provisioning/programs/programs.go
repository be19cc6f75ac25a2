// Package programs has where images keep what hosts boot: iPXE's programs, the ramdisk, and the
// boot loader of virtual media. Debian's packages, Red Hat's packages and metal3's images have them
// at different places.
package programs

import (
	"fmt"
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Program is a boot program.
type Program struct {
	Name string   // below the document roots
	From []string // where images have it, the best first
}

// BIOS is for legacy BIOS firmware.
func BIOS() Program {
	return Program{layout.ProgramBIOS, []string{"/tftpboot/undionly.kpxe",
		"/usr/lib/ipxe/undionly.kpxe", "/usr/share/ipxe/undionly.kpxe"}}
}

// X64 is for UEFI on x86_64.
func X64() Program {
	return Program{layout.ProgramX64, []string{"/tftpboot/snponly.efi",
		"/usr/lib/ipxe/snponly.efi", "/usr/share/ipxe/ipxe-snponly-x86_64.efi",
		"/usr/lib/ipxe/ipxe.efi"}}
}

// ARM64 is for UEFI on aarch64.
func ARM64() Program {
	return Program{layout.ProgramARM64, []string{"/tftpboot/arm64-efi/snponly.efi",
		"/usr/share/ipxe/arm64-efi/snponly.efi", "/usr/lib/ipxe/snponly-arm64.efi",
		"/usr/lib/ipxe/ipxe-arm64.efi"}}
}

// Ramdisk is where images may have a file of the ramdisk: our images, and those from which metal3
// and OpenShift copy it, by its name or the one that the agent's own builder gives it.
func Ramdisk(name string) (from []string) {
	short := strings.TrimPrefix(path.Ext(name), ".")
	for _, dir := range []string{"/", "/images/", "/shared/html/images/", "/srv/images/"} {
		from = append(from, dir+name, dir+"ironic-python-agent."+short)
	}
	return from
}

// Loader is where images have the boot loader of virtual media.
func Loader() []string {
	return []string{"/templates/uefi_esp_x86_64.img", "/templates/uefi_esp.img",
		"/tmp/uefi_esp.img", "/tmp/esp.img", "/esp.img"}
}

// To are a program's places below both document roots.
func (p Program) To() []string {
	return []string{path.Join(layout.HTTP, p.Name), path.Join(layout.TFTP, p.Name)}
}

// Copy is the command by which a container copies the programs of its image to their places, and
// makes the directory of leases. It needs a POSIX shell and coreutils. A missing program is no
// error: the hosts determine which are needed.
func Copy() []string {
	var script strings.Builder
	fmt.Fprintf(&script, "set -e\nmkdir -p %s\n", layout.Leases)
	for _, p := range []Program{BIOS(), X64(), ARM64()} {
		fmt.Fprintf(&script, "for from in %s; do\n    test -f $from || continue\n",
			strings.Join(p.From, " "))
		for _, to := range p.To() {
			fmt.Fprintf(&script, "    mkdir -p %s\n    cp $from %s\n", path.Dir(to), to)
		}
		script.WriteString("    break\ndone\n")
	}
	return []string{"/bin/sh", "-c", script.String()}
}
