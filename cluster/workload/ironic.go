package workload

import (
	"fmt"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	config "github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/programs"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	// program is the path of onprem-infra in its own image.
	program = "/usr/bin/onprem-infra"
	// away is how long a node may be not ready or unreachable until Ironic starts on another one. A
	// host that is being written would have to begin again, so a kubelet that restarts must fit in.
	away = 30 * time.Second
	// grace is more than Ironic and the server take to end.
	grace = 30 * time.Second
	// start is more than Ironic needs to make its database on a slow disk.
	start = 10 * time.Minute
	// every is the time between two probes, and answer more than a busy Ironic takes for one.
	every  = 5 * time.Second
	answer = 5 * time.Second
)

// The directories of the pod.
var (
	given = pod.Mount{Volume: pod.Volume{Name: "configuration", ConfigMap: Ironic},
		Path: path.Dir(plan.Path)}
	account = pod.Mount{Volume: pod.Volume{Name: "account", Account: true},
		Path: "/var/run/secrets/kubernetes.io/serviceaccount"}
	state = pod.Mount{Volume: pod.Volume{Name: "state", Disk: true}, Path: layout.State,
		Writable: true}
	rendered = pod.Mount{Volume: pod.Volume{Name: "rendered"}, Path: path.Dir(layout.IronicConf)}
	// In memory, as they are secret.
	tls  = pod.Mount{Volume: pod.Volume{Name: "tls"}, Path: path.Dir(layout.Certificate)}
	auth = pod.Mount{Volume: pod.Volume{Name: "auth"}, Path: path.Dir(layout.Htpasswd)}
)

func writable(m pod.Mount) pod.Mount {
	m.Writable = true
	return m
}

// temporary is a directory in memory of one container.
func temporary(name, path string) pod.Mount {
	return pod.Mount{Volume: pod.Volume{Name: name}, Path: path, Writable: true}
}

// hidden is an empty directory in place of one that a container is not to see.
func hidden(name, path string) pod.Mount {
	return pod.Mount{Volume: pod.Volume{Name: "hidden-" + name}, Path: path}
}

// database is a volume of the cluster's, if the description names one: then hosts keep their nodes
// in Ironic when it moves to another node. Otherwise metal3's operator makes them anew.
func database(p plan.Plan) []pod.Mount {
	claim := p.Provisioning.VolumeClaim
	if claim == "" {
		return nil
	}
	return []pod.Mount{{Volume: pod.Volume{Name: "database", Claim: claim},
		Path: layout.Database, Writable: true}}
}

// ironic is the pod with Ironic. Its first containers copy what hosts boot out of images, and write
// what the others read; only the one that makes the identity has an account in the API.
func ironic(p plan.Plan, ca string) object.Object {
	w := pod.Workload{Name: Ironic, Namespace: metal3.Namespace(p),
		Labels:      map[string]string{object.ManagedBy: object.Program},
		Annotations: revision(p, ca), HostNetwork: true, ControlPlane: p.ControlPlaneLabel,
		Away: away, Account: Ironic, Grace: grace}
	w.Init = append(copies(p), pod.Container{
		Name: "prepare", Image: p.Images[spec.RuntimeCfgImage],
		Command: []string{program, "monitor", "ironic"},
		Mounts: append([]pod.Mount{given, account, state, writable(rendered), writable(tls),
			writable(auth), temporary("prepare", "/tmp")}, database(p)...),
	})
	w.Containers = []pod.Container{process(p, ca), server(p)}
	return pod.Deployment(w)
}

