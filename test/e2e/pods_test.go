package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// rolePods are the pods of each role, and the cluster that its node is one of.
var rolePods = []struct {
	role    string
	cluster []byte
	pods    []string
}{
	{"arbiter", clusterOf(spec.HighlyAvailableArbiter, 2), []string{"coredns"}},
	{"worker", clusterOf(spec.HighlyAvailable, 3), []string{"coredns", "keepalived"}},
	{"master", clusterOf(spec.SingleReplica, 1), []string{"coredns", "haproxy", "keepalived"}},
}

// steady is how long pods that are well must stay so, with no container started again.
const steady = 20 * time.Second

// TestLongPods has a real kubelet run what the three roles get: Ignition writes the disks, units
// choose the node's address before kubelet starts, and the static pods come up and stay, each
// container with what its manifest says and no more. What hangs is started again.
func TestLongPods(t *testing.T) {
	needLong(t)
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make", "containerd", "ctr", "catatonit", "etcd"} {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	k := newKubernetes(ctx, t)
	frozen := map[string]bool{}
	for _, tt := range rolePods {
		t.Run(tt.role, func(t *testing.T) {
			start := time.Now()
			m := k.boot(ctx, t, tt.role, tt.cluster)
			m.address(ctx, t)
			// HAProxy is ready when it has an API server to send to, which is one of a Node with
			// the label.
			m.registered(ctx, t, k)
			eventually(t, 2*time.Minute, func() error { return m.well(ctx, tt.pods) })
			t.Logf("%s: %v Running and Ready %s after the power", tt.role, tt.pods, time.Since(start).Round(10*time.Millisecond))
			if tt.role == "master" {
				k.serves(ctx, t, m)
			}
			m.stays(ctx, t, tt.pods)
			m.confined(ctx, t)
			m.hangs(ctx, t, tt.pods, frozen)
		})
	}
}

// address holds what the unit before kubelet did: chosen, written, read by the service manager,
// forwarded, and used by kubelet.
func (m *member) address(ctx context.Context, t *testing.T) {
	t.Helper()
	ip := nodeIPs[m.role].String()
	eventually(t, 90*time.Second, func() error {
		out, err := m.Run(ctx, "pgrep", "-a", "kubelet")
		if err == nil && !strings.Contains(out, "--node-ip="+ip+",2001:db8:1::") {
			err = fmt.Errorf("kubelet runs without the node's addresses: %s", out)
		}
		return err
	})
	for _, tt := range []struct{ command, want string }{
		{"cat /run/nodeip-configuration/primary-ip", ip},
		{"cat /run/nodeip-configuration/ipv4", ip},
		{"cat /proc/sys/net/ipv4/conf/eth0/forwarding /proc/sys/net/ipv6/conf/eth0/forwarding", "1\n1\n"},
		{"systemctl show --property=Result --value nodeip-configuration.service", "success\n"},
		{"systemctl show --property=NeedDaemonReload --value kubelet.service", "no\n"},
		{"stat --format=%a /run/nodeip-configuration", "755\n"},
		{"test -e /run/nodeip-configuration/remote-worker || echo none", "none\n"},
		// Once in a boot: what is chosen stays when the unit is started again.
		{"ip addr add 192.0.2.9/24 dev eth0; systemctl start nodeip-configuration.service; ip addr del 192.0.2.9/24 dev eth0; cat /run/nodeip-configuration/primary-ip", ip},
	} {
		if out, err := m.Run(ctx, "sh", "-c", tt.command); err != nil || out != tt.want {
			t.Errorf("%s: %q (%v), want %q", tt.command, out, err, tt.want)
		}
	}
}

