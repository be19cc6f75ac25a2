//go:build remote

package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/doctor"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// credentials are those of the node's kubelet. A host that has not joined yet has none, and a
// bootstrap machine asks with an administrator's.
func (l *doctorLook) credentials(f *doctor.Facts, kind role.Role) {
	if kind == role.Bootstrap {
		return
	}
	is, err := os.Stat(l.host.at(l.plan.Kubeconfig))
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		l.unseen("kubelet's kubeconfig", err)
		return
	}
	f.Credentials = &doctor.Credentials{Kubeconfig: l.plan.Kubeconfig, Directory: is.IsDir()}
}