// process is Ironic itself. It holds no capability: its ports are not privileged, and its files
// are root's. It uses no proxy: BMCs, ramdisks and the server are beside it.
func process(p plan.Plan, ca string) pod.Container {
	env := map[string]string{"HOME": "/tmp", "LC_ALL": "C.UTF-8", "NO_PROXY": "*", "no_proxy": "*"}
	if ca != "" {
		// By these Ironic verifies BMCs and image servers, except where verification is off.
		env["REQUESTS_CA_BUNDLE"] = layout.BMCCA
	}
	paths := config.Machine()
	paths.Data = layout.Database
	asks := func(failures int) *pod.Probe {
		return &pod.Probe{Host: loopback, Port: p.Ports[port.Ironic], Path: "/v1", TLS: true,
			Every: every, Timeout: answer, Failures: failures}
	}
	return pod.Container{
		Name: "ironic", Image: p.Images[spec.IronicImage], Env: env,
		Command: config.Command(layout.IronicConf, paths),
		Mounts: append([]pod.Mount{state, rendered, tls, auth, temporary("tmp", "/tmp"),
			temporary("lock", "/run/lock")}, database(p)...),
		Ports:   []pod.Port{{Name: "ironic", Number: p.Ports[port.Ironic]}},
		Startup: asks(int(start / every)), Liveness: asks(6), Readiness: asks(2),
	}
}

// server serves what hosts fetch. It does not see Ironic's database, which has the accounts of
// BMCs.
func server(p plan.Plan) pod.Container {
	asks := func(failures int) *pod.Probe {
		return &pod.Probe{Host: loopback, Port: p.Ports[port.MonitorHTTP], Path: "/healthz",
			Every: every, Timeout: answer, Failures: failures}
	}
	return pod.Container{
		Name: "http", Image: p.Images[spec.RuntimeCfgImage],
		Command: []string{program, "monitor", "http"},
		Mounts: []pod.Mount{given, state, tls, temporary("http", "/tmp"),
			hidden("ironic", layout.Ironic), hidden("database", layout.Database)},
		Ports: []pod.Port{{Name: "http", Number: p.Ports[port.ProvisioningHTTP]},
			{Name: "media", Number: p.Ports[port.VirtualMedia]}},
		Startup: asks(60), Liveness: asks(12),
	}
}

// loopback is where kubelet probes: the node's programs have no other address in common.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// copies are containers that copy files out of the images that have them. Each image needs a POSIX
// shell with cp, mkdir and mv.
func copies(p plan.Plan) (all []pod.Container) {
	add := func(name, image string, wanted []container.Wanted) {
		all = append(all, pod.Container{Name: name, Image: image,
			Command: []string{"/bin/sh", "-c", script(wanted)}, Mounts: []pod.Mount{state}})
	}
	if image := p.Images[spec.IronicAgentImage]; image != "" {
		var wanted []container.Wanted
		for _, file := range []string{layout.AgentKernel, layout.AgentInitramfs} {
			name := path.Base(file)
			wanted = append(wanted, container.Wanted{Name: name, From: programs.Ramdisk(name)})
		}
		add("copy-ramdisk", image, wanted)
	}
	wanted := []container.Wanted{{Name: Bundle, From: bundles},
		{Name: path.Base(layout.Loader), From: programs.Loader()}}
	for _, one := range []programs.Program{programs.BIOS(), programs.X64(), programs.ARM64()} {
		wanted = append(wanted, container.Wanted{Name: one.Name, From: one.From})
	}
	add("copy-programs", p.Images[spec.IronicImage], wanted)
	return all
}

// Bundle is the name of the certificates that Ironic's image trusts, and bundles where images of
// Debian and of Red Hat have them.
const Bundle = "ca-bundle.crt"

var bundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}

// script copies each wanted file from the first of its paths that the image has. A missing file
// is no error: the server judges which are needed. A file gets its name when it is whole.
func script(wanted []container.Wanted) string {
	var text strings.Builder
	text.WriteString("set -e\n")
	for _, w := range wanted {
		to := path.Join(layout.Copied, w.Name)
		fmt.Fprintf(&text, "mkdir -p %s\nfor from in %s; do\n    test -f $from || continue\n"+
			"    cp $from %s.new\n    mv %s.new %s\n    break\ndone\n",
			path.Dir(to), strings.Join(w.From, " "), to, to, to)
	}
	return text.String()
}
