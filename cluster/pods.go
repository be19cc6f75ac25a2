package cluster

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"time"

	balancer "github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	vrrpd "github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The pods, and the containers in them whose names others rely on.
const (
	keepalived = "keepalived"
	haproxy    = "haproxy"
	coredns    = "coredns"
	publisher  = "mdns-publisher"
)

// program is ours in its own image.
const program = "/usr/bin/onprem-infra"

// The directories of a node that pods share with it, and with each other. Reasons stand in the
// tests' table: none is added without one.
var (
	clusterFile   = pod.Volume{Name: "cluster", Host: path.Dir(plan.Path)}
	certificates  = pod.Volume{Name: "kubelet-pki", Host: "/var/lib/kubelet/pki"} // and those of the plan
	podResources  = pod.Volume{Name: "pod-resources", Host: "/var/lib/kubelet/pod-resources"}
	nodeIP        = pod.Volume{Name: "node-ip", Host: "/run/nodeip-configuration"}
	state         = pod.Volume{Name: "state", Host: "/var/lib/onprem-infra"}
	keepalivedDir = pod.Volume{Name: "keepalived-conf", Host: vrrpd.HostDir}
	keepalivedRun = pod.Volume{Name: "keepalived-run", Host: supervised.RunDir}
	haproxyDir    = pod.Volume{Name: "haproxy-conf", Host: path.Dir(balancer.File)}
	haproxyRun    = pod.Volume{Name: "haproxy-run", Host: string(balancer.Run)}
	coreDNSDir    = pod.Volume{Name: "coredns-conf", Host: "/etc/coredns"}
	networkNames  = pod.Volume{Name: "networkmanager", Host: "/run/NetworkManager"}
	hostnameDir   = pod.Volume{Name: "hostname", Host: "/run/onprem-infra/mdns"}
	resolvedNames = pod.Volume{Name: "resolved", Host: "/run/systemd/resolve"}

	supervisor = pod.Volume{Name: "supervise"}
	run        = pod.Volume{Name: "run"}
	tmp        = pod.Volume{Name: "tmp"}
)

// pods are those of a role, whether they run or are disabled.
func pods(p plan.Plan, r role.Role) []pod.Static {
	runs := p.NodeRuns(r)
	var list []pod.Static
	if runs.VIP {
		list = append(list, keepalivedPod(p, r))
	}
	if runs.LB {
		list = append(list, haproxyPod(p))
	}
	if runs.DNS {
		list = append(list, corednsPod(p, r))
	}
	if runs.MDNS {
		list = append(list, publisherPod(p, r))
	}
	return list
}

func keepalivedPod(p plan.Plan, r role.Role) pod.Static {
	const binary = "/supervise/onprem-supervise"
	command := []string{binary, "--config", vrrpd.Dir + "/" + vrrpd.File, "--run-dir", keepalivedRun.Host,
		"--cluster", plan.Path, // which other programs may write: no other file of theirs depends on the cluster's addresses
		"--health", netip.AddrPortFrom(loopback, p.Ports[port.Supervise]).String(),
		"--yield-on-term"} // the pod that is replaced is alone in that: the node goes on to serve
	options, capabilities := p.Keepalived()
	conf := pod.Mount{Volume: keepalivedDir, Path: vrrpd.Dir, Writable: true} // the supervisor writes what the monitor wants and keepalived has tested
	shared := pod.Mount{Volume: keepalivedRun, Writable: true}
	reads := append(monitors(p), shared)
	if p.Flavour().Routers {
		reads = append(reads, pod.Mount{Volume: podResources}) // which ingress router runs here
	}
	return pod.Static{
		Name: keepalived, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-vrrp",
		Init: []pod.Container{{
			Name: "install-supervise", Image: p.Images[spec.RuntimeCfgImage], Command: []string{"/usr/bin/onprem-supervise", "--install", binary},
			Mounts: []pod.Mount{{Volume: supervisor, Path: path.Dir(binary), Writable: true}},
		}},
		Containers: []pod.Container{{
			Name: keepalived, Image: p.Images[spec.KeepalivedImage], Command: append(append(command, options...), "--", "keepalived"),
			Capabilities: capabilities,
			Mounts: []pod.Mount{{Volume: clusterFile}, conf, shared, {Volume: supervisor, Path: path.Dir(binary)}, {Volume: run, Path: "/run", Writable: true},
				{Volume: tmp, Path: "/tmp", Writable: true}},
			// Its parent answers, and sees to a keepalived that hangs by itself.
			Startup: started(p, port.Supervise), Liveness: asks(p, port.Supervise, "/healthz", 3),
		}, {
			Name: keepalived + "-monitor", Image: p.Images[spec.RuntimeCfgImage], Command: []string{program, "monitor", "vip", "--role=" + string(r)},
			// NET_ADMIN: it asks netfilter whether the redirect is there, and takes VIPs off that
			// must not be there. NET_RAW: it hears VRRP, whoever sends it, by a socket that the
			// kernel hands nothing else. Who has the first on the host's network can have all
			// packets logged to itself, or changed on their way: the second adds nothing to that.
			// keepalived's parent has it too, but must not be kept busy by whoever floods the link.
			Capabilities: []string{"NET_ADMIN", "NET_RAW"},
			Mounts:       reads,
			Startup:      started(p, port.MonitorVIP), Liveness: alive(p, port.MonitorVIP),
		}},
	}
}

