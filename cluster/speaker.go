package cluster

import (
	"net/netip"
	"path"

	"github.com/onprem-infra/onprem-infra/cluster/monitor"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// speaker is the name of the pod, and of the container with FRR.
const speaker = "speaker"

var (
	speakerRun = pod.Volume{Name: "speaker-run", Host: spoken.RunDir}
	passwords  = pod.Volume{Name: "speaker-passwords", Host: path.Dir(spoken.PasswordsFile)}
)

// speakerPod announces VIPs to the node's routers. No probe asks FRR's daemons: a restart of them
// ends all sessions. Their parent asks them, and answers for itself alone.
func speakerPod(p plan.Plan, r role.Role) pod.Static {
	by, _ := speaks.Of(p)
	health := netip.AddrPortFrom(monitor.Loopback, by.Ports[port.Speaker]).String()
	s := pod.Static{
		Name: speaker, Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App:  p.Flavour().Short + "-infra-bgp",
		Init: []pod.Container{pod.InstallSpeaker(p.Images[spec.RuntimeCfgImage])},
		Containers: []pod.Container{{
			Name: speaker, Image: p.Images[spec.FRRImage],
			Command:      spoken.Command(pod.Speaker, by.BGP.Fastest(), "--health", health),
			Capabilities: spoken.Capabilities(by.BGP.Fastest()),
			Mounts: append([]pod.Mount{
				{Volume: speakerRun, Writable: true}, {Volume: passwords},
			}, pod.SpeakerMounts()...),
			Startup: monitor.Started(by, port.Speaker), Liveness: monitor.Alive(by, port.Speaker),
		}},
	}
	if !p.NodeRuns(r).VIP { // otherwise it is beside keepalived
		s.Containers = append(s.Containers, vipMonitor(p, r, speaker))
	}
	return s
}

// vipMonitor is the container of the monitor of VIPs, beside the daemon that it works for.
func vipMonitor(p plan.Plan, r role.Role, beside string) pod.Container {
	// The speaker's directory is there without a speaker too: keepalived's pod stays as it is, and
	// the VIP with it, when the nodes begin or end to announce VIPs.
	reads := append(monitor.Mounts(p), pod.Mount{Volume: keepalivedRun, Writable: true},
		pod.Mount{Volume: speakerRun, Writable: true})
	if p.Flavour().Routers {
		reads = append(reads, pod.Mount{Volume: podResources}) // which ingress router runs here
	}
	return pod.Container{
		Name: beside + "-monitor", Image: p.Images[spec.RuntimeCfgImage],
		Command: []string{program, "monitor", "vip", "--role=" + string(r)},
		// NET_ADMIN: it reads the redirect from netfilter and removes orphaned VIPs. NET_RAW:
		// it receives VRRP from any router, by a socket with a filter. With NET_ADMIN on the
		// host's network a process can log or change all packets, so NET_RAW adds nothing.
		// keepalived's supervisor has both, but must not be kept busy by a host that floods the
		// link.
		Capabilities: []string{"NET_ADMIN", "NET_RAW"},
		Mounts:       reads,
		Startup:      monitor.Started(p, port.MonitorVIP),
		Liveness:     monitor.Alive(p, port.MonitorVIP),
	}
}

// routes adds the files of a node that announces VIPs.
func routes(b *asset.Builder, passwords []byte) {
	if passwords != nil {
		b.File(spoken.PasswordsFile, 0o600, passwords)
	}
}
