//go:build remote

package podman

import (
	"syscall"

	"github.com/containers/image/v5/manifest"
	"github.com/containers/podman/v4/libpod/define"
	"github.com/containers/podman/v4/pkg/specgen"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// generate translates a specification for podman. It overrides what the image would add (user,
// working directory, volumes, a health check that forks), so that the specification alone decides.
// Limits are left to the host's containers.conf.
func generate(spec container.Spec) *specgen.SpecGenerator {
	g := specgen.NewSpecGenerator(spec.Image, false)
	term := syscall.SIGTERM

	g.Name = spec.Name
	g.Labels = map[string]string{label: spec.Digest()}
	g.Entrypoint = spec.Command
	g.Env = spec.Env
	g.WorkDir = "/"
	g.StopSignal = &term
	g.Systemd = "false"
	g.RestartPolicy = define.RestartPolicyNo
	g.HealthConfig = &manifest.Schema2HealthConfig{Test: []string{"NONE"}}

	g.User = "0:0"
	g.CapDrop = []string{"all"}
	g.CapAdd = spec.Capabilities
	g.NoNewPrivileges = true
	g.SelinuxOpts = []string{"disable"}
	// for podman inspect
	g.Annotations = map[string]string{define.InspectAnnotationLabel: "disable"}
	g.NetNS = specgen.Namespace{NSMode: specgen.Host}

	g.ReadOnlyFilesystem = true
	g.ImageVolumeMode = "ignore"
	for _, m := range spec.Mounts {
		g.Mounts = append(g.Mounts, bind(m))
	}
	for _, dir := range spec.Tmpfs {
		g.Mounts = append(g.Mounts, specs.Mount{
			Type: "tmpfs", Source: "tmpfs", Destination: dir,
			Options: []string{"rw", "nosuid", "nodev", "noexec", "mode=0755"},
		})
	}
	return g
}

// bind mounts privately: mounts in the container do not reach the host, and later mounts of the
// host do not reach the container.
func bind(m container.Mount) specs.Mount {
	access := "rw"
	if m.ReadOnly {
		access = "ro"
	}
	return specs.Mount{Type: "bind", Source: m.Source, Destination: m.Target, Options: []string{
		"rbind", "rprivate", access,
	}}
}