func haproxyPod(p plan.Plan) pod.Static {
	own, conf := p.Images[spec.RuntimeCfgImage], pod.Mount{Volume: haproxyDir, Writable: true}
	sockets := pod.Mount{Volume: haproxyRun, Writable: true}
	return pod.Static{
		Name: haproxy, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-api-lb",
		Init: []pod.Container{{
			Name: "haproxy-prepare", Image: own, Command: []string{program, "monitor", "lb", "--once"}, Mounts: append(monitors(p), conf, sockets),
			Capabilities: []string{"NET_ADMIN"}, // the packet filter closes a port before HAProxy opens it
		}},
		Containers: []pod.Container{{
			Name: haproxy, Image: p.Images[spec.HAProxyImage],
			Command: balancer.Command(),
			Mounts:  []pod.Mount{{Volume: haproxyDir}, sockets},
			Ports:   balanced(p),
			// It is alive without a server too, and ready with one.
			Startup: asks(p, port.LBStats, "/haproxy_alive", 60), Liveness: asks(p, port.LBStats, "/haproxy_alive", 3),
			Readiness: asks(p, port.LBReady, "/haproxy_ready", 3),
		}, {
			Name: haproxy + "-monitor", Image: own, Command: []string{program, "monitor", "lb"},
			Capabilities: []string{"NET_ADMIN"}, // the redirect's rules
			Mounts:       append(monitors(p), conf, sockets),
			Startup:      started(p, port.MonitorLB), Liveness: alive(p, port.MonitorLB),
		}},
	}
}

// balanced are the ports that HAProxy listens on for others than this host.
func balanced(p plan.Plan) []pod.Port {
	var list []pod.Port
	for _, named := range []struct{ name, port string }{{"lb", port.LB}, {"mcs-lb", port.MachineConfigLB}, {"lb-ready", port.LBReady}, {"lb-monitor", port.LBMonitor}} {
		if number := p.Ports[named.port]; number != 0 {
			list = append(list, pod.Port{Name: named.name, Number: number})
		}
	}
	return list
}

