package pod

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// source has a missing directory of the host created: a pod would wait for it for ever.
func source(v Volume) object.VolumeSource {
	switch {
	case v.Host != "":
		kind := "DirectoryOrCreate"
		if v.File {
			kind = "File"
		}
		return object.VolumeSource{HostPath: &object.HostPath{Path: v.Host, Type: kind}}
	case v.Disk:
		return object.VolumeSource{EmptyDir: &object.EmptyDir{}}
	case v.ConfigMap != "":
		return object.VolumeSource{ConfigMap: &object.NamedSource{Name: v.ConfigMap}}
	case v.Claim != "":
		return object.VolumeSource{Claim: &object.Claim{ClaimName: v.Claim}}
	case v.Secret != "":
		s := &object.SecretSource{SecretName: v.Secret, DefaultMode: new(int32(0o440))}
		for _, key := range v.Keys {
			s.Items = append(s.Items, object.Item{Key: key, Path: key})
		}
		return object.VolumeSource{Secret: s}
	case v.Account:
		return object.VolumeSource{Projected: &object.Projected{Sources: []object.Projection{
			{Token: &object.Token{Path: "token", ExpirationSeconds: int64(token / time.Second)}},
			{ConfigMap: &object.NamedSource{Name: "kube-root-ca.crt",
				Items: []object.Item{{Key: "ca.crt", Path: "ca.crt"}}}},
		}}}
	}
	return object.VolumeSource{EmptyDir: &object.EmptyDir{Medium: "Memory", SizeLimit: memory}}
}

// token is how long a token lasts; kubelet replaces it before.
const token = time.Hour

func container(c Container) object.Container {
	return object.Container{
		Name:                     c.Name,
		Image:                    c.Image,
		ImagePullPolicy:          "IfNotPresent",
		Command:                  c.Command,
		Env:                      variables(c.Env),
		TerminationMessagePolicy: "FallbackToLogsOnError",
		Resources: &object.Resources{
			Requests: map[string]string{"cpu": "100m", "memory": "200Mi"},
		},
		SecurityContext: &object.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities: &object.Capabilities{
				Drop: []string{"ALL"}, Add: slices.Sorted(slices.Values(c.Capabilities)),
			},
		},
		Ports:          ports(c.Ports),
		VolumeMounts:   volumeMounts(c.Mounts),
		StartupProbe:   ending(probe(c.Startup)),
		LivenessProbe:  ending(probe(c.Liveness)),
		ReadinessProbe: probe(c.Readiness),
	}
}

// variables are sorted by name.
func variables(env map[string]string) (list []object.Variable) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, object.Variable{Name: name, Value: env[name]})
	}
	return list
}

// volumeMounts are sorted by path, so that none hides another below it.
func volumeMounts(mounts []Mount) []object.VolumeMount {
	var list []object.VolumeMount
	for _, m := range mounts {
		vm := object.VolumeMount{Name: m.Volume.Name, MountPath: m.at(), ReadOnly: !m.Writable}
		if m.Volume.Host != "" {
			vm.MountPropagation = "HostToContainer"
		}
		list = append(list, vm)
	}
	slices.SortFunc(list, func(a, b object.VolumeMount) int {
		return cmp.Compare(a.MountPath, b.MountPath)
	})
	return list
}

// ports are the host's ports on which the containers listen.
func ports(list []Port) []object.ContainerPort {
	var out []object.ContainerPort
	for _, p := range list {
		protocol := "TCP"
		if p.UDP {
			protocol = "UDP"
		}
		out = append(out, object.ContainerPort{
			Name: p.Name, ContainerPort: int32(p.Number), HostPort: int32(p.Number),
			Protocol: protocol,
		})
	}
	return out
}

// ending is a probe whose failure kills the container.
func ending(p *object.Probe) *object.Probe {
	if p != nil {
		p.TerminationGracePeriodSeconds = new(int64(hung / time.Second))
	}
	return p
}

func probe(p *Probe) *object.Probe {
	if p == nil {
		return nil
	}
	get := &object.HTTPGet{Path: p.Path, Port: int32(p.Port), Scheme: "HTTP"}
	if p.TLS {
		get.Scheme = "HTTPS"
	}
	if p.Host.IsValid() {
		get.Host = p.Host.String()
	}
	return &object.Probe{
		HTTPGet:          get,
		PeriodSeconds:    int32(p.Every / time.Second),
		TimeoutSeconds:   int32(p.Timeout / time.Second),
		FailureThreshold: int32(p.Failures),
		SuccessThreshold: 1,
	}
}
