// Package pods runs a node's static pods on a host of the lab as kubelet would, but without
// kubelet: each container is started by runc, with the image, command, mounts and capabilities that
// its manifest names, and started again when it exits. No probe runs.
package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// manifests is the directory from which kubelet reads static pods.
const manifests = "/etc/kubernetes/manifests"

// Node is one machine: a host of the lab, a disk and what runs on it.
type Node struct {
	Host *lab.Host
	// Root is the machine's disk: what pods mount from the host is below it.
	Root string

	name   string // unique on this machine
	dir    string
	images map[string]string // image -> root file system

	mu   sync.Mutex
	disk int64 // bytes of each file system of its own, 0 without
	pods map[string]*pod
}

// New makes a machine with an empty disk in dir, which must not exist. images are the root file
// systems of all images that pods may name.
func New(host *lab.Host, dir string, images map[string]string) (*Node, error) {
	if err := removeLeftovers(); err != nil {
		return nil, fmt.Errorf("remove what dead nodes left: %w", err)
	}
	name, err := unique(host.Name)
	if err != nil {
		return nil, err
	}
	n := &Node{Host: host, Root: filepath.Join(dir, "root"), name: name, dir: dir, images: images, pods: map[string]*pod{}}
	for _, path := range []string{"root/run", "root/var/lib", "root/etc/kubernetes/manifests", "state", "logs"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			return nil, err
		}
	}
	return n, n.Write(
		asset.File{Path: "/etc/hostname", Mode: 0o644, Contents: []byte(host.Name + "\n")},
		asset.File{Path: "/etc/hosts", Mode: 0o644, Contents: []byte("127.0.0.1 localhost\n::1 localhost\n")},
		asset.File{Path: "/etc/resolv.conf", Mode: 0o644},
	)
}

// Write puts files on the disk.
func (n *Node) Write(files ...asset.File) error {
	for _, f := range files {
		path := filepath.Join(n.Root, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Contents, os.FileMode(f.Mode)); err != nil {
			return err
		}
	}
	return nil
}

// Start starts every static pod with a manifest on the disk that does not run yet.
func (n *Node) Start(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(n.Root, manifests, "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var manifest corev1.Pod
		if err := yaml.UnmarshalStrict(text, &manifest); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if err := n.start(ctx, &manifest); err != nil {
			return fmt.Errorf("start pod %s on %s: %w", manifest.Name, n.Host.Name, err)
		}
	}
	return nil
}

func (n *Node) start(ctx context.Context, manifest *corev1.Pod) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pods[manifest.Name] != nil {
		return nil
	}
	p := &pod{node: n, manifest: manifest, containers: map[string]*container{}}
	if err := p.start(ctx); err != nil {
		return errors.Join(err, p.stop())
	}
	n.pods[manifest.Name] = p
	return nil
}

// Stop ends pods by name, or all: SIGTERM, and SIGKILL after the pod's grace period.
func (n *Node) Stop(names ...string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(names) == 0 {
		for name := range n.pods {
			names = append(names, name)
		}
	}
	errs := make([]error, len(names))
	var stopping sync.WaitGroup
	for i, name := range names {
		p := n.pods[name]
		delete(n.pods, name)
		if p != nil {
			stopping.Go(func() { errs[i] = p.stop() })
		}
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// Off is the loss of power: the network goes at once, and every process with it, and what was in
// /run.
func (n *Node) Off() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	errs := []error{n.Host.Off()}
	for name, p := range n.pods {
		errs = append(errs, p.kill())
		delete(n.pods, name)
	}
	return errors.Join(append(errs, n.forget())...)
}

// Signal sends a signal to the first process of a container, in the names of POD/CONTAINER.
func (n *Node) Signal(name string, sig syscall.Signal) error {
	pid, err := n.PID(name)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

// PID is the first process of a container, as this machine counts.
func (n *Node) PID(name string) (int, error) {
	c, err := n.container(name)
	if err != nil {
		return 0, err
	}
	return c.pid()
}

// Log is the output of a container, POD/CONTAINER, in all its runs.
func (n *Node) Log(name string) string {
	text, err := os.ReadFile(n.log(name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (n *Node) log(name string) string {
	return filepath.Join(n.dir, "logs", strings.ReplaceAll(name, "/", "_"))
}

// Containers are the containers that run on the node, as POD/CONTAINER, sorted.
func (n *Node) Containers() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []string
	for _, p := range n.pods {
		for name := range p.containers {
			names = append(names, p.manifest.Name+"/"+name)
		}
	}
	slices.Sort(names)
	return names
}
