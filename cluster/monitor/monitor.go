// Package monitor is what the containers of a node's monitors have in common: what they see of the
// host, and how kubelet probes them.
package monitor

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Cluster and NodeIP are the directories of the host with the cluster description, and with the
// node's address as kubelet has it.
var (
	Cluster = pod.Volume{Name: "cluster", Host: path.Dir(plan.Path)}
	NodeIP  = pod.Volume{Name: "node-ip", Host: "/run/nodeip-configuration"}
)

var (
	certificates = pod.Volume{Name: "kubelet-pki", Host: "/var/lib/kubelet/pki"} // and the plan's
	state        = pod.Volume{Name: "state", Host: "/var/lib/onprem-infra"}
)

// Mounts are the mounts of every monitor: the cluster description, kubelet's kubeconfig with its
// certificates, the node's address as kubelet has it, and the state that survives reboots.
//
// They see nothing else of kubelet's directory, which holds the secrets and volumes of every pod.
// kubelet replaces certificates in a directory of their own, which is mounted as a whole. The
// kubeconfig is mounted as a file, because an administrator's kubeconfig and the keys of the
// cluster's CAs may be beside it. kubelet has it before it starts a pod and writes it in place. If
// a program replaces the file, monitors exit and kubelet starts them with the new one. The volume's
// type has the pod wait for the file; for a container that starts later kubelet checks nothing.
func Mounts(p plan.Plan) []pod.Mount {
	mounts := []pod.Mount{{Volume: Cluster}, {Volume: certificates}, {Volume: NodeIP}, {
		Volume: state, Writable: true,
	}}
	for i, dir := range p.CertificateDirectories {
		mounts = append(mounts, pod.Mount{
			Volume: pod.Volume{Name: fmt.Sprintf("certificates-%d", i), Host: dir},
		})
	}
	if !Sees(p, p.Kubeconfig) { // otherwise its directory is mounted
		mounts = append(mounts, pod.Mount{
			Volume: pod.Volume{Name: "kubeconfig", Host: p.Kubeconfig, File: true},
		})
	}
	return mounts
}

// Sees reports whether monitors see a file in one of the directories of certificates.
func Sees(p plan.Plan, file string) bool {
	return slices.ContainsFunc(CertificateDirectories(p), func(dir string) bool {
		return spec.Within(file, dir)
	})
}

// CertificateDirectories are the directories of certificates that monitors see.
func CertificateDirectories(p plan.Plan) []string {
	return append([]string{certificates.Host}, p.CertificateDirectories...)
}

// Loopback is where monitors listen for kubelet.
var Loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Probe is an HTTP probe of a container, every 5 s, at the port that the plan has for a name.
func Probe(p plan.Plan, name, path string, failures int) *pod.Probe {
	return &pod.Probe{
		Host: Loopback, Port: p.Ports[name], Path: path, Every: 5 * time.Second,
		Timeout: 5 * time.Second, Failures: failures,
	}
}

// Alive restarts a monitor that has hung for longer than any of its steps takes.
func Alive(p plan.Plan, name string) *pod.Probe { return Probe(p, name, "/healthz", 6) }

// Started waits for a monitor as long as a host may need to start all of its pods at once.
func Started(p plan.Plan, name string) *pod.Probe { return Probe(p, name, "/healthz", 60) }
