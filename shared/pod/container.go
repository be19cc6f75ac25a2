package pod

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// source makes a directory of the host's when it is not there: a pod would wait for it for ever.
func source(v Volume) corev1.VolumeSource {
	if v.Host == "" {
		limit := resource.MustParse(memory)
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit}}
	}
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: v.Host, Type: new(corev1.HostPathDirectoryOrCreate)}}
}

func container(c Container) corev1.Container {
	return corev1.Container{
		Name:                     c.Name,
		Image:                    c.Image,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Command:                  c.Command,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("200Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities(c.Capabilities)},
		},
		Ports:          ports(c.Ports),
		VolumeMounts:   volumeMounts(c.Mounts),
		StartupProbe:   ending(probe(c.Startup)),
		LivenessProbe:  ending(probe(c.Liveness)),
		ReadinessProbe: probe(c.Readiness),
	}
}

func capabilities(names []string) []corev1.Capability {
	var list []corev1.Capability
	for _, name := range slices.Sorted(slices.Values(names)) {
		list = append(list, corev1.Capability(name))
	}
	return list
}

// volumeMounts are in the order of their paths, so that none hides another that lies below it.
func volumeMounts(mounts []Mount) []corev1.VolumeMount {
	var list []corev1.VolumeMount
	for _, m := range mounts {
		vm := corev1.VolumeMount{Name: m.Volume.Name, MountPath: m.at(), ReadOnly: !m.Writable}
		if m.Volume.Host != "" {
			vm.MountPropagation = new(corev1.MountPropagationHostToContainer)
		}
		list = append(list, vm)
	}
	slices.SortFunc(list, func(a, b corev1.VolumeMount) int { return cmp.Compare(a.MountPath, b.MountPath) })
	return list
}

// ports are claimed under the numbers that the containers listen on: they are the host's.
func ports(list []Port) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, p := range list {
		protocol := corev1.ProtocolTCP
		if p.UDP {
			protocol = corev1.ProtocolUDP
		}
		out = append(out, corev1.ContainerPort{Name: p.Name, ContainerPort: int32(p.Number), HostPort: int32(p.Number), Protocol: protocol})
	}
	return out
}

// ending is a probe whose failure ends the container.
func ending(p *corev1.Probe) *corev1.Probe {
	if p != nil {
		p.TerminationGracePeriodSeconds = new(int64(hung / time.Second))
	}
	return p
}

func probe(p *Probe) *corev1.Probe {
	if p == nil {
		return nil
	}
	get := &corev1.HTTPGetAction{Path: p.Path, Port: intstr.FromInt32(int32(p.Port)), Scheme: corev1.URISchemeHTTP}
	if p.Host.IsValid() {
		get.Host = p.Host.String()
	}
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: get},
		PeriodSeconds:    int32(p.Every / time.Second),
		TimeoutSeconds:   int32(p.Timeout / time.Second),
		FailureThreshold: int32(p.Failures),
		SuccessThreshold: 1,
	}
}
