package bootstrap

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// served is a cluster with all images.
func served() spec.Cluster {
	return spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{
			spec.KeepalivedImage: "k", spec.CoreDNSImage: "c", spec.RuntimeCfgImage: "o",
		},
	}
}

// cluster is a plan of served, changed by change.
func cluster(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := served()
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAssets(t *testing.T) {
	const (
		keepalived = "/etc/systemd/system/onprem-keepalived.service"
		coredns    = "/etc/systemd/system/onprem-coredns.service"
		install    = "/etc/systemd/system/onprem-install.service"
		hookFile   = "/etc/NetworkManager/dispatcher.d/30-local-dns-prepender"
	)
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
		not    []string
	}{
		{"managed", func(
			*spec.Cluster,
		) {
		}, []string{plan.Path, keepalived, coredns, install, hookFile}, nil},
		{"a balancer of the user's", func(c *spec.Cluster) {
			c.LoadBalancer = spec.UserManaged
		}, []string{plan.Path, coredns, install, hookFile}, []string{keepalived}},
		{"no VIP", func(c *spec.Cluster) {
			c.Platform, c.APIVIPs, c.IngressVIPs, c.Images = spec.Nutanix, nil, nil, nil
		},
			[]string{plan.Path}, []string{
				keepalived, coredns, install, hookFile,
				"/etc/NetworkManager/conf.d/99-onprem-infra.conf",
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := cluster(t, tt.change)
			set, err := Assets(p)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, f := range set.Tree() {
				paths = append(paths, f.Path)
			}
			for _, path := range tt.want {
				if !slices.Contains(paths, path) {
					t.Errorf("%s is missing in %v", path, paths)
				}
			}
			for _, path := range tt.not {
				if slices.Contains(paths, path) {
					t.Errorf("%s should not be there", path)
				}
			}
			p.Images = nil
			if listed, err := Paths(p); err != nil || !slices.Equal(listed, paths) {
				t.Errorf("Paths lists %v (%v), Assets has %v", listed, err, paths)
			}
		})
	}
}

// TestAssetsEqual holds that equal plans give equal bytes.
func TestAssetsEqual(t *testing.T) {
	one, err1 := Assets(cluster(t, func(*spec.Cluster) {}))
	two, err2 := Assets(cluster(t, func(*spec.Cluster) {}))
	if err1 != nil || err2 != nil || !reflect.DeepEqual(one.Tree(), two.Tree()) {
		t.Errorf("%v %v, or the trees differ", err1, err2)
	}
}

func TestMissingImages(t *testing.T) {
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		want   string
	}{
		{"one", func(c *spec.Cluster) { delete(c.Images, spec.KeepalivedImage) },
			"the bootstrap needs images.keepalivedImage: give it by --images FILE, or in a cluster.yaml by spec.images"},
		{"all", func(c *spec.Cluster) { c.Images = nil },
			"the bootstrap needs images.baremetalRuntimeCfgImage, images.keepalivedImage, images.corednsImage: give them by --images FILE, or in a cluster.yaml by spec.images"},
		{"only of what runs", func(c *spec.Cluster) {
			c.Images, c.LoadBalancer = nil, spec.UserManaged
		},
			"the bootstrap needs images.baremetalRuntimeCfgImage, images.corednsImage: give them by --images FILE, or in a cluster.yaml by spec.images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Assets(cluster(t, tt.change))
			if missing := (plan.MissingImages{}); !errors.As(err, &missing) ||
				err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
			if len(set.Tree()) > 0 {
				t.Error("got assets beside the error")
			}
		})
	}
}

// TestNetworkManager holds what keeps the machine's name and its addresses what they are: the VIP's
// PTR record names the API, and a machine that takes that name cannot reach the API any more
// (K-43).
func TestNetworkManager(t *testing.T) {
	set, err := Assets(cluster(t, func(*spec.Cluster) {}))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Files() {
		switch f.Path {
		case "/etc/NetworkManager/conf.d/99-onprem-infra.conf":
			for _, want := range []string{
				"[main]\nrc-manager=unmanaged\n", "\nhostname-mode=dhcp\n",
				"[connection]\nipv6.dhcp-duid=ll\nipv6.dhcp-iaid=mac\n",
			} {
				if !bytes.Contains(f.Contents, []byte(want)) {
					t.Errorf("%s lacks %q", f.Path, want)
				}
			}
		case "/etc/systemd/resolved.conf.d/60-onprem-infra.conf":
			if want := "[Resolve]\nDNS=127.0.0.1\nDomains=~api.prod.example.com ~api-int.prod.example.com ~apps.prod.example.com\nDNSStubListener=no\n"; string(f.Contents) != want {
				t.Errorf("%s is\n%s", f.Path, f.Contents)
			}
		}
	}
}
