//go:build remote

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// credentials are those of the node's kubelet. A host that has not joined yet has none, and a
// bootstrap machine asks with an administrator's.
func (l *doctorLook) credentials(f *doctor.Facts, kind role.Role) {
	if kind == role.Bootstrap {
		return
	}
	path := l.host.at(l.plan.Kubeconfig)
	is, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		l.unseen("kubelet's kubeconfig", err)
		return
	}
	c := &doctor.Credentials{Kubeconfig: l.plan.Kubeconfig, Directory: is.IsDir(), Mounted: cluster.CertificateDirectories(l.plan)}
	f.Credentials = c
	if c.Directory {
		return
	}
	files, err := kubeconfig.Files(path)
	if err != nil {
		l.unseen("the files that kubelet's kubeconfig names", err)
	}
	for _, file := range files {
		for _, step := range l.linked(file) {
			if step != c.Kubeconfig && !cluster.Sees(l.plan, step) && !slices.Contains(c.Outside, step) {
				c.Outside = append(c.Outside, step)
			}
		}
	}
}

// mostLinks is how many links the kernel follows.
const mostLinks = 40

// linked are a path, and those that it leads to as the links that they are, such as kubelet's to
// the certificate of the day: a container needs all of them.
func (l *doctorLook) linked(path string) []string {
	steps := []string{path}
	for range mostLinks {
		target, err := os.Readlink(l.host.at(path))
		if err != nil {
			break // it is no link, or it is not there
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
		steps = append(steps, path)
	}
	return steps
}
