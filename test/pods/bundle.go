package pods

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
)

// Image unpacks an image, path in the image -> file of this machine, as the root file system dir.
func Image(dir string, tree map[string]string) error { return install(dir, tree) }

func install(dir string, tree map[string]string) error {
	for _, sub := range []string{"etc", "proc", "dev", "sys", "run", "tmp", "var"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for path, source := range tree {
		if err := copyFile(filepath.Join(dir, path), source); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(target, source string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// bundle writes what runc needs to run a container of the pod.
func (p *pod) bundle(c *corev1.Container) (string, error) {
	root, ok := p.node.images[c.Image]
	if !ok {
		return "", fmt.Errorf("image %q is not on this machine", c.Image)
	}
	spec := p.specification(root, append(append([]string{}, c.Command...), c.Args...))
	for _, e := range c.Env {
		spec.Process.Env = append(spec.Process.Env, e.Name+"="+e.Value)
	}
	if s := c.SecurityContext; s != nil {
		spec.Root.Readonly = s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem
		spec.Process.NoNewPrivileges = s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation
		if s.Privileged != nil && *s.Privileged {
			return "", errors.New("privileged containers are not run here")
		}
		if s.Capabilities != nil {
			spec.Process.Capabilities = capabilities(s.Capabilities.Add)
			spec.Hooks = hooks(s.Capabilities.Add)
		}
	}
	for _, m := range c.VolumeMounts {
		source, err := p.volume(m.Name)
		if err != nil {
			return "", err
		}
		options := []string{"rbind", "rprivate"}
		if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationHostToContainer {
			options = []string{"rbind", "rslave"}
		}
		if m.ReadOnly {
			options = append(options, "ro")
		}
		spec.Mounts = append(spec.Mounts, specs.Mount{Destination: m.MountPath, Type: "bind", Source: filepath.Join(source, m.SubPath), Options: options})
	}
	return p.write(c.Name, spec)
}

func (p *pod) write(name string, spec *specs.Spec) (string, error) {
	dir := filepath.Join(p.node.dir, "bundles", p.manifest.Name, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644)
}

// specification is a container without values of the manifest: no capability, the host's network,
// the pod's processes.
func (p *pod) specification(root string, command []string) *specs.Spec {
	processes := specs.LinuxNamespace{Type: specs.PIDNamespace}
	if p.pause != nil {
		if pid, err := p.pause.pid(); err == nil {
			processes.Path = fmt.Sprintf("/proc/%d/ns/pid", pid)
		}
	}
	return &specs.Spec{
		Version:  "1.0.2",
		Root:     &specs.Root{Path: root},
		Hostname: p.node.Host.Name,
		Process: &specs.Process{
			Args: command, Cwd: "/", Capabilities: capabilities(nil),
			Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "HOSTNAME=" + p.node.Host.Name},
		},
		Mounts: []specs.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
			{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
			{Destination: "/sys", Type: "none", Source: "/sys", Options: []string{"rbind", "nosuid", "noexec", "nodev", "ro"}},
			{Destination: "/etc/hosts", Type: "bind", Source: filepath.Join(p.node.Root, "etc/hosts"), Options: []string{"rbind", "ro"}},
			{Destination: "/etc/resolv.conf", Type: "bind", Source: filepath.Join(p.node.Root, "etc/resolv.conf"), Options: []string{"rbind", "ro"}},
		},
		Linux: &specs.Linux{
			Namespaces: []specs.LinuxNamespace{
				processes, {Type: specs.NetworkNamespace, Path: p.node.Host.Path()},
				{Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace},
			},
			Resources: &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}},
		},
	}
}

// hooks let a container that may be real-time be so on a kernel that schedules real-time by control
// groups, whose share is zero until it is set: a twentieth of a processor. Such a kernel does not
// always have as much left, and most kernels have no such share.
func hooks(add []corev1.Capability) *specs.Hooks {
	if !slices.Contains(add, "SYS_NICE") {
		return nil
	}
	const share = `cd "/sys/fs/cgroup/cpu/$(sed 's/.*"id": *"\([^"]*\)".*/\1/')" && echo 100000 >cpu.rt_period_us && echo 5000 >cpu.rt_runtime_us; exit 0`
	return &specs.Hooks{CreateRuntime: []specs.Hook{{Path: "/bin/sh", Args: []string{"sh", "-c", share}}}}
}

func capabilities(add []corev1.Capability) *specs.LinuxCapabilities {
	var names []string
	for _, c := range add {
		names = append(names, "CAP_"+string(c))
	}
	return &specs.LinuxCapabilities{Bounding: names, Effective: names, Permitted: names}
}
