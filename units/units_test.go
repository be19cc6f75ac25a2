package units

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// all are the units with text, by name.
func all(t *testing.T) map[string]asset.Unit {
	t.Helper()
	h := Host{OpenShift: true, Kubelet: kubelet}
	install := h.Install("registry.example/onprem-infra:v1", "/root/.docker/config.json", NetworkOnline)
	units := map[string]asset.Unit{}
	for _, u := range slices.Concat(
		[]asset.Unit{install, h.Keepalived(), h.Speaker(), h.CoreDNS(), h.NodeIP(), h.WaitForNodeIP(), h.WaitForBrEx()},
		h.Resolv(), h.Podman(), h.VIPLeave(), h.Provisioning(), h.Describe(),
		Host{Kubelet: "another.service"}.ResolvPrepender("10-mco-on-prem-wait-resolv.conf"),
	) {
		units[u.Name] = u
	}
	return units
}

// values are what a unit says under one key, over all of its lines.
func values(t *testing.T, text []byte, section, key string) []string {
	t.Helper()
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var found []string
	for _, o := range options {
		if o.Section == section && o.Name == key {
			found = append(found, strings.Fields(o.Value)...)
		}
	}
	return found
}

// TestInstall holds that only the variable key differs from the file, and that no line of it is
// lost.
func TestInstall(t *testing.T) {
	source, err := files.ReadFile("onprem-install.service")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(string(source)) {
		if !strings.HasPrefix(line, "#") {
			want.WriteString(line)
		}
	}
	got := string(all(t)["onprem-install.service"].Contents)
	got = strings.Replace(
		got, `Environment="ONPREM_INFRA_IMAGE=registry.example/onprem-infra:v1"`,
		"Environment=ONPREM_INFRA_IMAGE=", 1,
	)
	got = strings.Replace(
		got, `Environment="ONPREM_INFRA_AUTH=/root/.docker/config.json"`,
		"Environment=ONPREM_INFRA_AUTH=", 1,
	)
	if got != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
	for name, c := range map[string]change{
		"a unit without the variable": setEnvironment("ONPREM_INFRA_IMAGE", "x"),
		"a unit without the name":     rename("After", "a.service", "b.service"),
		"a unit without its section":  after("a.service"),
	} {
		text := "[Service]\nEnvironment=OTHER=\n"
		if edited, err := apply([]byte(text), []change{c}); err == nil {
			t.Errorf("%s was accepted:\n%s", name, edited)
		}
	}
}

// TestInstallGoesOn holds that the unit which installs ends only when it has installed: whatever
// else ends it, it starts again.
func TestInstallGoesOn(t *testing.T) {
	text := all(t)["onprem-install.service"].Contents
	for _, want := range []struct{ section, key, value string }{
		{"Unit", "StartLimitIntervalSec", "0"},
		{"Service", "Type", "oneshot"},
		{"Service", "RemainAfterExit", "yes"},
		{"Service", "Restart", "on-failure"},
		{"Service", "RestartSec", "1"},
		{"Service", "OOMPolicy", "continue"},
		{"Service", "TimeoutStartSec", "infinity"},
	} {
		if got := values(t, text, want.section, want.key); !slices.Equal(got, []string{
			want.value,
		}) {
			t.Errorf("%s=%v, want %s", want.key, got, want.value)
		}
	}
}

