package cluster

import (
	"net/netip"
	"path"

	balancer "github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/monitor"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	vrrpd "github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/programs"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The names of the pods, which are also those of containers.
const (
	keepalived = "keepalived"
	haproxy    = "haproxy"
	coredns    = "coredns"
	publisher  = "mdns-publisher"
	boots      = "provisioning"
)

// program is the path of our program in our own image.
const program = "/usr/bin/onprem-infra"

// The directories that pods share with the node and with each other. The tests' table has a reason
// for each.
var (
	podResources  = pod.Volume{Name: "pod-resources", Host: "/var/lib/kubelet/pod-resources"}
	keepalivedDir = pod.Volume{Name: "keepalived-conf", Host: vrrpd.HostDir}
	keepalivedRun = pod.Volume{Name: "keepalived-run", Host: supervised.RunDir}
	haproxyDir    = pod.Volume{Name: "haproxy-conf", Host: path.Dir(balancer.File)}
	haproxyRun    = pod.Volume{Name: "haproxy-run", Host: string(balancer.Run)}
	coreDNSDir    = pod.Volume{Name: "coredns-conf", Host: "/etc/coredns"}
	networkNames  = pod.Volume{Name: "networkmanager", Host: "/run/NetworkManager"}
	hostnameDir   = pod.Volume{Name: "hostname", Host: "/run/onprem-infra/mdns"}
	bootFiles     = pod.Volume{Name: "boot-files"}
	bootRun       = pod.Volume{Name: "boot-run"}
	resolvedNames = pod.Volume{Name: "resolved", Host: "/run/systemd/resolve"}
)

// pods are the pods of a role, whether they run or are disabled.
func pods(p plan.Plan, r role.Role) []pod.Static {
	runs := p.NodeRuns(r)
	var list []pod.Static
	if runs.VIP {
		list = append(list, keepalivedPod(p, r))
	}
	if runs.Speaks {
		list = append(list, speakerPod(p, r))
	}
	if runs.LB {
		list = append(list, haproxyPod(p))
	}
	if runs.DNS {
		list = append(list, corednsPod(p, r))
	}
	if runs.Boots {
		list = append(list, bootsPod(p))
	}
	if runs.MDNS {
		list = append(list, publisherPod(p, r))
	}
	return list
}

func keepalivedPod(p plan.Plan, r role.Role) pod.Static {
	own := []string{
		// the only file with the cluster's addresses that other programs may write
		"--cluster", plan.Path,
		"--health", netip.AddrPortFrom(monitor.Loopback, p.Ports[port.Supervise]).String(),
		"--yield-on-term", // if the pod is replaced, the node goes on to serve
	}
	options, capabilities := p.Keepalived()
	// The supervisor writes the candidate configuration after keepalived has tested it.
	conf := pod.Mount{Volume: keepalivedDir, Path: vrrpd.Dir, Writable: true}
	shared := pod.Mount{Volume: keepalivedRun, Writable: true}
	return pod.Static{
		Name: keepalived, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App:  p.Flavour().Short + "-infra-vrrp",
		Init: []pod.Container{pod.InstallSupervisor(p.Images[spec.RuntimeCfgImage])},
		Containers: []pod.Container{{
			Name: keepalived, Image: p.Images[spec.KeepalivedImage],
			Command:      supervised.Command(pod.Supervisor, append(own, options...)...),
			Capabilities: capabilities,
			Mounts: append([]pod.Mount{{Volume: monitor.Cluster}, conf, shared},
				pod.SupervisorMounts()...),
			// Its supervisor answers, and restarts a keepalived that hangs.
			Startup:  monitor.Started(p, port.Supervise),
			Liveness: monitor.Probe(p, port.Supervise, "/healthz", 3),
		}, vipMonitor(p, r, keepalived)},
	}
}

func haproxyPod(p plan.Plan) pod.Static {
	own, conf := p.Images[spec.RuntimeCfgImage], pod.Mount{Volume: haproxyDir, Writable: true}
	sockets := pod.Mount{Volume: haproxyRun, Writable: true}
	return pod.Static{
		Name: haproxy, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App: p.Flavour().Short + "-infra-api-lb",
		Init: []pod.Container{{
			Name: "haproxy-prepare", Image: own,
			Command: []string{program, "monitor", "lb", "--once"},
			Mounts:  append(monitor.Mounts(p), conf, sockets),
			// the packet filter closes a port before HAProxy opens it
			Capabilities: []string{"NET_ADMIN"},
		}},
		Containers: []pod.Container{{
			Name: haproxy, Image: p.Images[spec.HAProxyImage],
			Command: balancer.Command(),
			Mounts:  []pod.Mount{{Volume: haproxyDir}, sockets},
			Ports:   balanced(p),
			// It is alive without a server, and ready with one.
			Startup:   monitor.Probe(p, port.LBStats, "/haproxy_alive", 60),
			Liveness:  monitor.Probe(p, port.LBStats, "/haproxy_alive", 3),
			Readiness: monitor.Probe(p, port.LBReady, "/haproxy_ready", 3),
		}, {
			Name: haproxy + "-monitor", Image: own, Command: []string{program, "monitor", "lb"},
			Capabilities: []string{"NET_ADMIN"}, // the redirect's rules
			Mounts:       append(monitor.Mounts(p), conf, sockets),
			Startup:      monitor.Started(p, port.MonitorLB),
			Liveness:     monitor.Alive(p, port.MonitorLB),
		}},
	}
}

// balanced are the ports on which HAProxy listens for other hosts.
func balanced(p plan.Plan) []pod.Port {
	var list []pod.Port
	for _, named := range []struct{ name, port string }{
		{"lb", port.LB}, {"mcs-lb", port.MachineConfigLB}, {"lb-ready", port.LBReady},
		{"lb-monitor", port.LBMonitor}, {"ironic-lb", port.IronicLB},
		{"vmedia-lb", port.VirtualMediaLB},
	} {
		if number := p.Ports[named.port]; number != 0 {
			list = append(list, pod.Port{Name: named.name, Number: number})
		}
	}
	return list
}

func corednsPod(p plan.Plan, r role.Role) pod.Static {
	own, conf := p.Images[spec.RuntimeCfgImage], pod.Mount{Volume: coreDNSDir, Writable: true}
	reads := append(monitor.Mounts(p), conf, pod.Mount{Volume: networkNames}, pod.Mount{
		Volume: resolvedNames,
	})
	return pod.Static{
		Name: coredns, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App:       p.Flavour().Short + "-infra-coredns",
		Processes: true, // the monitor sends CoreDNS a signal after a new Corefile
		Init: []pod.Container{{
			Name: "coredns-prepare", Image: own,
			Command: []string{program, "monitor", "dns", "--role=" + string(r), "--once"},
			Mounts:  reads,
		}},
		Containers: []pod.Container{{
			Name: coredns, Image: p.Images[spec.CoreDNSImage],
			Command:      []string{"coredns", "-conf", coreDNSDir.Host + "/Corefile"},
			Capabilities: []string{"NET_BIND_SERVICE"}, // port 53, nothing else
			Mounts:       []pod.Mount{{Volume: coreDNSDir}},
			Ports: []pod.Port{
				{Name: "dns", Number: p.Ports[port.DNS], UDP: true},
				{Name: "dns-tcp", Number: p.Ports[port.DNS]},
				{Name: "health", Number: p.Ports[port.CoreDNSHealth]},
			},
			Startup:  monitor.Probe(p, port.CoreDNSHealth, "/health", 60),
			Liveness: monitor.Probe(p, port.CoreDNSHealth, "/health", 3),
		}, {
			Name: coredns + "-monitor", Image: own,
			Command: []string{program, "monitor", "dns", "--role=" + string(r)},
			// It needs none. But a process may read the memory and files of another one of the same
			// user that has no more capabilities: CoreDNS, which listens to any host, could read
			// kubelet's credentials.
			Capabilities: []string{"KILL"},
			Mounts:       reads,
			Startup:      monitor.Started(p, port.MonitorDNS),
			Liveness:     monitor.Alive(p, port.MonitorDNS),
		}},
	}
}

// publisherPod needs neither credentials for the API nor a capability: its port is above 1024.
func publisherPod(p plan.Plan, r role.Role) pod.Static {
	return pod.Static{
		Name: publisher, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App: p.Flavour().Short + "-infra-mdns",
		Containers: []pod.Container{{
			Name: publisher, Image: p.Images[spec.RuntimeCfgImage],
			Command: []string{program, "monitor", "mdns", "--role=" + string(r)},
			Mounts: []pod.Mount{{Volume: monitor.Cluster}, {Volume: monitor.NodeIP}, {
				Volume: hostnameDir,
			}},
			Startup:  monitor.Started(p, port.MonitorMDNS),
			Liveness: monitor.Alive(p, port.MonitorMDNS),
		}},
	}
}

// bootsPod answers hosts that boot, on the node with the provisioning address. dnsmasq runs while
// its monitor orders it: its parent in the same container is a copy of keepalived's supervisor.
func bootsPod(p plan.Plan) pod.Static {
	reads := pod.Mount{Volume: bootFiles, Path: layout.State}
	writes := reads
	writes.Writable = true
	shared := pod.Mount{Volume: bootRun, Path: layout.Run, Writable: true}
	ironic := p.Images[spec.IronicImage]
	return pod.Static{
		Name: boots, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App: p.Flavour().Short + "-infra-provisioning",
		Init: []pod.Container{
			pod.InstallSupervisor(p.Images[spec.RuntimeCfgImage]),
			{Name: "boot-programs", Image: ironic, Command: programs.Copy(),
				Mounts: []pod.Mount{writes}},
		},
		Containers: []pod.Container{{
			Name: "dnsmasq", Image: ironic,
			Command: append([]string{pod.Supervisor, "--order", layout.Ordered, "--"},
				layout.Dnsmasq()...),
			// Ports below 1024; frames to hosts without an address; the kernel's neighbours of
			// those hosts.
			Capabilities: []string{"NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW"},
			Mounts:       []pod.Mount{pod.SupervisorMount(), writes, shared},
		}, {
			Name: "dnsmasq-monitor", Image: p.Images[spec.RuntimeCfgImage],
			Command: []string{program, "monitor", "dhcp"},
			// NET_ADMIN: the packet filter around dnsmasq. NET_RAW: it watches for other servers.
			Capabilities: []string{"NET_ADMIN", "NET_RAW"},
			Mounts: []pod.Mount{{Volume: monitor.Cluster}, {Volume: monitor.NodeIP}, writes,
				shared},
			Startup:  monitor.Started(p, port.MonitorDHCP),
			Liveness: monitor.Alive(p, port.MonitorDHCP),
		}},
	}
}

// Sees reports whether monitors see a file in one of the directories of certificates.
func Sees(p plan.Plan, file string) bool { return monitor.Sees(p, file) }

// CertificateDirectories are the directories of certificates that monitors see.
func CertificateDirectories(p plan.Plan) []string { return monitor.CertificateDirectories(p) }
