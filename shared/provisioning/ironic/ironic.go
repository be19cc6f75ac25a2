// Package ironic renders what Ironic reads, of the bootstrap machine or of the cluster: its
// configuration, the iPXE script that it makes for each host, and the files by which a ramdisk
// knows its certificate.
package ironic

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Boot is how a host gets its ramdisk.
type Boot string

// The ways.
const (
	PXE          Boot = "PXE"
	UEFIHTTP     Boot = "UEFI HTTP"
	VirtualMedia Boot = "virtual media"
)

// Host is what Ironic must be able to do for a host.
type Host struct {
	Driver string // the scheme of its BMC's address
	Boot   Boot
	// Adopted means that it is installed already: Ironic switches it, and boots it by nothing.
	Adopted bool
}

// Times are how long Ironic waits.
type Times struct {
	CallBack  time.Duration // for a ramdisk, at each step
	Retry     time.Duration // until it boots a host again whose ramdisk has not reported
	Heartbeat time.Duration // a ramdisk reports at least so often
}

// Settings are what one Ironic serves, and where.
type Settings struct {
	API   netip.AddrPort // where ramdisks report, by TLS
	Bound bool           // it listens at the address of API alone, which the machine has
	HTTP  netip.AddrPort // the HTTP server of the document root, as hosts reach it
	Media netip.AddrPort // the same by TLS, as BMCs reach it; not valid if no host boots that way
	GRUB  string         // GRUBConfig of the boot loader of Media
	Hosts []Host
	Times Times
	Paths Paths
	// Operator means that metal3's operator orders what this Ironic does, and not the bootstrap
	// machine. It chooses interfaces for each host, and hosts are cleaned between two uses.
	Operator bool
	// Six means that programs reach Ironic over IPv6 too, where it is not Bound.
	Six bool
}

// Paths are where Ironic finds its files. It writes below State, HTTP and TFTP only, which must be
// one file system, as it links between them.
type Paths struct {
	State, HTTP, TFTP, Images  string
	Data                       string // has the database; empty for State
	Certificate, Key, Htpasswd string
	Template, Script           string // of iPXE
}

// Machine are the paths on a bootstrap machine, and in the cluster's containers.
func Machine() Paths {
	return Paths{
		State: layout.Ironic, HTTP: layout.HTTP, TFTP: layout.TFTP, Images: layout.Images,
		Certificate: layout.Certificate, Key: layout.Key, Htpasswd: layout.Htpasswd,
		Template: layout.Run + "/ironic/ipxe.template", Script: layout.Run + "/ironic/ironic.ipxe",
	}
}

// Database is Ironic's database.
func (p Paths) Database() string { return cmp.Or(p.Data, p.State) + "/ironic.sqlite" }

// TrustFile is the name of what TrustArchive makes, below Paths.Images.
const TrustFile = "ironic-trust.img"

// stop is how long Ironic may take to end.
const stop = 5 * time.Second

// attempts is how often a host fetches its ramdisk before it switches itself off. Ironic boots it
// again then, and in any case after Times.Retry.
const attempts = 5

// carrier has a ramdisk wait for a switch port that listens to spanning tree first.
const carrier = "rd.net.timeout.carrier=30"

// quiet are the arguments of Ironic's own default: a screen that any BMC shows.
const quiet = "nofb vga=normal"

var (
	//go:embed ironic.conf.tmpl
	confText string
	//go:embed ipxe.tmpl
	ipxeText string
	//go:embed ironic.ipxe
	scriptText []byte
	// startText is a shell's program of which the arguments are the configuration, the database,
	// and the directory of what Ironic writes.
	//go:embed start.sh
	startText string
)

var templates = sync.OnceValue(func() *template.Template {
	all := template.New("").Funcs(template.FuncMap{
		"list":    func(words []string) string { return strings.Join(words, ",") },
		"seconds": func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) },
	})
	template.Must(all.New("conf").Parse(confText))
	// What Ironic renders itself stands in the braces of its own templates.
	template.Must(all.New("ipxe").Delims("<<", ">>").Parse(ipxeText))
	return all
})

// page is what the templates are executed with.
type page struct {
	Settings
	interfaces
	Listen, URL, Kernel string
	Loader              string
	IPv6                bool
	Stop                time.Duration
}

// Config is ironic.conf for settings of which Validate has no findings. Equal settings give equal
// bytes. It has no secrets.
//
// What the text relies on, of Ironic 29 to 38:
//   - API and conductor are one process, without a message bus. Its name must stay: at its start a
//     conductor releases the locks that it held under its name.
//   - The API listens at one address, or at all of them: it has one option for it. Where hosts
//     reach it at a VIP, which may come later, it listens at all, and programs ask it at the
//     loopback.
//   - Without debug no options are logged, and with its server's level no requests: this machine's
//     programs make some ten a second. Tarballs of a ramdisk's logs may have an Ignition document
//     in them: they are kept on this machine, of failed hosts only.
//   - metal3's operator chooses how a host is written: an image of a disk, its own steps, or a
//     system in memory. It may set up RAID. What it names and Ironic has not loaded fails the host.
//   - It never switches a host on or off because its power differs from what was recorded.
//   - The boot script that it writes into the document root at each start has another name than
//     ours.
//   - The bootstrap machine cleans no host by itself: that erases the signatures of all its disks,
//     also of those with data. metal3's operator asks for it with each host that it gives up or
//     takes in, unless its automatedCleaningMode is "disabled". Whole disks are never overwritten.
//   - The ramdisk's argument for its network is not here but in each node: some take one only.
//   - A ramdisk gets the certificate, and refuses any other server: by iPXE in an archive beside
//     it, by virtual media in files that Ironic puts there.
func Config(s Settings) []byte {
	p := page{Settings: s, interfaces: interfacesOf(s), Listen: "0.0.0.0",
		URL: "https://" + s.API.String(), Loader: path.Base(layout.Loader),
		IPv6: s.API.Addr().Is6(), Stop: stop,
		Kernel: strings.Join([]string{quiet, carrier, "ipa-insecure=0"}, " ")}
	switch {
	case s.Bound:
		p.Listen = s.API.Addr().String()
	case p.IPv6, s.Six:
		p.Listen = "::" // the kernel and Ironic's server take both families then
	}
	return execute("conf", p)
}

// Template is the template of the script by which iPXE loads a host's ramdisk. Ironic renders it
// for each host. With the ramdisk iPXE loads an archive that TrustArchive makes.
func Template(s Settings) []byte {
	return execute("ipxe", struct {
		Trust, URL string
		Attempts   int
	}{TrustFile, s.url(TrustFile), attempts})
}

// url is that of one of the images.
func (s Settings) url(image string) string {
	return "http://" + s.HTTP.String() + strings.TrimPrefix(s.Paths.Images, s.Paths.HTTP) + "/" +
		image
}

// Script is what Ironic writes into the document root at its start. No host loads it.
func Script() []byte { return slices.Clone(scriptText) }

// Command starts Ironic with a configuration, and makes or changes its database before. The first
// database appears whole or not at all; one that an earlier start has left half made is none.
func Command(config string, p Paths) []string {
	return []string{"/bin/sh", "-euc", startText, "ironic", config, p.Database(), p.State}
}

func execute(name string, data any) []byte {
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name, data); err != nil {
		// The templates print values and call nothing that fails: only a wrong one comes here.
		panic(fmt.Sprintf("render Ironic's %s: %v", name, err))
	}
	return out.Bytes()
}
