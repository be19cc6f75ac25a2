package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// hook is NetworkManager's hook in a root directory of its own, with the only programs that it may
// call: nothing there reaches the network, pulls an image or talks to systemd.
type hook struct {
	t         *testing.T
	root, bin string
}

func newHook(t *testing.T) hook {
	t.Helper()
	h := hook{t: t, root: t.TempDir(), bin: t.TempDir()}
	for _, p := range []string{"mkdir", "mv", "rm"} {
		if err := os.Symlink(need.Command(t, p), filepath.Join(h.bin, p)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// run tells the hook of an event; set are variables of NetworkManager's.
func (h hook) run(link, event string, set ...string) {
	h.t.Helper()
	h.script("files/30-resolv-prepender", link, event, set...)
}

func (h hook) script(file, link, event string, set ...string) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "/bin/sh", file, link, event)
	cmd.Env = append([]string{"PATH=" + h.bin, "ONPREM_INFRA_ROOT=" + h.root}, set...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		h.t.Fatalf("%s %s: %v, said %q", link, event, err, out)
	}
}

// files are what the hook has written, with their texts.
func (h hook) files() string {
	h.t.Helper()
	var all []string
	if err := filepath.WalkDir(h.root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(
			all, strings.TrimPrefix(path, h.root)+"="+strings.ReplaceAll(string(text), "\n", ";"),
		)
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestHook(t *testing.T) {
	const dir = "/run/resolv-prepender/"
	type event struct {
		link, event string
		set         []string
	}
	for _, tt := range []struct {
		name   string
		events []event
		want   string
	}{
		{"what does not concern it", []event{{"eth0", "down", nil}, {"", "hostname", nil}, {
			"eth0", "", nil,
		}}, ""},
		{"an interface is up", []event{{
			"eth0", "up", []string{"IP4_DOMAINS=lan a.example"},
		}}, dir + "env=IP4_DOMAINS=lan a.example;IP6_DOMAINS=;"},
		{"R-13: applied anew", []event{{
			"eth0", "reapply", []string{"IP6_DOMAINS=b.example"},
		}}, dir + "env=IP4_DOMAINS=;IP6_DOMAINS=b.example;"},
		{"a NetworkManager that tells of name servers", []event{{"", "dns-change", []string{
			"IP4_DOMAINS=lan",
		}}, {"eth0", "up", []string{"IP4_DOMAINS=other"}}},
			dir + "dns-change= " + dir + "env=IP4_DOMAINS=lan;IP6_DOMAINS=;"},
		{"a name by DHCPv6", []event{{"", "dns-change", nil}, {
			"eth0", "dhcp6-change", []string{"DHCP6_FQDN_FQDN=node-0.example.com"},
		}},
			dir + "dns-change= " + dir + "env=IP4_DOMAINS=;IP6_DOMAINS=; " + dir + "fqdn=node-0.example.com;"},
		{"the bridge", []event{{"br-ex", "dhcp4-change", nil}, {
			"br-ex", "up", nil,
		}}, "/run/nodeip-configuration/br-ex-up= " + dir + "env=IP4_DOMAINS=;IP6_DOMAINS=;"},
		{"another link is not the bridge", []event{{"br-ex2", "up", nil}, {
			"br-ex", "reapply", nil,
		}}, dir + "env=IP4_DOMAINS=;IP6_DOMAINS=;"},
		{"nothing in a value is a command", []event{{
			"$(rm -rf /)", "up", []string{"IP4_DOMAINS=$(touch /x) `y` \\n %s"},
		}}, dir + "env=IP4_DOMAINS=$(touch /x) `y` \\n %s;IP6_DOMAINS=;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHook(t)
			for _, e := range tt.events {
				h.run(e.link, e.event, e.set...)
			}
			if got := h.files(); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestHookTwice holds R-07: what is no news is not written, as each write is an event to systemd.
func TestHookTwice(t *testing.T) {
	h := newHook(t)
	inode := func() uint64 {
		info, err := os.Stat(h.root + "/run/resolv-prepender/env")
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Ino
	}
	h.run("", "dns-change", "IP4_DOMAINS=lan")
	first := inode()
	h.run("", "dns-change", "IP4_DOMAINS=lan")
	if inode() != first {
		t.Error("the same domains were written again")
	}
	h.run("", "dns-change", "IP4_DOMAINS=other")
	if inode() == first {
		t.Error("other domains were not written")
	}
}

// TestHookOfManyLinks holds: 200 interfaces that come up cost a boot almost nothing,
// and none of the calls takes a second.
func TestHookOfManyLinks(t *testing.T) {
	h := newHook(t)
	h.run("", "dns-change")
	if err := os.RemoveAll(h.bin); err != nil { // from now on there is no news, and no program to start
		t.Fatal(err)
	}
	begun, longest := time.Now(), time.Duration(0)
	for i := range 200 {
		one := time.Hour
		for range 2 { // what is slow once is the machine's
			began := time.Now()
			h.run("vlan"+string(rune('a'+i%26)), "up", "IP4_DOMAINS=lan")
			if one = min(one, time.Since(began)); one < time.Second {
				break
			}
		}
		longest = max(longest, one)
	}
	t.Logf(
		"200 interfaces in %v, the longest call %v", time.Since(begun).Round(time.Millisecond),
		longest.Round(time.Millisecond),
	)
	if longest > time.Second {
		t.Errorf("a call took %v", longest)
	}
}

// TestHookLeavesNothing holds R-16: a hook that is ended in the midst, or that cannot write, leaves
// no temporary file behind.
func TestHookLeavesNothing(t *testing.T) {
	h := newHook(t)
	mv := filepath.Join(h.bin, "mv")
	if err := os.Remove(mv); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mv, []byte("#!/bin/sh\nkill -TERM $PPID\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "files/30-resolv-prepender", "eth0", "up")
	cmd.Env = []string{"PATH=" + h.bin, "ONPREM_INFRA_ROOT=" + h.root}
	if err := cmd.Run(); err == nil {
		t.Error("a hook that was ended says that all is well")
	}
	if got := h.files(); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestResolver holds which nodes have it: those with a name server of their own, under names that
// operators of each platform know.
func TestResolver(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		conf   string // empty: none of it
	}{
		{"bare metal", func(*spec.Cluster) {}, "/etc/NetworkManager/conf.d/99-kni.conf"},
		{"vSphere", func(c *spec.Cluster) {
			c.Platform = spec.VSphere
		}, "/etc/NetworkManager/conf.d/99-vsphere.conf"},
		{"no VIPs", withoutVIPs, ""},
	} {
		set := mustAssets(t, compiled(t, tt.change), role.Worker)
		want := []string{tt.conf, "/etc/NetworkManager/conf.d/01-ipv6.conf", "/etc/NetworkManager/dispatcher.d/30-resolv-prepender", "/etc/systemd/system/on-prem-resolv-prepender.path",
			"/etc/systemd/system/on-prem-resolv-prepender.service", "/etc/systemd/system/kubelet.service.d/10-mco-on-prem-wait-resolv.conf"}
		for _, path := range want {
			if got := slices.Contains(set.Paths(), path); got != (tt.conf != "") && path != "" {
				t.Errorf("%s: %s is there: %v", tt.name, path, got)
			}
		}
	}
}