// registered holds that the API knows the node by its address, and gives a master the label that a
// cluster's operator gives it.
func (m *member) registered(ctx context.Context, t *testing.T, k *kubernetes) {
	t.Helper()
	name := "node-" + m.role
	eventually(t, 30*time.Second, func() error {
		var node corev1.Node
		if err := k.server.Admin().Do(ctx, http.MethodGet, "/api/v1/nodes/"+name, nil, &node); err != nil {
			return err
		}
		known := slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
			return a.Type == corev1.NodeInternalIP && a.Address == nodeIPs[m.role].String()
		})
		if !known {
			return fmt.Errorf("the API knows %s by %v", name, node.Status.Addresses)
		}
		return nil
	})
	if m.role == "master" {
		label := map[string]any{"metadata": map[string]any{"labels": map[string]any{"node-role.kubernetes.io/master": ""}}}
		must(t, k.server.Admin().Do(ctx, http.MethodPatch, "/api/v1/nodes/"+name, label, nil))
	}
}

// serves holds what it is all for: once the API server of the master is known to be ready, the VIP
// is there and answers.
func (k *kubernetes) serves(ctx context.Context, t *testing.T, m *member) {
	t.Helper()
	start := time.Now()
	eventually(t, 2*time.Minute, func() error {
		dial, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		connection, err := k.chain.Neighbour.Dial(dial, "tcp", chain.APIVIP.String()+":6443")
		if err != nil {
			return err
		}
		return connection.Close()
	})
	t.Logf("the API's VIP answers %s after the pods were ready", time.Since(start).Round(10*time.Millisecond))
}

// stays holds that pods that are well stay well: no container has ended, and none ends.
func (m *member) stays(ctx context.Context, t *testing.T, want []string) {
	t.Helper()
	for end := time.Now().Add(steady); ; time.Sleep(time.Second) {
		pods, err := m.pods(ctx)
		must(t, err, m.well(ctx, want))
		for _, p := range pods {
			for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
				if c.RestartCount != 0 {
					t.Fatalf("%s of %s was started %d times: %s", c.Name, p.Name, c.RestartCount+1, containers(p))
				}
			}
		}
		if time.Now().After(end) {
			return
		}
	}
}

// confined holds each container to its manifest, as the kernel has it: its capabilities in every
// process, no way to more of them, and a root file system that is read-only; and that no probe
// starts a process.
func (m *member) confined(ctx context.Context, t *testing.T) {
	t.Helper()
	pods, err := m.pods(ctx)
	must(t, err)
	processes, err := kubenode.Processes(ctx, m.Running)
	must(t, err)
	checked := 0
	for _, p := range pods {
		for i, c := range p.Spec.Containers {
			for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
				if probe != nil && probe.HTTPGet == nil {
					t.Errorf("%s: a probe of %s asks by something else than HTTP", p.Name, c.Name)
				}
			}
			status := p.Status.ContainerStatuses[slices.IndexFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })]
			pid := processes[strings.TrimPrefix(status.ContainerID, "containerd://")]
			if pid == 0 {
				t.Errorf("%s of %s has no process", c.Name, p.Name)
				continue
			}
			m.process(ctx, t, &p.Spec.Containers[i], pid)
			checked++
		}
	}
	t.Logf("%s: %d containers are what their manifests say", m.role, checked)
}

// capabilityNumbers are those of linux/capability.h that our containers have.
var capabilityNumbers = map[corev1.Capability]uint{
	"CHOWN": 0, "KILL": 5, "SETGID": 6, "SETUID": 7, "NET_BIND_SERVICE": 10, "NET_ADMIN": 12, "NET_RAW": 13, "SYS_ADMIN": 21, "SYS_NICE": 23,
}

