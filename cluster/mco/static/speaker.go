package static

import (
	"net/netip"
	"path"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// The directories of the host's files that the pod makes, and of those that its programs share.
var (
	routersIn    = pod.Volume{Name: "routers", Host: path.Dir(RoutersFile)}
	description  = pod.Volume{Name: "cluster", Host: path.Dir(plan.Path)}
	passwords    = pod.Volume{Name: "speaker-passwords", Host: path.Dir(spoken.PasswordsFile)}
	speakerRun   = pod.Volume{Name: "speaker-run", Host: spoken.RunDir}
	speakerState = pod.Volume{Name: "state", Host: "/var/lib/onprem-infra/speaker"}
)

// Speaker is the pod of a bootstrap machine that announces the API VIP to its routers, in the place
// of keepalived's. The first container makes the host's description and the file of passwords, as
// a unit does on nodes; the pod's others, and the host's status, read these.
func Speaker(p plan.Plan) pod.Static {
	own, run := p.Images[spec.RuntimeCfgImage], pod.Mount{Volume: speakerRun, Writable: true}
	health := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.Speaker])
	probe := func(failures int) *pod.Probe {
		return &pod.Probe{
			Host: health.Addr(), Port: health.Port(), Path: "/healthz", Every: 5 * time.Second,
			Timeout: 5 * time.Second, Failures: failures,
		}
	}
	return pod.Static{
		Name: "speaker", Namespace: p.Namespace, Annotations: p.Flavour().PodAnnotations,
		App: p.Flavour().Short + "-infra-bgp",
		Init: []pod.Container{{
			Name: "describe", Image: own,
			Command: []string{program, "describe", "--from", RoutersFile},
			Mounts: []pod.Mount{
				{Volume: routersIn}, {Volume: description, Writable: true},
				{Volume: passwords, Writable: true},
			},
		}, pod.InstallSpeaker(own)},
		Containers: []pod.Container{{
			Name: "speaker", Image: p.Images[spec.FRRImage],
			Command:      spoken.Command(pod.Speaker, p.BGP.Fastest(), "--health", health.String()),
			Capabilities: spoken.Capabilities(p.BGP.Fastest()),
			Mounts: append([]pod.Mount{run, {Volume: passwords}},
				pod.SpeakerMounts()...),
			Startup: probe(60), Liveness: probe(3),
		}, {
			Name: "speaker-monitor", Image: own,
			Command: []string{
				program, "bootstrap", "run", "speaker", "--in-pod", "--kubeconfig", kubeconfig,
			},
			Mounts: []pod.Mount{
				{Volume: kubernetes}, {Volume: description}, {Volume: speakerState, Writable: true},
				run,
			},
		}},
	}
}

// NoPod is the text of a manifest in which kubelet finds no pod: the operator's bootstrap command
// writes a file of each name that it knows, kube-vip's too.
const NoPod = "# The pod of 0000-frr-k8s.yaml announces the VIPs: there is no kube-vip here.\n"