func corednsPod(p plan.Plan, r role.Role) pod.Static {
	own, conf := p.Images[spec.RuntimeCfgImage], pod.Mount{Volume: coreDNSDir, Writable: true}
	reads := append(monitors(p), conf, pod.Mount{Volume: networkNames}, pod.Mount{Volume: resolvedNames})
	return pod.Static{
		Name: coredns, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-coredns",
		Processes: true, // the monitor tells CoreDNS of a new Corefile by a signal
		Init: []pod.Container{{
			Name: "coredns-prepare", Image: own, Command: []string{program, "monitor", "dns", "--role=" + string(r), "--once"}, Mounts: reads,
		}},
		Containers: []pod.Container{{
			Name: coredns, Image: p.Images[spec.CoreDNSImage], Command: []string{"coredns", "-conf", coreDNSDir.Host + "/Corefile"},
			Capabilities: []string{"NET_BIND_SERVICE"}, // port 53, nothing else
			Mounts:       []pod.Mount{{Volume: coreDNSDir}},
			Ports: []pod.Port{
				{Name: "dns", Number: p.Ports[port.DNS], UDP: true}, {Name: "dns-tcp", Number: p.Ports[port.DNS]},
				{Name: "health", Number: p.Ports[port.CoreDNSHealth]},
			},
			Startup: asks(p, port.CoreDNSHealth, "/health", 60), Liveness: asks(p, port.CoreDNSHealth, "/health", 3),
		}, {
			Name: coredns + "-monitor", Image: own, Command: []string{program, "monitor", "dns", "--role=" + string(r)},
			// It needs none. But the kernel lets a process look into another's memory and files
			// that is of the same user and has no more than itself: CoreDNS, which listens to
			// everybody, would have kubelet's credentials.
			Capabilities: []string{"KILL"},
			Mounts:       reads,
			Startup:      started(p, port.MonitorDNS), Liveness: alive(p, port.MonitorDNS),
		}},
	}
}

// publisherPod asks nobody and needs nothing of the API: no credentials, and no capability, as its
// port is an ordinary one.
func publisherPod(p plan.Plan, r role.Role) pod.Static {
	return pod.Static{
		Name: publisher, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-mdns",
		Containers: []pod.Container{{
			Name: publisher, Image: p.Images[spec.RuntimeCfgImage], Command: []string{program, "monitor", "mdns", "--role=" + string(r)},
			Mounts:  []pod.Mount{{Volume: clusterFile}, {Volume: nodeIP}, {Volume: hostnameDir}},
			Startup: started(p, port.MonitorMDNS), Liveness: alive(p, port.MonitorMDNS),
		}},
	}
}

// monitors are what every monitor reads: what the cluster decided, kubelet's kubeconfig with its
// certificates, the node's address as kubelet has it, and what it has to remember across reboots.
//
// Of kubelet's directory they see nothing else: the secrets of every pod are below it, and the
// volumes. kubelet replaces certificates in a directory of their own, which is there as a whole.
// The kubeconfig is there alone, wherever it is, as beside it may be an administrator's, and the
// keys of the cluster's CAs. kubelet has it before it starts a pod and writes it anew in place;
// when a program replaces the file, monitors end and kubelet starts them with the one that is there
// then. Its type has the pod wait for a file; of a container that starts later kubelet checks
// nothing.
func monitors(p plan.Plan) []pod.Mount {
	mounts := []pod.Mount{{Volume: clusterFile}, {Volume: certificates}, {Volume: nodeIP}, {Volume: state, Writable: true}}
	for i, dir := range p.CertificateDirectories {
		mounts = append(mounts, pod.Mount{Volume: pod.Volume{Name: fmt.Sprintf("certificates-%d", i), Host: dir}})
	}
	if !Sees(p, p.Kubeconfig) { // otherwise it is seen in its directory, whatever replaces it
		mounts = append(mounts, pod.Mount{Volume: pod.Volume{Name: "kubeconfig", Host: p.Kubeconfig, File: true}})
	}
	return mounts
}

// Sees says whether monitors have a file in one of the directories of certificates.
func Sees(p plan.Plan, file string) bool {
	return slices.ContainsFunc(CertificateDirectories(p), func(dir string) bool { return spec.Within(file, dir) })
}

// CertificateDirectories are those that monitors have.
func CertificateDirectories(p plan.Plan) []string {
	return append([]string{certificates.Host}, p.CertificateDirectories...)
}

// loopback is where monitors listen for kubelet.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func asks(p plan.Plan, name, path string, failures int) *pod.Probe {
	return &pod.Probe{Host: loopback, Port: p.Ports[name], Path: path, Every: 5 * time.Second, Timeout: 5 * time.Second, Failures: failures}
}

// alive ends a monitor that has hung for longer than any of its steps takes.
func alive(p plan.Plan, name string) *pod.Probe { return asks(p, name, "/healthz", 6) }

// started leaves a monitor the time that a machine needs which starts all of its pods at once.
func started(p plan.Plan, name string) *pod.Probe { return asks(p, name, "/healthz", 60) }
