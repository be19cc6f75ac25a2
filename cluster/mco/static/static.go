// Package static writes the static pods, keepalived's and CoreDNS's, that the Machine Config
// Operator's templates have for its own bootstrap machine. Every other bootstrap machine gets the
// units of package bootstrap.
package static

import (
	"net/netip"
	"path"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The paths of cluster.json on the bootstrap machine, for each pod.
const (
	resources      = "/etc/kubernetes/static-pod-resources/"
	KeepalivedFile = resources + "keepalived/keepalived.conf.tmpl"
	CoreDNSFile    = resources + "coredns/Corefile.tmpl"
	// RoutersFile has the routers' passwords too, so the pod first makes cluster.json from it.
	RoutersFile = resources + "frr-k8s/frr-peers.json"
)

// Bootstrap are the pods. Each has the daemon and the program that elsewhere runs the daemon by
// systemd and podman. The operator decides by the balancer's type which of the two run.
func Bootstrap(p plan.Plan) []pod.Static {
	return []pod.Static{keepalivedPod(p), coreDNSPod(p)}
}

// program is the path of our program in our own image.
const program = "/usr/bin/onprem-infra"

// kubeconfig is that of the bootstrap machine; it may appear minutes later.
const kubeconfig = "/etc/kubernetes/kubeconfig"

// The directories that the pods share with the host. That of the kubeconfig also holds
// cluster.json.
var (
	kubernetes    = pod.Volume{Name: "kubernetes", Host: path.Dir(kubeconfig)}
	state         = pod.Volume{Name: "state", Host: "/var/lib/onprem-infra"}
	keepalivedDir = pod.Volume{Name: "keepalived-conf", Host: keepalived.HostDir}
	keepalivedRun = pod.Volume{Name: "keepalived-run", Host: supervised.RunDir}
	coreDNSDir    = pod.Volume{Name: "coredns-conf", Host: "/etc/coredns"}
	coreDNSFile   = pod.Volume{Name: "cluster", Host: path.Dir(CoreDNSFile)}
	keepalivedIn  = pod.Volume{Name: "cluster", Host: path.Dir(KeepalivedFile)}
	networkNames  = pod.Volume{Name: "networkmanager", Host: "/run/NetworkManager"}
	resolvedNames = pod.Volume{Name: "resolved", Host: "/run/systemd/resolve"}
)

func keepalivedPod(p plan.Plan) pod.Static {
	health := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.Supervise])
	probe := func(failures int) *pod.Probe {
		return &pod.Probe{
			Host: health.Addr(), Port: health.Port(), Path: "/healthz", Every: 5 * time.Second,
			Timeout: 5 * time.Second, Failures: failures,
		}
	}
	command := []string{
		pod.Supervisor, "--config", keepalived.Dir + "/" + keepalived.File,
		"--run-dir", keepalivedRun.Host, "--cluster", KeepalivedFile, "--health", health.String(),
	}
	options, capabilities := p.BootstrapKeepalived()
	shared := pod.Mount{Volume: keepalivedRun, Writable: true}
	return pod.Static{
		Name: "keepalived", Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App:  p.Flavour().Short + "-infra-vrrp",
		Init: []pod.Container{pod.InstallSupervisor(p.Images[spec.RuntimeCfgImage])},
		Containers: []pod.Container{{
			Name: "keepalived", Image: p.Images[spec.KeepalivedImage],
			Command:      append(append(command, options...), "--", "keepalived"),
			Capabilities: capabilities,
			Mounts: append([]pod.Mount{
				{Volume: keepalivedIn}, shared,
				{Volume: keepalivedDir, Path: keepalived.Dir, Writable: true},
			}, pod.SupervisorMounts()...),
			Startup: probe(60), Liveness: probe(3),
		}, {
			Name: "keepalived-monitor", Image: p.Images[spec.RuntimeCfgImage],
			Command: []string{
				program, "bootstrap", "run", "vip", "--in-pod", "--cluster", KeepalivedFile,
				"--kubeconfig", kubeconfig,
			},
			Capabilities: []string{"NET_RAW"}, // it receives VRRP from any router
			Mounts: []pod.Mount{
				{Volume: kubernetes}, {Volume: state, Writable: true}, shared,
			},
		}},
	}
}

func coreDNSPod(p plan.Plan) pod.Static {
	own := p.Images[spec.RuntimeCfgImage]
	command := []string{program, "bootstrap", "run", "dns", "--in-pod", "--cluster", CoreDNSFile}
	mounts := []pod.Mount{
		{Volume: coreDNSFile}, {Volume: coreDNSDir, Writable: true}, {Volume: networkNames},
		{Volume: resolvedNames},
	}
	return pod.Static{
		Name: "coredns", Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App:       p.Flavour().Short + "-infra-coredns",
		Processes: true, // our program sends CoreDNS a signal after a new Corefile
		Init: []pod.Container{{
			Name: "coredns-prepare", Image: own,
			Command: append(command[:len(command):len(command)], "--once"), Mounts: mounts,
		}},
		Containers: []pod.Container{{
			Name: "coredns", Image: p.Images[spec.CoreDNSImage],
			Command:      []string{"coredns", "-conf", coreDNSDir.Host + "/Corefile"},
			Capabilities: []string{"NET_BIND_SERVICE"}, // port 53, nothing else
			Mounts:       []pod.Mount{{Volume: coreDNSDir}},
		}, {
			// It needs no capability but has one that CoreDNS does not have, so that CoreDNS, which
			// listens to any host, may not read its memory.
			Name: "coredns-monitor", Image: own, Command: command, Capabilities: []string{"KILL"},
			Mounts: mounts,
		}},
	}
}
