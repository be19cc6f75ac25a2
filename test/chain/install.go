package chain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// The images that the machine finds in its storage, unless Supply has moved them to a registry.
const (
	keepalivedImage = "localhost/keepalived:chain"
	haproxyImage    = "localhost/haproxy:chain" // on nodes only
	corednsImage    = "localhost/coredns:chain"
	ownImage        = "localhost/onprem-infra:chain"

	// FRRImage is that of hosts that announce VIPs, for who loads it.
	FRRImage = "localhost/frr:chain"
)

// Source is the directory with go.mod, at or above the working directory.
func Source() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find go.mod: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// building lets one chain build at a time: two would move each other's files in bin.
var building sync.Mutex

// Build builds our programs, and the fake API server.
func (c *Chain) Build(ctx context.Context) error {
	building.Lock()
	defer building.Unlock()
	source, err := Source()
	if err != nil {
		return err
	}
	c.programs = filepath.Join(source, "bin")
	for _, args := range [][]string{
		{"make", "--no-print-directory", "build"},
		{"go", "build", "-o", c.file("fakeapi"), "./test/fakeapi"},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// Programs is the directory of our programs, after Build.
func (c *Chain) Programs() string { return c.programs }

// Compile has our program write an install-config for IP families (ipv4, ipv6, dual) and make the
// bootstrap machine's Ignition document of it. took is the time of the last step alone.
func (c *Chain) Compile(ctx context.Context, families string) (document []byte, took time.Duration, err error) {
	config, err := c.ours(ctx, "example", "install-config", "--families", families)
	if err != nil {
		return nil, 0, err
	}
	if c.Replicas > 0 {
		config = bytes.Replace(config, []byte("\n  replicas: 3"), fmt.Appendf(nil, "\n  replicas: %d%s", c.Replicas, fencing(c.Replicas)), 1)
	}
	return c.CompileOf(ctx, config, nil)
}

// CompileOf is Compile of an install-config, with further images and flags.
func (c *Chain) CompileOf(ctx context.Context, config []byte, more map[string]string, flags ...string) (document []byte, took time.Duration, err error) {
	return c.CompileAnnounced(ctx, config, more, append(c.timing(), flags...)...)
}

// CompileAnnounced is CompileOf for a cluster without VRRP, whose timing there is none of.
func (c *Chain) CompileAnnounced(ctx context.Context, config []byte, more map[string]string, flags ...string) (document []byte, took time.Duration, err error) {
	named := map[string]string{
		"keepalivedImage": c.image(keepalivedImage), "corednsImage": c.image(corednsImage), "baremetalRuntimeCfgImage": c.image(ownImage),
		"haproxyImage": haproxyImage, "frrImage": FRRImage,
	}
	maps.Copy(named, more)
	images, err := json.MarshalIndent(named, "", "  ")
	if err != nil {
		return nil, 0, err
	}
	for name, content := range map[string][]byte{"install-config.yaml": config, "images.json": images} {
		if err := os.WriteFile(c.file(name), content, 0o600); err != nil {
			return nil, 0, err
		}
	}
	args := []string{"ignition", "--role=bootstrap", "-c", c.file("install-config.yaml"), "--images", c.file("images.json")}
	start := time.Now()
	document, err = c.ours(ctx, append(args, flags...)...)
	return document, time.Since(start), err
}

// Render has our program write, after Compile, the files of another role as a tree below dir.
func (c *Chain) Render(ctx context.Context, role, dir string) error {
	args := []string{"render", "--role=" + role, "-c", c.file("install-config.yaml"), "--images", c.file("images.json"), "--out", dir}
	_, err := c.ours(ctx, append(args, c.timing()...)...)
	return err
}

// timing are the flags with the profile, and the proof that it may need.
func (c *Chain) timing() []string {
	flags := []string{"--timing=" + cmp.Or(c.Timing, vrrp.ProfileCompat)}
	if c.Timing == vrrp.ProfileFast {
		for i := range cmp.Or(c.Replicas, 3) {
			flags = append(flags, fmt.Sprintf("--proven=master-%d=2000", i))
		}
	}
	return flags
}

// ours runs our program and returns what it prints.
func (c *Chain) ours(ctx context.Context, args ...string) ([]byte, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, "onprem-infra"), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("onprem-infra %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// Images makes the machine's images and puts them into its storage: keepalived from this machine's
// package, CoreDNS built from its module, ours from the Containerfile.
func (c *Chain) Images(ctx context.Context, keepalived string) error {
	source, err := Source()
	if err != nil {
		return err
	}
	coredns, err := cache.CoreDNS(ctx)
	if err != nil {
		return err
	}
	daemon, err := vm.KeepalivedImage(ctx, keepalivedImage, keepalived)
	if err != nil {
		return err
	}
	return c.Machine.Load(ctx, daemon, vm.CoreDNSImage(corednsImage, coredns), vm.Image{Name: ownImage, Context: source})
}

// NodeImages are the same images and HAProxy's, by name, each the tree that a node's pods see: path
// in the image -> file of this machine.
func (c *Chain) NodeImages(ctx context.Context, keepalived, haproxy string) (map[string]map[string]string, error) {
	coredns, err := cache.CoreDNS(ctx)
	if err != nil {
		return nil, err
	}
	daemon, err := vm.KeepalivedImage(ctx, keepalivedImage, keepalived)
	if err != nil {
		return nil, err
	}
	balancer, err := vm.Linked(ctx, haproxy)
	if err != nil {
		return nil, err
	}
	balancer["usr/sbin/haproxy"] = haproxy
	own := map[string]string{}
	for _, program := range []string{"onprem-infra", "onprem-supervise", "onprem-speak"} {
		own["usr/bin/"+program] = filepath.Join(c.programs, program)
	}
	return map[string]map[string]string{
		keepalivedImage: daemon.Tree, haproxyImage: balancer, corednsImage: vm.CoreDNSImage(corednsImage, coredns).Tree, ownImage: own,
	}, nil
}

// fakeUnit runs the fake API server in the machine, where a bootstrap machine runs its real one.
const fakeUnit = `[Unit]
Description=FAKE of an API server and a machine config server
[Service]
ExecStart=/opt/fakeapi/fakeapi -cert /opt/fakeapi/cert.pem -key /opt/fakeapi/key.pem -state /opt/fakeapi/nodes.json
[Install]
WantedBy=multi-user.target
`

// Equip puts on the disk what is not ours: the fake API server and Ironic, and the name server that
// DHCP would have given.
func (c *Chain) Equip() error {
	fake, err := os.ReadFile(c.file("fakeapi"))
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path    string
		content []byte
		mode    os.FileMode
	}{
		{path: "/opt/fakeapi/fakeapi", content: fake, mode: 0o755},
		{path: "/opt/fakeapi/cert.pem", content: c.identity.cert, mode: 0o644},
		{path: "/opt/fakeapi/key.pem", content: c.identity.key, mode: 0o600},
		{path: "/etc/systemd/system/fakeapi.service", content: []byte(fakeUnit), mode: 0o644},
		{path: "/etc/systemd/system/fakeironic.service", content: []byte(ironicUnit), mode: 0o644},
		{path: "/etc/systemd/system-preset/10-fakeapi.preset", content: []byte("enable fakeapi.service\n"), mode: 0o644},
		{path: "/etc/resolv.conf", content: fmt.Appendf(nil, "nameserver %s\n", NeighbourIP), mode: 0o644},
	} {
		if err := c.Machine.Write(f.path, f.content, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// Kubeconfig gives the running machine the kubeconfig of its fake API, which on a real one appears
// minutes after the boot.
func (c *Chain) Kubeconfig(ctx context.Context) error {
	return c.GiveKubeconfig(ctx, c.identity.kubeconfig())
}

// GiveKubeconfig gives the running machine a kubeconfig.
func (c *Chain) GiveKubeconfig(ctx context.Context, kubeconfig []byte) error {
	cmd := c.VM.Command(ctx, "sh", "-euc", "umask 077; mkdir -p /etc/kubernetes; cat >/etc/kubernetes/kubeconfig.new; mv /etc/kubernetes/kubeconfig.new /etc/kubernetes/kubeconfig")
	cmd.Stdin = strings.NewReader(string(kubeconfig))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("write the machine's kubeconfig: %w: %s", err, out)
	}
	return nil
}

// fencing is what the installer wants of a control plane of two nodes. Nothing here puts one out of
// the way.
func fencing(replicas int) string {
	if replicas != 2 {
		return ""
	}
	const credential = "\n    - {hostName: master-%d, address: 'redfish+https://192.0.2.250/%[1]d', username: admin, password: none}"
	return "\n  fencing:\n    credentials:" + fmt.Sprintf(credential, 0) + fmt.Sprintf(credential, 1)
}
