package openshift

import (
	"slices"
	"strings"
	"testing"
)

var platforms = []string{"baremetal", "nutanix", "openstack", "ovirt", "vsphere"}

// TestNodes holds that each platform's units have an order by themselves, in each way that is left.
func TestNodes(t *testing.T) {
	for _, platform := range platforms {
		ways := Nodes(platform)
		if want := map[bool]int{true: 8, false: 4}[platform == "vsphere"]; len(ways) != want {
			t.Errorf("%s: %d ways, want %d", platform, len(ways), want)
		}
		for _, way := range ways {
			if cycle := Cycle(way); cycle != nil {
				t.Errorf("%s: %v", platform, cycle)
			}
		}
	}
}

// TestCycle holds that a cycle is found, also through what no unit states: a target waits for what
// it wants.
func TestCycle(t *testing.T) {
	network := Unit{Name: "network.service", Before: "network-online.target"}
	for name, tt := range map[string]struct {
		units []Unit
		want  string
	}{
		"none": {units: []Unit{network, {Name: "a.service", After: online}}},
		"written": {
			units: []Unit{network, {Name: "a.service", After: online, Before: "network.service"}},
			want:  "a.service network-online.target network.service",
		},
		"wanted": {
			units: []Unit{
				{Name: "a.service", After: "b.service"}, {Name: "b.service", After: "x.target"},
				{Name: "x.target", Wants: "a.service"},
			},
			want: "a.service b.service x.target",
		},
		"enabled": {
			units: []Unit{{Name: "a.service", After: "x.target", RequiredBy: "x.target"}},
			want:  "a.service x.target",
		},
		"enabled by a service": {
			units: []Unit{{Name: "a.service", After: "b.service", RequiredBy: "b.service"}},
		},
		"a path": {
			units: []Unit{{Name: "a.path", After: multiUser}},
			want:  "a.path basic.target multi-user.target paths.target",
		},
		"itself": {units: []Unit{{Name: "a.service", After: "a.service"}}, want: "a.service"},
	} {
		got := Cycle(tt.units)
		if len(got) > 0 {
			got = got[1:] // it ends where it began
			slices.Sort(got)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestFacts holds that no dependency is misspelt: each name in the table is a unit of the table or
// one that systemd brings.
func TestFacts(t *testing.T) {
	known := map[string]bool{}
	for _, u := range Facts() {
		known[u.Name] = true
	}
	for _, brought := range strings.Fields(`basic.target default.target multi-user.target network.target
		network-online.target network-pre.target nss-lookup.target remote-fs.target local-fs.target syslog.target
		time-sync.target dbus.service ovsdb-server.socket systemd-tmpfiles-setup.service
		systemd-udev-settle.service network.service`) {
		known[brought] = true
	}
	for _, u := range Facts() {
		lists := []string{
			u.After, u.Before, u.Wants, u.Requires, u.PartOf, u.WantedBy, u.RequiredBy,
		}
		for _, name := range strings.Fields(strings.Join(lists, " ")) {
			if !known[name] {
				t.Errorf("%s names %s, which nobody knows", u.Name, name)
			}
		}
	}
}