// process looks at all processes that have the container's file systems.
func (m *member) process(ctx context.Context, t *testing.T, c *corev1.Container, pid int) {
	t.Helper()
	var mask uint64
	for _, name := range c.SecurityContext.Capabilities.Add {
		number, ok := capabilityNumbers[name]
		if !ok {
			t.Fatalf("%s has %s: say here which number it is", c.Name, name)
		}
		mask |= 1 << number
	}
	const processes = `m=$(readlink /proc/$1/ns/mnt); for p in /proc/[0-9]*; do [ "$(readlink $p/ns/mnt)" = "$m" ] && sed -n 's/^\(CapEff\|CapBnd\|NoNewPrivs\):\t/\1 /p' $p/status; done; awk '$5 == "/" {print "root " $6}' /proc/$1/mountinfo`
	out, err := m.Run(ctx, "sh", "-c", processes, "look", strconv.Itoa(pid))
	must(t, err)
	lines := slices.Collect(strings.Lines(out))
	daemons := c.Name == "speaker" // FRR's run as their own user, without most of it
	want := map[string]func(string) bool{
		"CapEff": func(v string) bool {
			n, err := strconv.ParseUint(v, 16, 64)
			return err == nil && (n == mask || daemons && n&^mask == 0)
		},
		"CapBnd":     func(v string) bool { n, err := strconv.ParseUint(v, 16, 64); return err == nil && n == mask },
		"NoNewPrivs": func(v string) bool { return v == "1" },
		"root":       func(v string) bool { return strings.HasPrefix(v, "ro,") },
	}
	seen := map[string]bool{}
	for _, line := range lines {
		f := strings.Fields(line)
		seen[f[0]] = true
		if !want[f[0]](f[1]) {
			t.Errorf("%s: %s, want capabilities %v and nothing that a manifest does not give", c.Name, strings.TrimSpace(line), c.SecurityContext.Capabilities.Add)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%s: saw only %v", c.Name, slices.Sorted(maps.Keys(seen)))
	}
}

// hangs stops every process of each container that no other role has shown yet, and sees kubelet
// start it again, and it alone: a daemon lives on without its monitor.
func (m *member) hangs(ctx context.Context, t *testing.T, want []string, frozen map[string]bool) {
	t.Helper()
	pods, err := m.pods(ctx)
	must(t, err)
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		p := pods[name]
		for _, c := range p.Spec.Containers {
			if c.LivenessProbe == nil {
				t.Errorf("%s of %s has no probe that could find it hung", c.Name, name)
				continue
			}
			if frozen[c.Name] {
				continue
			}
			frozen[c.Name] = true
			before := starts(m.pods(ctx))
			before[c.Name]++
			drill{
				fault:  m.role + ": " + c.Name + " frozen (SIGSTOP)",
				inject: func() { must(t, m.freeze(ctx, name, c.Name)) },
				within: 2 * time.Minute,
				right: func() (string, error) {
					if now := starts(m.pods(ctx)); !maps.Equal(now, before) {
						return "", fmt.Errorf("restarts are %v, want %v", now, before)
					}
					return "kubelet started it again, and it alone", m.well(ctx, want)
				},
			}.run(t)
		}
	}
}

// freeze stops all processes of a container.
func (m *member) freeze(ctx context.Context, pod, container string) error {
	pods, err := m.pods(ctx)
	if err != nil {
		return err
	}
	processes, err := kubenode.Processes(ctx, m.Running)
	if err != nil {
		return err
	}
	for _, s := range pods[pod].Status.ContainerStatuses {
		if s.Name != container {
			continue
		}
		const stop = `m=$(readlink /proc/$1/ns/mnt); for p in /proc/[0-9]*; do [ "$(readlink $p/ns/mnt)" = "$m" ] && kill -STOP ${p#/proc/}; done`
		_, err := m.Run(ctx, "sh", "-euc", stop+"; true", "stop", strconv.Itoa(processes[strings.TrimPrefix(s.ContainerID, "containerd://")]))
		return err
	}
	return errors.New("there is no such container")
}

// starts are how often each container was started again. It has none when kubelet cannot be asked.
func starts(pods map[string]corev1.Pod, err error) map[string]int32 {
	counts := map[string]int32{}
	if err != nil {
		return counts
	}
	for _, p := range pods {
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			counts[s.Name] = s.RestartCount
		}
	}
	return counts
}
