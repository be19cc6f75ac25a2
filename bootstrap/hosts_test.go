package bootstrap

import (
	"errors"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// withHosts has two control plane hosts and a worker, each with a BMC.
const withHosts = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 3}
compute: [{name: worker, replicas: 1}]
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      rootDeviceHints: {serialNumber: A1}
      bmc: {address: 'redfish://bmc-0/redfish/v1/Systems/1', username: admin, password: p4ss-m0}
      networkConfig: {interfaces: [{name: eno1, mac-address: '52:54:00:00:00:01'}]}
    - name: m1
      role: master
      bootMACAddress: 52:54:00:00:00:02
      bmc: {address: 'redfish://bmc-1/redfish/v1/Systems/1', username: admin, password: p4ss-m1}
    - name: w0
      role: worker
      bootMACAddress: 52:54:00:00:00:03
      bmc: {address: 'ipmi://bmc-2', username: admin, password: p4ss-w0}
pullSecret: x
`

const osFile = "https://mirror.example.com/os.raw@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0"

// provisioning are the images by which the machine provisions hosts.
func provisioning() map[string]string {
	images := served().Images
	images[spec.IronicImage], images[spec.IronicAgentImage] = "i", "a"
	images[spec.OSImage] = osFile
	return images
}

// described is the cluster of a text with images, and its plan.
func described(t *testing.T, text string, images map[string]string) (spec.Cluster, plan.Plan) {
	t.Helper()
	c, findings := spec.Parse("install-config.yaml", []byte(text), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	c.Images = images
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, p
}

// options are right ones for the hosts of a cluster.
func options(c spec.Cluster) Options {
	return Options{Hosts: c.Hosts, CA: "PEM", Ignition: map[string][]byte{
		"master": []byte("{of masters}"), "m1": []byte("{of m1}")}}
}

// fiveUnits are those of provisioning.
var fiveUnits = []string{"onprem-dnsmasq.service", "onprem-httpd.service", "onprem-ironic.service", "onprem-provision.service",
	"onprem-provisioning-interface.service"}

// TestAssetsWith_Provisions holds which files a machine that provisions hosts has beside others, and
// what stands in the one with secrets: the hosts of the bootstrap phase, and no worker.
func TestAssetsWith_Provisions(t *testing.T) {
	c, p := described(t, withHosts, provisioning())
	set, err := AssetsWith(p, options(c))
	if err != nil {
		t.Fatal(err)
	}
	_, without := described(t, withHosts, served().Images)
	plain, err := Assets(without)
	if err != nil {
		t.Fatal(err)
	}
	var more []string
	for _, path := range set.Paths() {
		if !slices.Contains(plain.Paths(), path) {
			more = append(more, path)
		}
	}
	want := []string{layout.Hosts}
	for _, unit := range fiveUnits {
		want = append(want, asset.UnitDir+"/"+unit)
	}
	if !slices.Equal(more, want) {
		t.Errorf("it has %v more, want %v", more, want)
	}
	p.Images = maps.Clone(p.Images)
	if listed, err := Paths(p); err != nil || !slices.Equal(listed, set.Paths()) {
		t.Errorf("Paths lists %v (%v), AssetsWith has %v", listed, err, set.Paths())
	}
	for _, f := range set.Files() {
		secret := strings.Contains(string(f.Contents), "p4ss") || strings.Contains(string(f.Contents), "{of m")
		if secret != (f.Path == layout.Hosts) || secret != (f.Mode == 0o600) {
			t.Errorf("%s with mode %v: it has a secret: %v", f.Path, f.Mode, secret)
		}
		if f.Path != layout.Hosts {
			continue
		}
		file, err := hostfile.Decode(f.Contents)
		if err != nil || len(file.Hosts) != 2 || file.CA != "PEM" {
			t.Fatalf("%+v, %v", file, err)
		}
		one, two := file.Hosts[0], file.Hosts[1]
		if one.Name != "m0" || one.Username.Reveal() != "admin" || one.Password.Reveal() != "p4ss-m0" || one.Ignition.Reveal() != "{of masters}" ||
			one.RootDisk.SerialNumber != "A1" {
			t.Errorf("%+v is not what was described", one)
		}
		if two.Name != "m1" || two.Ignition.Reveal() != "{of m1}" {
			t.Errorf("%s got %s, want the document of its name", two.Name, two.Ignition.Reveal())
		}
	}
}

// TestAssetsWith_Refuses holds that all that is missing or too much is named at once.
func TestAssetsWith_Refuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		images func(map[string]string)
		change func(*Options)
		want   []string
		not    string
	}{
		{"nothing but Ironic", func(i map[string]string) { clear(i); i[spec.IronicImage] = "i" }, func(o *Options) { *o = Options{} },
			[]string{"images.keepalivedImage, images.corednsImage, images.ironicAgentImage, images.osImage", "in place of images.ironicAgentImage the files",
				"no Ignition document is given for m0 (master), m1 (master)", "the description of these hosts is missing: m0, m1"}, "w0"},
		{"one file of the ramdisk", func(i map[string]string) { delete(i, spec.IronicAgentImage); i[spec.IronicAgentKernel] = osFile }, nil,
			[]string{"needs images.ironicAgentInitramfs: give it"}, "images.ironicAgentImage"},
		{"both files of the ramdisk", func(i map[string]string) {
			delete(i, spec.IronicAgentImage)
			i[spec.IronicAgentKernel], i[spec.IronicAgentInitramfs] = osFile, osFile
		}, nil, nil, ""},
		{"the document of one host alone", nil, func(o *Options) { delete(o.Ignition, "master") }, []string{"no Ignition document is given for m0 (master): give"}, "m1 "},
		{"a document of a worker", nil, func(o *Options) { o.Ignition["w0"] = []byte("x") }, []string{"an Ignition document is given for w0: name a host"}, ""},
		{"no account", nil, func(o *Options) {
			o.Hosts = slices.Clone(o.Hosts)
			o.Hosts[0].BMC = spec.Host{}.BMC
		}, []string{"the account of the BMC is missing for m0: have"}, "m1"},
		{"an account that was not read", nil, func(o *Options) {
			o.Hosts = slices.Clone(o.Hosts)
			o.Hosts[1].BMC = spec.Host{}.BMC
			o.Hosts[1].BMC.Credentials = "bmc.yaml"
		}, []string{"the account of the BMC is missing for m1: have"}, "m0"},
		{"a BMC known by a digest", nil, nil, []string{"(pin:) for m1: Ironic verifies by authorities"}, "m0"},
		{"a medium for legacy firmware", nil, nil, []string{"is not made for m0: choose the boot mode UEFI"}, "m1"},
		{"HTTP without a DHCP server", nil, nil, []string{"names the boot program, for m0: write a provisioning network"}, "m1"},
		{"HTTP", nil, nil, nil, ""},
		{"documents without Ironic", func(i map[string]string) { delete(i, spec.IronicImage) }, nil, []string{"needs images.ironicImage: give it"}, ""},
		{"an account that was read", nil, func(o *Options) {
			o.Hosts = slices.Clone(o.Hosts)
			o.Hosts[1].BMC.Credentials, o.Hosts[1].BMC.Password = "bmc.yaml", spec.NewSecret("p4ss")
		}, nil, ""},
		{"a file that is there", nil, func(o *Options) { *o = Options{File: []byte("kept")} }, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			images := provisioning()
			if tt.images != nil {
				tt.images(images)
			}
			c, p := described(t, withHosts, images)
			for i := range p.Provisioning.Hosts {
				switch h := &p.Provisioning.Hosts[i]; {
				case tt.name == "a BMC known by a digest" && h.Name != "m0":
					h.Verify = "pin:" + strings.Repeat("ab", 32)
				case tt.name == "a medium for legacy firmware" && h.Name != "m1":
					h.Boot, h.BootMode = provision.VirtualMedia, "legacy"
				}
			}
			switch tt.name {
			case "HTTP without a DHCP server":
				p.Provisioning.CIDR = netip.Prefix{}
				fallthrough
			case "HTTP":
				p.Provisioning.Hosts[0].Boot = provision.UEFIHTTP
			}
			o := options(c)
			if tt.change != nil {
				tt.change(&o)
			}
			set, err := AssetsWith(p, o)
			if (err == nil) != (tt.want == nil) || (err == nil) != (len(set.Tree()) > 0) {
				t.Fatalf("%d files, %v", len(set.Tree()), err)
			}
			if err == nil {
				return
			}
			if strings.Contains(err.Error(), "p4ss") || tt.not != "" && strings.Contains(err.Error(), tt.not) {
				t.Errorf("%v: it has %q, or a password", err, tt.not)
			}
			if !errors.As(err, new(plan.MissingImages)) && !errors.As(err, new(WrongHosts)) {
				t.Errorf("%v is of no type that a caller can tell", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: it lacks %q", err, want)
				}
			}
		})
	}
}

// TestAssets_WithoutIronic holds that nothing of provisioning is there without an image that has
// Ironic, or without a host of the bootstrap phase.
func TestAssets_WithoutIronic(t *testing.T) {
	worker := withHosts[:strings.Index(withHosts, "    - name: m0")] + withHosts[strings.Index(withHosts, "    - name: w0"):]
	for name, tt := range map[string]struct {
		text   string
		images map[string]string
	}{"no Ironic": {withHosts, served().Images}, "workers alone": {worker, provisioning()}} {
		_, p := described(t, tt.text, tt.images)
		set, err := Assets(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, path := range set.Paths() {
			if path == layout.Hosts || slices.ContainsFunc(fiveUnits, func(u string) bool { return strings.HasSuffix(path, "/"+u) }) {
				t.Errorf("%s: %s is there", name, path)
			}
		}
	}
	_, p := described(t, worker, provisioning())
	_, err := AssetsWith(p, Options{Ignition: map[string][]byte{"m0": []byte("x")}})
	if wrong := (WrongHosts{}); !errors.As(err, &wrong) || !slices.Equal(wrong.Unknown, []string{"m0"}) {
		t.Errorf("a document for no host: %v", err)
	}
}

// TestAssetsWith_Equal holds that equal options give equal bytes, and that the caller's are as they
// were.
func TestAssetsWith_Equal(t *testing.T) {
	c, p := described(t, withHosts, provisioning())
	o := options(c)
	one, err1 := AssetsWith(p, o)
	two, err2 := AssetsWith(p, o)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(one.Tree(), two.Tree()) {
		t.Errorf("%v %v, or the trees differ", err1, err2)
	}
	if string(o.Ignition["m1"]) != "{of m1}" || len(o.Ignition) != 2 || len(o.Hosts) != 3 {
		t.Errorf("the options changed: %+v", o)
	}
}
