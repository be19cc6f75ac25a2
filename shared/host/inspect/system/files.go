package system

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// rangeFiles configure DHCP servers of this host: dnsmasq's own, libvirt's, and ISC's.
var rangeFiles = []string{
	"/etc/dnsmasq.conf", "/etc/dnsmasq.d/*", "/var/lib/libvirt/dnsmasq/*.conf",
	"/etc/dhcp/dhcpd.conf",
}

// Ranges are those of this host's DHCP servers. Those of other hosts are not known.
func (i Inspector) Ranges() (out []facts.Range) {
	for _, pattern := range rangeFiles {
		files, _ := filepath.Glob(i.Files.Path(pattern)) // the patterns are well formed
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				out = append(out, rangesIn(text, strings.TrimPrefix(file, i.Files.Root))...)
			}
		}
	}
	if len(out) == 0 && !i.Live {
		i.Unseen.Add("DHCP ranges",
			errors.New("no DHCP server of this host has any, and those of others are not known"))
	}
	return out
}

// rangesIn reads lines such as `dhcp-range=192.0.2.100,192.0.2.200,12h` and `range 192.0.2.100
// 192.0.2.200;`.
func rangesIn(text []byte, source string) (out []facts.Range) {
	keys := []string{"dhcp-range", "range", "range6"}
	separator := func(r rune) bool { return strings.ContainsRune(" =,;\t\r\n", r) }
	for line := range strings.Lines(string(text)) {
		words := strings.FieldsFunc(line, separator)
		if len(words) == 0 || !slices.Contains(keys, words[0]) {
			continue
		}
		var ends []netip.Addr
		for _, word := range words[1:] {
			if a, err := netip.ParseAddr(word); err == nil {
				ends = append(ends, a)
			}
		}
		if len(ends) >= 2 {
			out = append(out, facts.Range{First: ends[0], Last: ends[1], Source: source})
		}
	}
	return out
}

// Credentials are those of the node's kubelet. A host that has not joined yet has none, and a
// bootstrap machine uses an administrator's.
func (i Inspector) Credentials() *facts.Credentials {
	if i.Role == role.Bootstrap {
		return nil
	}
	path := i.Files.Path(i.Plan.Kubeconfig)
	is, err := os.Stat(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			i.Unseen.Add("kubelet's kubeconfig", err)
		}
		return nil
	}
	c := &facts.Credentials{
		Kubeconfig: i.Plan.Kubeconfig, Directory: is.IsDir(),
		Mounted: cluster.CertificateDirectories(i.Plan),
	}
	if c.Directory {
		return c
	}
	files, err := kubeconfig.Files(path)
	i.Unseen.Add("the files that kubelet's kubeconfig names", err)
	for _, file := range files {
		for _, step := range i.linked(file) {
			if step != c.Kubeconfig && !cluster.Sees(i.Plan, step) &&
				!slices.Contains(c.Outside, step) {
				c.Outside = append(c.Outside, step)
			}
		}
	}
	return c
}

// maxLinks is how many links the kernel follows.
const maxLinks = 40

// linked are a path, and the paths that it leads to as a link, such as that of kubelet's current
// certificate. A container needs all of them.
func (i Inspector) linked(path string) []string {
	steps := []string{path}
	for range maxLinks {
		target, err := os.Readlink(i.Files.Path(path))
		if err != nil {
			break // it is no link, or it is not there
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
		steps = append(steps, path)
	}
	return steps
}
