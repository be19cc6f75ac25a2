package kubenode

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// Join gives a machine that does not run the credentials of a node of the cluster, in files as a
// kubelet keeps them.
func Join(m *vm.Machine, c *kubeapi.Cluster, node, url string) error {
	id, err := c.Sign(kubeapi.Node(node))
	if err != nil {
		return err
	}
	const inside = "/var/lib/kubelet"
	dir := filepath.Join(m.Scratch(), "kubelet")
	if err := c.WriteKubelet(dir, inside, url, id); err != nil {
		return err
	}
	if err := m.Write(inside+"/ca.crt", c.CA(), 0o644); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		target := inside + strings.TrimPrefix(path, dir)
		if link, err := os.Readlink(path); err == nil {
			return m.Link(target, link)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return m.Write(target, content, 0o600)
	})
}

// Pods are the pods of the machine as its kubelet sees them.
func Pods(ctx context.Context, r *vm.Running) ([]corev1.Pod, error) {
	text, err := r.Run(ctx, "curl", "--silent", "--show-error", "--insecure", "--max-time", "5", "https://localhost:10250/pods")
	if err != nil {
		return nil, err
	}
	var list corev1.PodList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read kubelet's pods: %w: %.200s", err, text)
	}
	return list.Items, nil
}

// Processes are the first processes of the machine's containers, by the containers' IDs.
func Processes(ctx context.Context, r *vm.Running) (map[string]int, error) {
	text, err := r.Run(ctx, dir+"/ctr", "--namespace", "k8s.io", "tasks", "ls")
	if err != nil {
		return nil, err
	}
	pids := map[string]int{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "RUNNING" {
			if pids[f[0]], err = strconv.Atoi(f[1]); err != nil {
				return nil, fmt.Errorf("read containerd's tasks: %w", err)
			}
		}
	}
	return pids, nil
}
