package kubenode

import (
	"archive/tar"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/onprem-infra/onprem-infra/test/cache"
)

// Bundle writes a tar of the programs that Document has a host fetch: a real kubelet and Debian's
// containerd. There is none to run containers by, and no pod comes to such a node.
func Bundle(ctx context.Context, out io.Writer) error {
	kubelet, err := cache.Kubelet(ctx)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for _, program := range [][2]string{{"kubelet", kubelet}, {"containerd", "/usr/bin/containerd"}} {
		content, err := os.ReadFile(program[1])
		if err != nil {
			return err
		}
		if err := add(w, program[0], 0o755, content); err != nil {
			return err
		}
	}
	return w.Close()
}

// Joining is how a host with systemd, curl and tar alone joins a cluster at its first boot.
type Joining struct {
	Name       string // of the host, and of its Node
	Bundle     string // URL of what Bundle has written
	Kubeconfig []byte // of the node
	CA         []byte // by which kubelet knows its clients, PEM
}

// fetch brings the programs into memory: the disk of an image has no room for them.
const fetch = `[Unit]
After=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mkdir -p ` + dir + ` /etc/kubernetes/manifests
ExecStart=/bin/mount -t tmpfs -o mode=755,size=512m node ` + dir + `
ExecStart=/usr/bin/curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors --output ` + dir + `/bundle "%s"
ExecStart=/bin/tar -x -C ` + dir + ` -f ` + dir + `/bundle
ExecStart=/bin/rm ` + dir + `/bundle
`

// Those of a node that nothing else is on. What kubelet says is on the console too.
const (
	runtime = `[Unit]
Requires=node-programs.service
After=node-programs.service
[Service]
Type=notify
Delegate=yes
ExecStart=` + dir + `/containerd
Restart=always
RestartSec=2
`
	joins = `[Unit]
Requires=containerd.service
After=containerd.service
[Service]
ExecStart=` + dir + `/kubelet --config=/etc/kubernetes/kubelet.yaml --hostname-override=%s --kubeconfig=/var/lib/kubelet/kubeconfig --register-node=true --v=1
StandardError=journal+console
Restart=always
RestartSec=2
[Install]
WantedBy=multi-user.target
`
)

// Document is the Ignition document by which a host joins. The network plugin is FAKE, as Prepare's:
// pods with a network of their own would not run.
func Document(j Joining) ([]byte, error) {
	type object = map[string]any
	file := func(path string, mode int, text []byte) object {
		return object{"path": path, "overwrite": true, "mode": mode, "contents": object{"source": "data:," + url.PathEscape(string(text))}}
	}
	unit := func(name, text string) object {
		return object{"name": name, "enabled": name == "kubelet.service", "contents": text}
	}
	const ca = "/var/lib/kubelet/ca.crt"
	return json.Marshal(object{
		"ignition": object{"version": "3.3.0"},
		"storage": object{"files": []object{
			file("/etc/hostname", 0o644, []byte(j.Name+"\n")),
			file("/etc/containerd/config.toml", 0o644, []byte(containerdConf)),
			file("/etc/cni/net.d/10-none.conflist", 0o644, []byte(cni)),
			file("/etc/kubernetes/kubelet.yaml", 0o644, fmt.Appendf(nil, kubeletConf, ca)),
			file("/var/lib/kubelet/kubeconfig", 0o600, j.Kubeconfig), file(ca, 0o644, j.CA),
		}},
		"systemd": object{"units": []object{
			unit("node-programs.service", fmt.Sprintf(fetch, j.Bundle)),
			unit("containerd.service", runtime), unit("kubelet.service", fmt.Sprintf(joins, j.Name)),
		}},
	})
}
