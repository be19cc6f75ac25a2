package avahi

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nodegoods "github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/mdns"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

// link is a switch with nodes that announce themselves, and hosts that run Avahi.
type link struct {
	t   *testing.T
	lab *lab.Lab
	dir string
}

func open(t *testing.T) *link {
	t.Helper()
	need.Root(t)
	for _, program := range []string{"runc", "catatonit", "avahi-daemon", "avahi-resolve", "dbus-daemon", "unshare"} {
		need.Command(t, program)
	}
	l := &link{t: t, lab: lab.New(t), dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", l.dir+"/onprem-infra", "-tags", "remote", "../../cmd/onprem-infra")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	if err := pods.Image(l.dir+"/image", map[string]string{"usr/bin/onprem-infra": l.dir + "/onprem-infra"}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *link) add(name string, addresses ...string) *lab.Host {
	l.t.Helper()
	var prefixes []netip.Prefix
	for _, a := range addresses {
		prefixes = append(prefixes, netip.MustParsePrefix(a))
	}
	host, err := l.lab.Add(name, prefixes...)
	if err != nil {
		l.t.Fatal(err)
	}
	return host
}

// node is a machine that runs the pod as its manifest says.
type node struct {
	*pods.Node
	l *link
}

// node makes a machine that is called hostname. Its pod is not started yet.
func (l *link) node(host *lab.Host, hostname string, r role.Role) *node {
	l.t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, MDNS: spec.MDNSEnabled,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.RuntimeCfgImage: "onprem-infra", spec.CoreDNSImage: "none", spec.KeepalivedImage: "none", spec.HAProxyImage: "none"},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	goods, err := nodegoods.Assets(p, r)
	if err != nil {
		l.t.Fatal(err)
	}
	machine, err := pods.New(host, filepath.Join(l.dir, host.Name), map[string]string{"onprem-infra": l.dir + "/image"})
	if err != nil {
		l.t.Fatal(err)
	}
	n := &node{Node: machine, l: l}
	for _, f := range goods.Files() {
		if path.Base(f.Path) == "mdns-publisher.yaml" {
			n.write(f)
		}
	}
	n.write(asset.File{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(p)}, asset.File{Path: mdns.HostnameFile, Mode: 0o644, Contents: []byte(hostname + "\n")})
	l.t.Cleanup(func() {
		if l.t.Failed() {
			l.t.Logf("%s says:\n%s", host.Name, n.logText())
		}
		if err := n.Stop(); err != nil {
			l.t.Error(err)
		}
	})
	return n
}

func (n *node) write(files ...asset.File) {
	n.l.t.Helper()
	if err := n.Write(files...); err != nil {
		n.l.t.Fatal(err)
	}
}

// agreed is what node-ip has chosen.
func (n *node) agreed(addresses ...string) {
	n.l.t.Helper()
	for _, a := range addresses {
		name := "ipv4"
		if strings.Contains(a, ":") {
			name = "ipv6"
		}
		n.write(asset.File{Path: path.Join(mdns.AgreedDir, name), Mode: 0o644, Contents: []byte(a + "\n")})
	}
}

func (n *node) start() {
	n.l.t.Helper()
	ctx, cancel := context.WithTimeout(n.l.t.Context(), 30*time.Second)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		n.l.t.Fatalf("%v\n%s", err, n.logText())
	}
}

func (n *node) logText() string { return n.Log("mdns-publisher/mdns-publisher") }

// daemon is an avahi-daemon with a message bus of its own.
type daemon struct {
	l    *link
	host *lab.Host
	bus  string
}

const (
	busConfig = `<busconfig><type>system</type><listen>%s</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/><allow own="*"/>` +
		`<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/></policy></busconfig>`
	avahiConfig = "[server]\nhost-name=%s\ndomain-name=local\nuse-ipv4=yes\nuse-ipv6=yes\nallow-interfaces=eth0\nenable-dbus=yes\nratelimit-interval-usec=0\n" +
		"[publish]\npublish-workstation=no\npublish-hinfo=no\n[wide-area]\nenable-wide-area=no\n"
	// Each daemon has a /run of its own, where the file with its process number is.
	runAvahi = `mount -t tmpfs none /run; mkdir -p /run/avahi-daemon; dbus-daemon --config-file="$1" --nofork --nopidfile & 
		for i in 1 2 3 4 5 6 7 8 9 10; do [ -S "$3" ] && break; sleep 0.2; done; exec avahi-daemon -f "$2" --no-drop-root --no-chroot --no-rlimits`
)

// avahi starts one on a host, which it calls by a name.
func (l *link) avahi(host *lab.Host, name string) *daemon {
	l.t.Helper()
	dir := filepath.Join(l.dir, host.Name)
	socket := dir + "/bus"
	d := &daemon{l: l, host: host, bus: "unix:path=" + socket}
	err := os.MkdirAll(dir, 0o755)
	for file, text := range map[string]string{"bus.conf": fmt.Sprintf(busConfig, d.bus), "avahi.conf": fmt.Sprintf(avahiConfig, name)} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
	log, err := os.Create(dir + "/log")
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	ctx, end := context.WithCancel(context.WithoutCancel(l.t.Context()))
	cmd := host.Command(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-euc", runAvahi, "sh", dir+"/bus.conf", dir+"/avahi.conf", socket)
	cmd.Env = append(os.Environ(), "DBUS_SYSTEM_BUS_ADDRESS="+d.bus)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		end()
		_ = cmd.Wait() // it was killed
		if text, err := os.ReadFile(dir + "/log"); l.t.Failed() && err == nil {
			l.t.Logf("Avahi on %s says:\n%s", host.Name, text)
		}
	})
	l.until("Avahi on "+host.Name+" starts", 20*time.Second, func() bool { return d.log("Server startup complete") })
	return d
}

// log says whether the daemon has said something.
func (d *daemon) log(text string) bool {
	logged, err := os.ReadFile(filepath.Join(d.l.dir, d.host.Name, "log"))
	return err == nil && strings.Contains(string(logged), text)
}

// ask runs one of Avahi's programs and returns what it prints.
func (d *daemon) ask(program string, args ...string) string {
	d.l.t.Helper()
	ctx, cancel := context.WithTimeout(d.l.t.Context(), 10*time.Second)
	defer cancel()
	cmd := d.host.Command(ctx, program, args...)
	cmd.Env = append(os.Environ(), "DBUS_SYSTEM_BUS_ADDRESS="+d.bus)
	out, _ := cmd.Output() // a name that is not found is an error
	return string(out)
}

// browse is what the daemon has heard of a type of service.
func (d *daemon) browse(kind string) string {
	return d.ask("avahi-browse", "--resolve", "--terminate", "--parsable", kind)
}

func (l *link) until(what string, within time.Duration, done func() bool) time.Duration {
	l.t.Helper()
	begun := time.Now()
	for !done() {
		if time.Since(begun) > within {
			l.t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begun).Round(10 * time.Millisecond)
}
