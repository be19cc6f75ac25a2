package hostile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/bootstrap/dns"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	corefiles "github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// host is what a machine tells: whatever is text there may hold anything.
type host struct {
	header string
	link   string // the interface with the machine's addresses
	node   string // a control plane node's name
	zone   string // of every address that can have one
	resolv string // a resolv.conf
}

var harmless = host{header: "Rendered by a test.", link: "eth0", node: "m0", resolv: "search a.example\nnameserver 198.51.100.1\nnameserver fe80::1%eth0\n"}

// refused is the error for input that no finding was made of, but that goes no further: nothing has
// been rendered.
var errRefused = errors.New("refused")

// rendered is the shape of everything that a cluster and a machine become. errRefused comes before
// the first file; any other error is a file that is not as it must be.
func rendered(c spec.Cluster, h host) ([]string, error) {
	p, err := plan.Compile(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	var shape []string
	for _, r := range p.Roles() {
		lines, err := goods(p, r)
		if err != nil {
			return nil, err
		}
		shape = append(append(shape, string(r)), lines...)
	}
	lines, err := daemons(p, h)
	return append(shape, lines...), err
}

// goods is the shape of what hosts of a role get.
func goods(p plan.Plan, r role.Role) ([]string, error) {
	assets := bootstrap.Assets
	if r != role.Bootstrap {
		assets = func(p plan.Plan) (asset.Set, error) { return cluster.Assets(p, r) }
	}
	set, err := assets(p)
	if missing := (plan.MissingImages{}); errors.As(err, &missing) {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	} else if err != nil {
		return nil, err
	}
	var shape []string
	for _, f := range set.Tree() {
		lines, err := contents(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		shape = append(shape, fmt.Sprintf("%s %o", f.Path, f.Mode))
		shape = append(shape, lines...)
	}
	return shape, unchanged(set)
}

// contents is the shape of a file of the set.
func contents(f asset.File) ([]string, error) {
	read := grammar(func(text []byte) ([]string, error) { return []string{string(text)}, nil }) // nothing varies
	switch {
	case f.Path == plan.Path:
		read = clusterJSON
	case strings.HasPrefix(f.Path, "/etc/kubernetes/") && path.Ext(f.Path) == ".yaml":
		read = podYAML
	case strings.HasPrefix(f.Path, asset.UnitDir+"/"):
		read = systemdUnit
	case path.Dir(f.Path) == "/etc/systemd/resolved.conf.d":
		read = settings
	}
	return read(f.Contents)
}

// unchanged holds that the Ignition document of a set has the set's files and units, to the byte,
// and nothing else.
func unchanged(set asset.Set) error {
	document, err := ignition.Encode(set)
	if err != nil {
		return err
	}
	config, report, err := v3_2.Parse(document)
	if err != nil || len(report.Entries) > 0 {
		return fmt.Errorf("Ignition reads its document with %v: %s", err, report.String())
	}
	files, units := set.Files(), set.Units()
	if len(config.Storage.Files) != len(files) || len(config.Systemd.Units) != len(units) {
		return fmt.Errorf("%d files and %d units became %d and %d", len(files), len(units), len(config.Storage.Files), len(config.Systemd.Units))
	}
	for i, f := range config.Storage.Files {
		data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(*f.Contents.Source, "data:;base64,"))
		if err != nil || f.Path != files[i].Path || !bytes.Equal(data, files[i].Contents) {
			return fmt.Errorf("file %s came back as %s (%v)", files[i].Path, f.Path, err)
		}
	}
	for i, u := range config.Systemd.Units {
		text := ""
		if u.Contents != nil {
			text = *u.Contents
		}
		if u.Name != units[i].Name || text != string(units[i].Contents) {
			return fmt.Errorf("unit %q came back as %q", units[i].Name, u.Name)
		}
	}
	return nil
}

// daemons is the shape of what the machine itself renders, and of the commands that it runs.
func daemons(p plan.Plan, h host) ([]string, error) {
	links := addr.Snapshot{Links: []addr.Link{{Index: 1, Name: h.link, Up: true, Addresses: []addr.Address{
		{Prefix: netip.MustParsePrefix("192.0.2.10/24")}, {Prefix: netip.MustParsePrefix("2001:db8:1::10/64")},
	}}}}
	node := addr.Candidate{Name: h.node, InternalIPs: []netip.Addr{
		netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("2001:db8:1::11").WithZone(h.zone),
	}}
	holds := vip.Snapshot{At: time.Unix(0, 0), Links: links, Nodes: []addr.Candidate{node}, Verdict: release.Verdict{Hold: true}}
	keepalivedWants, _ := vip.New(vip.Options{Plan: p, Header: h.header, Now: time.Now}).Decide(holds)
	coreDNSWants, _ := dns.New(dns.Options{Plan: p, Header: h.header}).Decide(dns.Snapshot{Links: links, Resolvers: []nameserver.Resolver{{Text: []byte(h.resolv)}}})
	for i, a := range coreDNSWants.Upstreams {
		if h.zone != "" && a.Is6() {
			coreDNSWants.Upstreams[i] = a.WithZone(h.zone)
		}
	}
	var shape []string
	for _, file := range []struct {
		name string
		read grammar
		text []byte
	}{
		{"keepalived.conf", keepalivedConf, keepalived.Render(keepalivedWants.Config)},
		{"Corefile", corefile, corefiles.Render(coreDNSWants)},
	} {
		lines, err := file.read(file.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w:\n%s", file.name, err, file.text)
		}
		shape = append(append(shape, file.name), lines...)
	}
	for _, c := range []struct {
		name    string
		image   string
		command []string
	}{
		{"keepalived", vip.Container(p).Image, vip.Container(p).Command},
		{"coredns", dns.Container(p).Image, dns.Container(p).Command},
	} {
		if strings.HasPrefix(c.image, "-") || strings.ContainsAny(c.image, " \t\n\x00") {
			return nil, fmt.Errorf("%s runs from the image %q", c.name, c.image)
		}
		shape = append(shape, fmt.Sprintln(c.name, len(c.command)))
	}
	return shape, nil
}
