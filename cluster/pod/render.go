package pod

import (
	"cmp"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

const (
	// grace is how long a container may take to exit, as on OpenShift's nodes.
	grace = 65 * time.Second

	// hung is how long a container that no longer answers may take to exit: it does nothing in that
	// time.
	hung = 5 * time.Second

	// priority is that of the class system-node-critical. When the node shuts down kubelet sorts
	// static pods by number and knows no classes: pods without a number would be stopped first.
	priority      = 2000001000
	priorityClass = "system-node-critical"

	// memory is the limit of a directory in memory.
	memory = "64Mi"
)

// Render writes the manifest of a pod as YAML. Equal pods give equal bytes.
func Render(s Static) []byte { return object.Encode(document(s)) }

func document(s Static) object.Pod {
	seconds := int64(grace / time.Second)
	spec := object.PodSpec{
		HostNetwork: true,
		// The host's resolv.conf; the cluster's DNS may depend on us.
		DNSPolicy:                     "Default",
		Tolerations:                   []object.Toleration{{Operator: "Exists"}},
		Priority:                      new(int32(priority)),
		PriorityClassName:             priorityClass,
		TerminationGracePeriodSeconds: &seconds,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		SecurityContext:               confinement(s),
		Volumes:                       volumes(s.Init, s.Containers),
	}
	if s.Processes {
		spec.ShareProcessNamespace = new(true)
	}
	for _, c := range s.Init {
		spec.InitContainers = append(spec.InitContainers, container(c))
	}
	for _, c := range s.Containers {
		spec.Containers = append(spec.Containers, container(c))
	}
	return object.Pod{
		Head: object.Head{APIVersion: object.Core, Kind: "Pod", Metadata: object.Meta{
			Name: s.Name, Namespace: s.Namespace, Labels: map[string]string{"app": s.App},
			Annotations: s.Annotations,
		}},
		Spec: spec,
	}
}

// confinement runs a pod as the host's root user, which owns the files that it reads. SELinux's
// type for containers may read none of the host's directories, and nothing relabels them: a pod
// that mounts one has the type spc_t.
func confinement(s Static) *object.PodSecurityContext {
	c := &object.PodSecurityContext{
		RunAsUser:      new(int64(0)),
		RunAsGroup:     new(int64(0)),
		SeccompProfile: &object.SeccompProfile{Type: "RuntimeDefault"},
	}
	onHost := func(m Mount) bool { return m.Volume.Host != "" }
	if slices.ContainsFunc(mounts(s.Init, s.Containers), onHost) {
		c.SELinuxOptions = &object.SELinuxOptions{Type: "spc_t"}
	}
	return c
}

func mounts(init, containers []Container) []Mount {
	var all []Mount
	for _, c := range slices.Concat(init, containers) {
		all = append(all, c.Mounts...)
	}
	return all
}

// volumes are those of all mounts, by name, each once.
func volumes(init, containers []Container) []object.Volume {
	var list []object.Volume
	for _, m := range mounts(init, containers) {
		if !slices.ContainsFunc(list, func(v object.Volume) bool {
			return v.Name == m.Volume.Name
		}) {
			list = append(list, object.Volume{Name: m.Volume.Name, VolumeSource: source(m.Volume)})
		}
	}
	slices.SortFunc(list, func(a, b object.Volume) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
