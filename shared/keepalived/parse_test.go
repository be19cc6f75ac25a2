package keepalived

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestParse_InverseOfRender holds that what Render writes of each golden configuration reads as the
// same value.
func TestParse_InverseOfRender(t *testing.T) {
	for name, config := range goldens() {
		got, err := Parse(Render(config))
		if err != nil || !reflect.DeepEqual(got, config) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, config)
		}
	}
}

// TestParse_OtherRelease holds that what Render does not write is left out, and that keepalived's
// own values stand where a text has none.
func TestParse_OtherRelease(t *testing.T) {
	got, err := Parse([]byte(`! made elsewhere
global_defs {
    vrrp_garp_interval 0.5
}
vrrp_script chk {
    script "/bin/true"
}
virtual_server_group x {
    192.0.2.9 80
}
vrrp_instance one {
    interface ens3
    virtual_router_id 7
    nopreempt
    virtual_ipaddress {
        192.0.2.5/24 dev ens3
    }
    track_interface {
        ens4
    }
}
`))
	want := Config{Instances: []Instance{{
		Name: "one", Interface: "ens3", ID: 7, Version: vrrp.V2, Priority: 100,
		Advert: time.Second, VIP: addrs("192.0.2.5")[0], Device: "ens3", Bits: 24,
	}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

// TestParse_Refuses holds what no Config can hold, and that an error quotes no password.
func TestParse_Refuses(t *testing.T) {
	text := string(Render(goldens()["node"]))
	for _, tt := range []struct{ name, old, with, message string }{
		{"a block without an end", "    }\n}\n", "    }\n", "does not end"},
		{"an end without a block", "global_defs {", "}\nglobal_defs {", "has not begun"},
		{"no interface", "    interface enp1s0\n", "", `interface ""`},
		{"an ID that is none", "virtual_router_id 14", "virtual_router_id 300", `virtual_router_id "300"`},
		{"no ID", "    virtual_router_id 14\n", "", "router ID 0"},
		{"another version", "version 2", "version 1", "VRRP version 1"},
		{"a priority that is none", "priority 40", "priority -40", `priority "-40"`},
		{"an owner's priority", "priority 40", "priority 255", `priority "255"`},
		{"an interval that is none", "advert_int 1\n", "advert_int NaN\n", `"NaN" is no time`},
		{"no interval", "advert_int 1\n", "advert_int 0\n", "advert 0s"},
		{"a peer that is none", "        192.0.2.12", "        master-1", "master-1"},
		{"two VIPs", "/32 label vip\n", "/32 label vip\n        192.0.2.9/32\n", "has 2 VIPs"},
		{"a password of other characters", "auth_pass ostest_a", `auth_pass "sec`, "its password"},
		{"a relative path", "file /run/", "file run/", "a path is absolute"},
		{"an instance without a name", "vrrp_instance ostest_API_0 {", "vrrp_instance {", `instance ""`},
	} {
		bad := strings.Replace(text, tt.old, tt.with, 1)
		if bad == text {
			t.Fatalf("%s: the text has no %q", tt.name, tt.old)
		}
		c, err := Parse([]byte(bad))
		switch message := fmt.Sprint(err); {
		case err == nil || !strings.Contains(message, tt.message) || !reflect.DeepEqual(c, Config{}):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.message)
		case strings.Contains(message, `"sec`) || strings.Contains(message, "ostest_a"):
			t.Errorf("%s: the error quotes a password: %v", tt.name, err)
		}
	}
}

// TestValidate holds values that a Config can have and its text cannot, so that nothing which comes
// from a file becomes another statement.
func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"a name of two words":           func(c *Config) { c.Instances[0].Name = "a {\n}" },
		"a link of two lines":           func(c *Config) { c.Instances[0].Interface = "ens3\nno" },
		"a path of two words":           func(c *Config) { c.NotifyFIFO = "/run/x y" },
		"a password of two lines":       func(c *Config) { c.Instances[0].AuthPass = "a\nb" },
		"a track that is the release's": func(c *Config) { c.Tracks[0].Name = "leave" },
		"one among those of a group":    func(c *Config) { c.Groups[0].Tracks[0] = "leave" },
		"a group's member":              func(c *Config) { c.Groups[0].Members[0] = "}" },
		"grouped and in no group":       func(c *Config) { c.Groups = nil },
		"no VIP":                        func(c *Config) { c.Instances[0].VIP = Instance{}.VIP },
		"a peer without an address":     func(c *Config) { c.Instances[0].Peers[0] = Instance{}.VIP },
		"a weight of no use":            func(c *Config) { c.Tracks[0].Weight = 1000 },
		"a fraction of a refresh":       func(c *Config) { c.Instances[0].Refresh = time.Millisecond },
	} {
		c := grouped()
		if err := Validate(c); err != nil {
			t.Fatal(err)
		}
		if change(&c); Validate(c) == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
	c := master()
	c.Checks[0].Interval = 1500 * time.Millisecond
	if Validate(c) == nil {
		t.Error("a check with a fraction of an interval is accepted")
	}
}

// FuzzParse holds that whatever is read renders as a text that reads as the same.
func FuzzParse(f *testing.F) {
	for _, config := range goldens() {
		f.Add(Render(config))
	}
	f.Add([]byte("# x\n# y\nvrrp_instance a {\n virtual_ipaddress {\n ::5\n }\n}\n}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		rendered := Render(c)
		again, err := Parse(rendered)
		if err != nil || !bytes.Equal(Render(again), rendered) {
			t.Errorf("%v: %q makes\n%s\nand then\n%s", err, text, rendered, Render(again))
		}
	})
}

// TestTracked holds which files an instance's priority follows from, with a sync group and without.
func TestTracked(t *testing.T) {
	for _, config := range []Config{node(), grouped()} {
		for _, i := range config.Instances {
			var got []string
			for _, track := range config.Tracked(i) {
				got = append(got, string(track.Name))
			}
			want := "leave lb both mcs"
			if strings.Contains(string(i.Name), "INGRESS") {
				want = "leave default_ingress ingress_ready ingress"
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s follows %v, want %s", i.Name, got, want)
			}
		}
	}
	if got := master(); got.Tracked(got.Instances[0]) != nil {
		t.Error("an instance without tracked files follows some")
	}
	want := Track{Name: "leave", File: leave, Weight: -253}
	if got := node().Tracked(node().Instances[0])[0]; got != want {
		t.Errorf("a release is tracked as %+v", got)
	}
}