// TestDaemons holds what keeps the daemons alive, and out of the way of static pods.
func TestDaemons(t *testing.T) {
	for name, manifest := range map[string]string{
		"onprem-keepalived.service": "keepalived", "onprem-coredns.service": "coredns",
		"onprem-speaker.service": "0000-frr-k8s",
	} {
		text := all(t)[name].Contents
		for _, want := range []struct{ section, key, value string }{
			{"Unit", "StartLimitIntervalSec", "0"},
			{"Unit", "ConditionPathExists", "!/etc/kubernetes/manifests/" + manifest + ".yaml"},
			{
				"Service", "ExecCondition",
				"/usr/bin/test ! -e /etc/kubernetes/manifests/" + manifest + ".yaml",
			},
			{"Service", "Type", "notify"},
			{"Service", "NotifyAccess", "main"},
			{"Service", "Restart", "always"},
			{"Service", "RestartSec", "1"},
			{"Service", "TimeoutStartSec", "infinity"},
			{"Service", "NoNewPrivileges", "yes"},
			{"Install", "WantedBy", "multi-user.target"},
		} {
			if got := strings.Join(
				values(t, text, want.section, want.key), " ",
			); got != want.value {
				t.Errorf("%s: %s=%v, want %s", name, want.key, got, want.value)
			}
		}
		// What is required fails this unit when it fails, for good, and stops it when it is
		// restarted.
		for _, key := range []string{"Requires", "Requisite", "BindsTo", "PartOf"} {
			if got := values(t, text, "Unit", key); len(got) > 0 {
				t.Errorf("%s: %s=%v, want it to live and start without", name, key, got)
			}
		}
		if wants := values(t, text, "Unit", "Wants"); !slices.Contains(
			wants, "onprem-install.service",
		) || !slices.Contains(wants, "podman.socket") {
			t.Errorf("%s: Wants=%v lacks what it needs", name, wants)
		}
		// A limit that is shorter than what it limits kills a program that was doing its work
		// (K-56).
		if stop, err := strconv.Atoi(
			strings.Join(values(t, text, "Service", "TimeoutStopSec"), ""),
		); err != nil || time.Duration(stop)*time.Second <= loop.LeaveTimeout {
			t.Errorf(
				"%s: TimeoutStopSec=%d (%v), the program takes up to %v", name, stop, err,
				loop.LeaveTimeout,
			)
		}
		// A unit stops before what it is started after: the VIP leaves while the container engine
		// and the network are still there.
		after := values(t, text, "Unit", "After")
		for _, needed := range []string{
			"network-online.target", "podman.socket", "onprem-install.service",
		} {
			if !slices.Contains(after, needed) {
				t.Errorf("%s: After=%v lacks %s", name, after, needed)
			}
		}
		// A socket's service is not started while a unit that is ordered after it stops, and that
		// unit may need it.
		if slices.Contains(after, "podman.service") {
			t.Errorf("%s: After=%v has podman.service", name, after)
		}
		for _, other := range []string{"onprem-keepalived.service", "onprem-coredns.service"} {
			if bytes.Contains(text, []byte(other)) {
				t.Errorf("%s depends on %s: neither may take the other down", name, other)
			}
		}
	}
}

// TestPulls holds for whatever pulls images that it does so after crio-wipe (N-16) and knows the
// proxy (N-14).
func TestPulls(t *testing.T) {
	proxy := []string{
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	}
	units := all(t)
	texts := map[string][]byte{"podman.service": units["podman.service"].DropIns[0].Contents}
	for _, name := range []string{
		"onprem-install.service", "onprem-keepalived.service", "onprem-coredns.service",
		"onprem-httpd.service", "onprem-ironic.service", "onprem-dnsmasq.service",
	} {
		texts[name] = units[name].Contents
		if after := values(
			t, texts[name], "Unit", "After",
		); !slices.Contains(after, "crio-wipe.service") {
			t.Errorf("%s: After=%v lacks crio-wipe.service", name, after)
		}
	}
	for name, text := range texts {
		if got := values(t, text, "Service", "PassEnvironment"); !slices.Equal(got, proxy) {
			t.Errorf("%s: PassEnvironment=%v", name, got)
		}
		if got := values(t, text, "Service", "EnvironmentFile"); !slices.Equal(got, []string{
			"-/etc/mco/proxy.env",
		}) {
			t.Errorf("%s: EnvironmentFile=%v", name, got)
		}
	}
}

// TestOrder holds that the units' order has no loop (N-17): systemd would break one by leaving a
// unit out.
func TestOrder(t *testing.T) {
	after := map[string][]string{"podman.service": {"podman.socket"}}
	for name, u := range all(t) {
		after[name] = append(after[name], values(t, u.Contents, "Unit", "After")...)
		for _, later := range values(t, u.Contents, "Unit", "Before") {
			after[later] = append(after[later], name)
		}
	}
	done := map[string]bool{}
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("the order has a loop: %v after %s", path, name)
		}
		if done[name] {
			return
		}
		for _, earlier := range after[name] {
			visit(earlier, append(path, name))
		}
		done[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		visit(name, nil)
	}
}

