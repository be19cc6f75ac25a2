package mco

import (
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The operator's bootstrap command knows four files by name and puts two of them where the
// bootstrap machine's kubelet reads manifests, and two where the pods of the first find their
// resources. Each of the latter carries cluster.json, the one for CoreDNS alone where a balancer is
// the user's own.

// Where the bootstrap machine has cluster.json, for each pod.
const (
	resources      = "/etc/kubernetes/static-pod-resources/"
	KeepalivedFile = resources + "keepalived/keepalived.conf.tmpl"
	CoreDNSFile    = resources + "coredns/Corefile.tmpl"
)

// bootstrapManifests are the four files. The images in the pods are those that the bootstrap
// command has under names of their own.
func bootstrapManifests(b *asset.Builder, p plan.Plan) {
	inSpec := strings.NewReplacer("onPremPlatformShortName .", "onPremPlatformShortName .ControllerConfig", "{{ .Images."+spec.KeepalivedImage, "{{ .Images.KeepalivedBootstrap",
		"{{ .Images."+spec.CoreDNSImage, "{{ .Images.CorednsBootstrap", "{{ .Images."+spec.RuntimeCfgImage, "{{ .Images.BaremetalRuntimeCfgBootstrap")
	for _, s := range BootstrapPods(p) {
		b.File("/manifests/"+layer+"/"+s.Name+".yaml", 0o644, []byte(inSpec.Replace(text(pod.Render(s)))))
	}
	json := "{{ with .ControllerConfig -}}\n" + clusterJSON(plan.Encode(p), bootstrapFields()) + "{{ end -}}\n"
	for _, name := range []string{"keepalived.conf.tmpl", "coredns-corefile.tmpl"} {
		b.File("/manifests/"+layer+"/"+name, 0o644, []byte(json))
	}
}

// BootstrapPods are the static pods of a bootstrap machine that the operator's manifests drive:
// keepalived's and CoreDNS's. Each has the daemon beside the same program that has systemd and
// podman run it elsewhere. Which of the two there are the operator decides, by the balancer's type.
func BootstrapPods(p plan.Plan) []pod.Static {
	return []pod.Static{bootstrapKeepalived(p), bootstrapCoreDNS(p)}
}

// program is ours in its own image.
const program = "/usr/bin/onprem-infra"

// kubeconfig is that of the bootstrap machine; it may appear minutes later.
const kubeconfig = "/etc/kubernetes/kubeconfig"

// The directories that the pods share with the machine. That of the kubeconfig holds cluster.json
// too.
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
	supervisor    = pod.Volume{Name: "supervise"}
	run           = pod.Volume{Name: "run"}
	tmp           = pod.Volume{Name: "tmp"}
)

func bootstrapKeepalived(p plan.Plan) pod.Static {
	const binary = "/supervise/onprem-supervise"
	health := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.Supervise])
	asks := func(failures int) *pod.Probe {
		return &pod.Probe{Host: health.Addr(), Port: health.Port(), Path: "/healthz", Every: 5 * time.Second, Timeout: 5 * time.Second, Failures: failures}
	}
	command := []string{binary, "--config", keepalived.Dir + "/" + keepalived.File, "--run-dir", keepalivedRun.Host, "--cluster", KeepalivedFile,
		"--health", health.String()}
	options, capabilities := p.BootstrapKeepalived()
	shared := pod.Mount{Volume: keepalivedRun, Writable: true}
	return pod.Static{
		Name: "keepalived", Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-vrrp",
		Init: []pod.Container{{
			Name: "install-supervise", Image: p.Images[spec.RuntimeCfgImage], Command: []string{"/usr/bin/onprem-supervise", "--install", binary},
			Mounts: []pod.Mount{{Volume: supervisor, Path: path.Dir(binary), Writable: true}},
		}},
		Containers: []pod.Container{{
			Name: "keepalived", Image: p.Images[spec.KeepalivedImage], Command: append(append(command, options...), "--", "keepalived"),
			Capabilities: capabilities,
			Mounts: []pod.Mount{{Volume: keepalivedIn}, {Volume: keepalivedDir, Path: keepalived.Dir, Writable: true}, shared, {Volume: supervisor, Path: path.Dir(binary)},
				{Volume: run, Path: "/run", Writable: true}, {Volume: tmp, Path: "/tmp", Writable: true}},
			Startup: asks(60), Liveness: asks(3),
		}, {
			Name: "keepalived-monitor", Image: p.Images[spec.RuntimeCfgImage],
			Command:      []string{program, "bootstrap", "run", "vip", "--in-pod", "--cluster", KeepalivedFile, "--kubeconfig", kubeconfig},
			Capabilities: []string{"NET_RAW"}, // it hears VRRP, whoever sends it
			Mounts:       []pod.Mount{{Volume: kubernetes}, {Volume: state, Writable: true}, shared},
		}},
	}
}

func bootstrapCoreDNS(p plan.Plan) pod.Static {
	own := p.Images[spec.RuntimeCfgImage]
	command := []string{program, "bootstrap", "run", "dns", "--in-pod", "--cluster", CoreDNSFile}
	mounts := []pod.Mount{{Volume: coreDNSFile}, {Volume: coreDNSDir, Writable: true}, {Volume: networkNames}, {Volume: resolvedNames}}
	return pod.Static{
		Name: "coredns", Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations, App: p.Flavour().Short + "-infra-coredns",
		Processes: true, // our program tells CoreDNS of a new Corefile by a signal
		Init:      []pod.Container{{Name: "coredns-prepare", Image: own, Command: append(command[:len(command):len(command)], "--once"), Mounts: mounts}},
		Containers: []pod.Container{{
			Name: "coredns", Image: p.Images[spec.CoreDNSImage], Command: []string{"coredns", "-conf", coreDNSDir.Host + "/Corefile"},
			Capabilities: []string{"NET_BIND_SERVICE"}, // port 53, nothing else
			Mounts:       []pod.Mount{{Volume: coreDNSDir}},
		}, {
			// It needs no capability but has one that CoreDNS has not, so that CoreDNS, which
			// listens to everybody, may not look into its memory.
			Name: "coredns-monitor", Image: own, Command: command, Capabilities: []string{"KILL"}, Mounts: mounts,
		}},
	}
}
