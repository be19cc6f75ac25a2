package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pod is one static pod that runs.
type pod struct {
	node       *Node
	manifest   *corev1.Pod
	pause      *container // holds the process namespace that the containers share; nil when they share none
	containers map[string]*container
}

// start makes the pod's volumes, runs its init containers one after the other, and then starts its
// containers.
func (p *pod) start(ctx context.Context) error {
	if share := p.manifest.Spec.ShareProcessNamespace; share != nil && *share {
		if err := p.startPause(); err != nil {
			return err
		}
	}
	for i := range p.manifest.Spec.InitContainers {
		if err := p.initialize(ctx, &p.manifest.Spec.InitContainers[i]); err != nil {
			return err
		}
	}
	for i := range p.manifest.Spec.Containers {
		spec := &p.manifest.Spec.Containers[i]
		c, err := p.container(spec)
		if err != nil {
			return err
		}
		p.containers[spec.Name] = c
		c.keep()
	}
	return nil
}

// initialize runs an init container until it succeeds, as kubelet does.
func (p *pod) initialize(ctx context.Context, spec *corev1.Container) error {
	c, err := p.container(spec)
	if err != nil {
		return err
	}
	for {
		err := c.run()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("init container %s: %w", spec.Name, err), ctx.Err())
		case <-time.After(restartPause):
		}
	}
}

func (p *pod) container(spec *corev1.Container) (*container, error) {
	bundle, err := p.bundle(spec)
	if err != nil {
		return nil, fmt.Errorf("container %s: %w", spec.Name, err)
	}
	return p.newContainer(spec.Name, bundle), nil
}

func (p *pod) newContainer(name, bundle string) *container {
	return &container{
		// The control groups have these names too, for all programs of this machine.
		id: fmt.Sprintf("%s-%s-%s", p.node.name, p.manifest.Name, name), bundle: bundle,
		state: filepath.Join(p.node.dir, "state"), log: p.node.log(p.manifest.Name + "/" + name), ended: make(chan struct{}), stopping: make(chan struct{}),
	}
}

// startPause starts the process that owns the pod's process namespace.
func (p *pod) startPause() error {
	catatonit, err := exec.LookPath("catatonit")
	if err != nil {
		return err
	}
	root := filepath.Join(p.node.dir, "bundles", p.manifest.Name, "pause", "rootfs")
	if err := install(root, map[string]string{"pause": catatonit}); err != nil {
		return err
	}
	bundle, err := p.write("pause", p.specification(root, []string{"/pause", "-P"}))
	if err != nil {
		return err
	}
	p.pause = p.newContainer("pause", bundle)
	if err := os.Remove(p.pause.pidFile()); err != nil && !errors.Is(err, os.ErrNotExist) { // of the pod's former run
		return err
	}
	p.pause.keep()
	return p.pause.started()
}

// stop ends the containers side by side, and waits for them.
func (p *pod) stop() error {
	grace := 30 * time.Second
	if s := p.manifest.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	var errs []error
	for _, c := range p.containers {
		c.abandon()
		errs = append(errs, c.terminate())
	}
	deadline := time.After(grace)
	for _, c := range p.containers {
		errs = append(errs, c.wait(deadline))
	}
	return errors.Join(append(errs, p.stopPause())...)
}

// kill ends the containers at once.
func (p *pod) kill() error {
	var errs []error
	now := make(chan time.Time)
	close(now)
	for _, c := range p.containers {
		c.abandon()
	}
	for _, c := range p.containers {
		errs = append(errs, c.wait(now))
	}
	return errors.Join(append(errs, p.stopPause())...)
}

func (p *pod) stopPause() error {
	if p.pause == nil {
		return nil
	}
	p.pause.abandon()
	now := make(chan time.Time)
	close(now)
	return p.pause.wait(now)
}

// volume is the directory or file of this machine that stands for a volume of the pod.
func (p *pod) volume(name string) (string, error) {
	for _, v := range p.manifest.Spec.Volumes {
		switch {
		case v.Name != name:
		case v.HostPath != nil:
			return p.hostPath(v.HostPath)
		case v.EmptyDir != nil:
			dir := filepath.Join(p.node.dir, "volumes", p.manifest.Name, name)
			return dir, os.MkdirAll(dir, 0o777)
		}
	}
	return "", fmt.Errorf("volume %s has no source that a static pod may have here", name)
}

func (p *pod) hostPath(source *corev1.HostPathVolumeSource) (string, error) {
	path := filepath.Join(p.node.Root, source.Path)
	kind := corev1.HostPathUnset
	if source.Type != nil {
		kind = *source.Type
	}
	switch kind {
	case corev1.HostPathDirectoryOrCreate, corev1.HostPathUnset:
		return path, os.MkdirAll(path, 0o755)
	case corev1.HostPathFileOrCreate:
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return "", err
		}
		return path, f.Close()
	}
	_, err := os.Stat(path)
	return path, err
}
