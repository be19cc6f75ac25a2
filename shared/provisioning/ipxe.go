package provisioning

import (
	"bytes"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/arch"
)

// Paths below the HTTP server's root. Ironic writes a script for each host that is to boot from the
// network, named by its MAC address; ours are beside them.
const (
	bootScript   = "boot.ipxe"
	autoexec     = "autoexec.ipxe"
	hostScripts  = "hosts"
	ironicConfig = "pxelinux.cfg"
)

var (
	// bootText chains the script of the host. It does so five times at most: Ironic may write that
	// script a moment after the host was switched on, and a host without one boots from its disk.
	//go:embed boot.ipxe
	bootText []byte
	// autoexecText is what newer releases of iPXE load first, from the directory of their program.
	// It replaces iPXE's own start: without the file some releases stop, and with an empty one iPXE
	// would end without a boot. Its command does what iPXE does without any script.
	//go:embed autoexec.ipxe
	autoexecText []byte
	//go:embed host.ipxe.tmpl
	hostText string
)

var hostTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("host.ipxe").Parse(hostText))
})

// HostScript is the script of one host: it only chains the one that Ironic writes for it.
func HostScript(r Reservation) []byte {
	host := r.Name
	if host == "" {
		host = r.MAC.String()
	}
	var out bytes.Buffer
	err := hostTemplate().Execute(&out, struct{ Host, Directory, MAC string }{
		host, ironicConfig, hyphens(r.MAC),
	})
	if err != nil {
		// The template prints values and calls nothing: only a wrong template comes here.
		panic(fmt.Sprintf("render the script of %s: %v", host, err))
	}
	return out.Bytes()
}

// programDirs are the directories in which the programs are, below both roots, sorted.
func (n Network) programDirs() (dirs []string) {
	for a := range arch.Known {
		program, _ := n.Programs.Program(a)
		if program == "" {
			continue
		}
		for _, root := range []string{n.Paths.TFTP, n.Paths.HTTP} {
			dirs = append(dirs, path.Dir(path.Join(root, program)))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// by names this package as the owner of its files.
const by = "shared/provisioning"

// Files are what the host that serves the network has, sorted by path: the configuration of
// dnsmasq at conf, its list of hosts, and Scripts. The findings of Validate are its error.
func Files(n Network, conf string) ([]asset.File, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	files := append(Scripts(n), file(conf, Dnsmasq(n)))
	if n.Mode == Managed {
		files = append(files, file(n.Paths.Hosts, Hosts(n)))
	}
	slices.SortFunc(files, byPath)
	return files, nil
}

// Scripts are iPXE's scripts below both roots, sorted by path. A host of another phase has none,
// nor has one that boots from its disk.
func Scripts(n Network) []asset.File {
	files := []asset.File{file(path.Join(n.Paths.HTTP, bootScript), bootText)}
	for _, dir := range n.programDirs() {
		files = append(files, file(path.Join(dir, autoexec), autoexecText))
	}
	for _, r := range n.Reservations {
		if r.Local {
			continue
		}
		name := path.Join(n.Paths.HTTP, hostScripts, hyphens(r.MAC)+".ipxe")
		files = append(files, file(name, HostScript(r)))
	}
	slices.SortFunc(files, byPath)
	return files
}

func file(p string, contents []byte) asset.File {
	return asset.File{Path: p, Mode: 0o644, Contents: contents, By: by}
}

func byPath(a, b asset.File) int { return strings.Compare(a.Path, b.Path) }

// hyphens is an address as iPXE's ${mac:hexhyp} writes it.
func hyphens(m mac.MAC) string { return strings.ReplaceAll(m.String(), ":", "-") }
