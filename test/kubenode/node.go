// Package kubenode makes a machine of test/vm a node of a cluster as kubelet sees one: a real
// containerd with images of this machine, and a real kubelet with its unit and its target, which
// runs static pods alone or joins an API.
package kubenode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const (
	dir        = "/opt/node" // of the programs that are not the machine's own
	pauseImage = "localhost/pause:node"
	store      = "/var/lib/containers/containerd" // a file system that overlays can be stacked on
)

// containerd is Debian's. No process here may lower an oom_score_adj, and there is no controller of
// control groups.
const containerdConf = `version = 2
root = "` + store + `"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "` + pauseImage + `"
restrict_oom_score_adj = true
disable_apparmor = true
tolerate_missing_hugetlb_controller = true
disable_hugetlb_controller = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "` + dir + `/runc"
SystemdCgroup = false
`

// cni is a FAKE of a network plugin: pods with a network of their own cannot run here, and the node
// is ready nevertheless.
const cni = `{"cniVersion": "0.4.0", "name": "none", "plugins": [{"type": "loopback"}]}
`

const kubeletConf = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: /etc/kubernetes/manifests
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
evictionHard: {nodefs.available: 0%%, imagefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.inodesFree: 0%%, memory.available: 1Mi}
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}, x509: {clientCAFile: "%s"}}
authorization: {mode: AlwaysAllow}
readOnlyPort: 0
`

// kernel is a FAKE of the kernel's settings and of its log: this machine's own must not be changed,
// and kubelet does not start without.
const kernel = `#!/bin/sh -eu
ln -sf /dev/null /dev/kmsg
while read -r path value; do
	[ "$(cat "/proc/sys/$path")" = "$value" ] && continue
	file=/run/node-kernel/$path
	mkdir -p "${file%/*}"
	echo "$value" >"$file"
	mount --bind "$file" "/proc/sys/$path"
done <<-END
	vm/overcommit_memory 1
	vm/panic_on_oom 0
	kernel/panic 10
	kernel/panic_on_oops 1
	kernel/keys/root_maxkeys 1000000
	kernel/keys/root_maxbytes 25000000
END
`

// units are those of today's nodes around ours, as behaviour.md 10 has them: what kubelet needs is
// behind a target, and the choice of the node's address comes to it by a drop-in.
var units = map[string]string{
	"containerd.service": `[Unit]
After=kubelet-dependencies.target
Requires=kubelet-dependencies.target
[Service]
Type=notify
Delegate=yes
KillMode=process
ExecStart=` + dir + `/containerd
Environment=PATH=` + dir + `:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[Install]
WantedBy=multi-user.target
`,
	"images.service": `[Unit]
After=containerd.service
Requires=containerd.service
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=` + dir + `/ctr --namespace k8s.io images import ` + dir + `/images.tar
[Install]
RequiredBy=kubelet.service
`,
	"kubelet-dependencies.target": `[Unit]
Wants=network-online.target
After=network-online.target
`,
	"kubelet.service": `[Unit]
After=containerd.service kubelet-dependencies.target
Requires=containerd.service kubelet-dependencies.target
[Service]
ExecStartPre=` + dir + `/kernel
ExecStart=` + dir + `/kubelet --config=` + dir + `/kubelet.yaml --node-ip=${KUBELET_NODE_IPS} --hostname-override=%[1]s --v=0 %[2]s
Restart=always
RestartSec=2
KillMode=process
[Install]
WantedBy=multi-user.target
`,
}

// packaged is kubelet's unit with its drop-in as the packages of Kubernetes bring them.
const packaged = `[Unit]
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0
[Service]
ExecStartPre=` + dir + `/kernel
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=` + dir + `/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=2
KillMode=process
[Install]
WantedBy=multi-user.target
`

// preset enables them, as a node's image does.
const preset = "enable containerd.service\nenable images.service\nenable kubelet.service\n"

// Config is the configuration of kubelet.
type Config struct {
	Name   string           // of the node
	Images map[string]Image // by the names that pods call them
	Joins  bool             // it joins the API of /var/lib/kubelet/kubeconfig; otherwise it runs without an API
	// Kubeadm means that kubeadm makes the machine a node: kubeadm and kubectl are installed, and
	// kubelet's unit is that of their packages, which restarts until kubeadm has written its
	// configuration.
	Kubeadm bool
}

// Programs builds missing programs. It may take minutes, so call it before a measurement begins.
func Programs(ctx context.Context) error {
	_, err := cache.Kubelet(ctx)
	return err
}

// Prepare writes all files to the disk of a machine that does not run.
func Prepare(ctx context.Context, m *vm.Machine, c Config) error {
	kubelet, err := cache.Kubelet(ctx)
	if err != nil {
		return err
	}
	runc := filepath.Join(m.Scratch(), "runc")
	build := exec.CommandContext(ctx, "go", "build", "-o", runc, "github.com/onprem-infra/onprem-infra/test/kubenode/runc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build runc without limits: %w\n%s", err, out)
	}
	programs := map[string]string{
		"kubelet": kubelet, "runc": runc, "containerd": "/usr/bin/containerd", "containerd-shim-runc-v2": "/usr/bin/containerd-shim-runc-v2", "ctr": "/usr/bin/ctr",
	}
	if c.Kubeadm {
		if programs["kubeadm"], err = cache.Kubeadm(ctx); err != nil {
			return err
		}
		if programs["kubectl"], err = cache.Kubectl(ctx); err != nil {
			return err
		}
	}
	for name, source := range programs {
		content, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := m.Write(dir+"/"+name, content, 0o755); err != nil {
			return err
		}
	}
	if err := m.Write(dir+"/kernel", []byte(kernel), 0o755); err != nil {
		return err
	}
	images, err := imagesOf(c)
	if err != nil {
		return err
	}
	flags, ca := "", ""
	if c.Joins {
		flags, ca = "--kubeconfig=/var/lib/kubelet/kubeconfig --register-node=true", "/var/lib/kubelet/ca.crt"
	}
	files := map[string][]byte{
		dir + "/images.tar":                               images,
		dir + "/kubelet.yaml":                             fmt.Appendf(nil, kubeletConf, ca),
		"/etc/containerd/config.toml":                     []byte(containerdConf),
		"/etc/cni/net.d/10-none.conflist":                 []byte(cni),
		"/etc/systemd/system-preset/10-kubernetes.preset": []byte(preset),
	}
	for name, text := range units {
		switch {
		case c.Kubeadm && name == "kubelet.service":
			text = packaged
		case c.Kubeadm && name == "kubelet-dependencies.target":
			continue
		case c.Kubeadm:
			text = strings.ReplaceAll(strings.ReplaceAll(text, "After=kubelet-dependencies.target\n", ""), "Requires=kubelet-dependencies.target\n", "")
		case name == "kubelet.service":
			text = fmt.Sprintf(text, c.Name, flags)
		}
		files["/etc/systemd/system/"+name] = []byte(text)
	}
	for _, path := range sorted(files) {
		if err := m.Write(path, files[path], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf is the archive of all images, with that of the first process of a pod: catatonit, as
// podman has it.
func imagesOf(c Config) ([]byte, error) {
	all := map[string]Image{pauseImage: {Tree: map[string]string{"pause": "/usr/bin/catatonit"}, Entrypoint: []string{"/pause", "-P"}}}
	for name, image := range c.Images {
		all[name] = image
	}
	var out bytes.Buffer
	err := archive(&out, all)
	return out.Bytes(), err
}