// TestResolvWatch holds R-18: other name servers count whether NetworkManager tells its hooks of
// them or not, at each boot, and a run of the unit that rewrites resolv.conf does not hide what
// changes meanwhile: what the watch starts is another, short one.
func TestResolvWatch(t *testing.T) {
	units := all(t)
	watch := units["onprem-resolv.path"]
	if got, want := values(t, watch.Contents, "Path", "PathChanged"), []string{
		"/run/NetworkManager/resolv.conf", "/etc/resolv.conf",
	}; !slices.Equal(got, want) || !watch.Enabled {
		t.Errorf("the watch is on %v, enabled %v, want %v", got, watch.Enabled, want)
	}
	starts := values(t, watch.Contents, "Path", "Unit")
	if len(starts) != 1 || starts[0] == "onprem-resolv.service" ||
		units[starts[0]].Contents == nil {
		t.Fatalf("the watch starts %v, want a unit of its own", starts)
	}
	if run := values(
		t, units[starts[0]].Contents, "Service", "ExecStart",
	); !slices.Contains(run, "--no-block") || !slices.Contains(run, "onprem-resolv.service") {
		t.Errorf(
			"%s runs %v, want it to ask for onprem-resolv.service without waiting", starts[0], run,
		)
	}
	for _, unit := range []string{starts[0], "onprem-resolv.service"} {
		if limit := values(
			t, units[unit].Contents, "Unit", "StartLimitIntervalSec",
		); !slices.Equal(limit, []string{"0"}) {
			t.Errorf(
				"%s: StartLimitIntervalSec=%v, want 0: many changes must not switch the watch off",
				unit, limit,
			)
		}
	}
	// The second look comes when the watch is sure to be on again.
	prepend := []string{
		"/bin/sh", "/etc/NetworkManager/dispatcher.d/30-local-dns-prepender", "none", "dns-change",
	}
	if run, want := values(t, units["onprem-resolv.service"].Contents, "Service", "ExecStart"), slices.Concat(prepend, []string{"/bin/sleep", "1"}, prepend); !slices.Equal(run, want) {
		t.Errorf("onprem-resolv.service runs %v, want %v", run, want)
	}
	if !units["onprem-resolv.service"].Enabled {
		t.Error("onprem-resolv.service does not run at boot: the file may be older than the watch")
	}
}

// TestNoRelabel holds that nothing relabels a directory of the system for a container (N-15).
func TestNoRelabel(t *testing.T) {
	for name, u := range all(t) {
		if bytes.Contains(u.Contents, []byte(":z")) || bytes.Contains(u.Contents, []byte(":Z")) {
			t.Errorf("%s relabels a mount", name)
		}
	}
}

// FuzzInstall holds that whatever an image is called, its unit has the lines that it has for any
// other, and systemd reads the name back.
func FuzzInstall(f *testing.F) {
	for _, s := range []string{
		"", "b", "http://me:p%40ss@proxy:3128", `"b" \ 'c'`, "1\n[Service]\nExecStart=/bin/false", "\x7f\x01é", "a\\", "a \\\n#b", "$X ${X} `x`", "%n%%", "\u2028;",
	} {
		f.Add(s)
	}
	options := func(t *testing.T, text []byte) []*unit.UnitOption {
		list, err := unit.DeserializeOptions(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return list
	}
	f.Fuzz(func(t *testing.T, image string) {
		if len(image) > 400 {
			return // go-systemd reads lines of 2048 bytes, and no reference is that long
		}
		u := Host{}.Install(image, image, NetworkOnline)
		harmless := Host{}.Install("x", "x", NetworkOnline)
		got, want := options(t, u.Contents), options(t, harmless.Contents)
		if len(got) != len(want) ||
			bytes.Count(u.Contents, []byte("\n")) != bytes.Count(harmless.Contents, []byte("\n")) {
			t.Fatalf("%q makes\n%s", image, u.Contents)
		}
		for i, o := range got {
			if o.Name != "Environment" {
				if !o.Match(want[i]) {
					t.Errorf("%q makes %+v of %+v", image, o, want[i])
				}
			} else if value := unquote(t, o.Value); value != "ONPREM_INFRA_IMAGE="+image &&
				value != "ONPREM_INFRA_AUTH="+image {
				t.Errorf("%q came back as %q", image, value)
			}
		}
	})
}

// unquote reads one word as systemd does.
func unquote(t *testing.T, quoted string) string {
	t.Helper()
	body := quoted[1 : len(quoted)-1]
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '"':
			t.Fatalf("%s ends early", quoted)
		case body[i] == '%':
			if i++; body[i] != '%' {
				t.Fatalf("%s has a specifier", quoted)
			}
			b.WriteByte('%')
		case body[i] == '\\' && body[i+1] == 'x':
			c, err := strconv.ParseUint(body[i+2:i+4], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteByte(byte(c))
			i += 3
		case body[i] == '\\':
			i++
			b.WriteByte(body[i])
		default:
			b.WriteByte(body[i])
		}
	}
	return b.String()
}
