package matrix

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// class is what the Machine Config Operator makes of a config that it does not like.
type class string

// The classes. Each of our files and units is held against all of them.
const (
	// unparsable: no config of a pool can be rendered with it. The pool is degraded, and no node of
	// it gets any change any more.
	unparsable class = "unparsable"
	// forbidden: the daemon on the node refuses it. The node is degraded.
	forbidden class = "forbidden"
	// redundant: a field of MachineConfig is for that, and means something else.
	redundant class = "redundant"
	// immutable: it works at a node's first boot, and a later change of it degrades the node.
	immutable class = "immutable"
	// tripwire: what the daemon knows of a section may change, but not beside what it does not know
	// there.
	tripwire class = "tripwire"
	// unwritable: the operating system's own part of the disk, which only an image of the system
	// changes.
	unwritable class = "unwritable"
)

// refusal is one rule, with something that breaks it.
type refusal struct {
	class class
	what  string
	finds func(types.Config) bool
	spoil func(*types.Config)
}

func anyFile(is func(types.File) bool) func(types.Config) bool {
	return func(c types.Config) bool { return slices.ContainsFunc(c.Storage.Files, is) }
}

func word(s string) *string { return &s }

func refusals() []refusal {
	return []refusal{
		{unparsable, "what Ignition's own validation remarks on", remarked, func(c *types.Config) { c.Systemd.Units[0].Name = "no-type" }},
		{unparsable, "a relative path", remarked, func(c *types.Config) { c.Storage.Files[0].Path = "etc/x" }},
		{unparsable, "a path twice", remarked, func(c *types.Config) { c.Storage.Files = append(c.Storage.Files, c.Storage.Files[0]) }},
		{unparsable, "a mode with more than permissions", anyFile(func(f types.File) bool { return f.Mode != nil && *f.Mode&^0o777 != 0 }),
			func(c *types.Config) { mode := 0o4755; c.Storage.Files[0].Mode = &mode }},
		{unparsable, "a file system without a format", func(c types.Config) bool {
			return slices.ContainsFunc(c.Storage.Filesystems, func(f types.Filesystem) bool { return f.Format != nil && *f.Format == "none" })
		}, func(c *types.Config) {
			c.Storage.Filesystems = []types.Filesystem{{Device: "/dev/vda", Format: word("none")}}
		}},
		{forbidden, "text that is added to a file", anyFile(func(f types.File) bool { return len(f.Append) > 0 }),
			func(c *types.Config) { c.Storage.Files[0].Append = []types.Resource{{Source: word("data:,x")}} }},
		{forbidden, "contents that are elsewhere", anyFile(func(f types.File) bool {
			return f.Contents.Source == nil || !strings.HasPrefix(*f.Contents.Source, "data:")
		}), func(c *types.Config) { c.Storage.Files[0].Contents.Source = word("https://example.com/x") }},
		{forbidden, "the daemon's own switch", anyFile(func(f types.File) bool { return f.Path == "/run/machine-config-daemon-force" }),
			func(c *types.Config) { c.Storage.Files[0].Path = "/run/machine-config-daemon-force" }},
		{redundant, "a config beside this one", func(c types.Config) bool {
			return len(c.Ignition.Config.Merge) > 0 || c.Ignition.Config.Replace.Source != nil
		}, func(c *types.Config) { c.Ignition.Config.Replace.Source = word("data:,{}") }},
		{immutable, "disks, arrays, file systems, encryption", func(c types.Config) bool {
			return len(c.Storage.Disks)+len(c.Storage.Raid)+len(c.Storage.Filesystems)+len(c.Storage.Luks) > 0
		}, func(c *types.Config) { c.Storage.Disks = []types.Disk{{Device: "/dev/vda"}} }},
		{immutable, "directories", func(c types.Config) bool { return len(c.Storage.Directories) > 0 },
			func(c *types.Config) { c.Storage.Directories = []types.Directory{{Node: types.Node{Path: "/etc/x"}}} }},
		{immutable, "links", func(c types.Config) bool { return len(c.Storage.Links) > 0 },
			func(c *types.Config) {
				c.Storage.Links = []types.Link{{Node: types.Node{Path: "/etc/x"}, LinkEmbedded1: types.LinkEmbedded1{Target: "y"}}}
			}},
		{immutable, "groups of users", func(c types.Config) bool { return len(c.Passwd.Groups) > 0 },
			func(c *types.Config) { c.Passwd.Groups = []types.PasswdGroup{{Name: "x"}} }},
		{tripwire, "users", func(c types.Config) bool { return len(c.Passwd.Users) > 0 },
			func(c *types.Config) { c.Passwd.Users = []types.PasswdUser{{Name: "onprem"}} }},
		{unwritable, "a file of the operating system", anyFile(func(f types.File) bool {
			writable := func(dir string) bool { return strings.HasPrefix(f.Path, dir) }
			return !slices.ContainsFunc([]string{"/etc/", "/var/", "/usr/local/"}, writable)
		}), func(c *types.Config) { c.Storage.Files[0].Path = "/usr/bin/onprem-infra" }},
	}
}

// remarked says whether Ignition's own validation has as much as a remark on a config.
func remarked(c types.Config) bool {
	text, err := json.Marshal(c)
	if err != nil {
		return true
	}
	_, report, err := v3_2.Parse(text)
	return err != nil || len(report.Entries) > 0
}

// TestRefused holds each config that the operator makes of our templates, and each that we make
// ourselves, against each class. That a rule can say no is shown by a config which breaks it.
func TestRefused(t *testing.T) {
	o, err := newOperator(tree(t, spec.Cluster{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells() {
		if !c.plain() && c.topology.name != "arbiter" {
			continue
		}
		described, _ := c.described(t)
		p := compiled(t, described)
		for _, r := range p.Roles() {
			if r == role.Bootstrap {
				continue
			}
			theirs, err := o.render(c.controllerConfig(), string(r))
			if err != nil {
				t.Fatal(err)
			}
			document, err := ignition.Encode(goods(t, p, r))
			if err != nil {
				t.Fatal(err)
			}
			ours, _, err := v3_2.Parse(document)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range refusals() {
				if rule.finds(theirs) || rule.finds(ours) {
					t.Errorf("%s, %s: %s: %s", c, r, rule.class, rule.what)
				}
			}
		}
	}
	for _, rule := range refusals() {
		bad, err := o.render(cells()[0].controllerConfig(), "master")
		if err != nil {
			t.Fatal(err)
		}
		if rule.spoil(&bad); !rule.finds(bad) {
			t.Errorf("%s: %s: is not found", rule.class, rule.what)
		}
	}
}
