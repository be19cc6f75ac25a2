//go:build remote

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The static pods that run keepalived and CoreDNS on a bootstrap machine whose manifests come from
// OpenShift's Machine Config Operator. They appear minutes after our units have started, which do
// not run beside them.
const (
	keepalivedManifest = "/etc/kubernetes/manifests/keepalived.yaml"
	coreDNSManifest    = "/etc/kubernetes/manifests/coredns.yaml"
)

// leaveToStatic ends the program when there is a manifest for the daemon that it runs: two VRRP
// routers would hold one VIP, and two servers have port 53. The room leaves in order first, and the
// condition of the program's unit keeps it from being started again.
func (m *machine) leaveToStatic(ctx context.Context) {
	wake := loop.NewWake()
	m.watch(ctx, "static pods", func(ctx context.Context) error { return file.Watch(ctx, []string{m.static}, wake) })
	m.watchers.Go(func() {
		poll := time.NewTicker(everyRound)
		defer poll.Stop()
		for {
			if there, err := exists(m.static); err == nil && there {
				m.log.Info("leave", "why", "kubelet runs the daemon from "+m.static)
				m.stop()
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-wake:
			case <-poll.C:
			}
		}
	})
}

// ourStatic is in every manifest of ours for a bootstrap machine: the verb that its program is run
// with.
const ourStatic = "- --in-pod\n"

// statics are the manifests on a bootstrap machine that run a daemon in the place of ours.
func (h nodeVIPHost) statics() (out []facts.Static, err error) {
	for _, s := range []facts.Static{
		{Daemon: "keepalived", Unit: "onprem-keepalived.service", Path: keepalivedManifest},
		{Daemon: "CoreDNS", Unit: "onprem-coredns.service", Path: coreDNSManifest},
	} {
		text, errRead := os.ReadFile(h.at(s.Path))
		switch {
		case errors.Is(errRead, fs.ErrNotExist):
		case errRead != nil:
			err = errors.Join(err, errRead)
		default:
			s.Ours = bytes.Contains(text, []byte(ourStatic))
			out = append(out, s)
		}
	}
	return out, err
}

// statics are those on a bootstrap machine.
func (l *doctorLook) statics(f *facts.Facts, kind role.Role) {
	if kind != role.Bootstrap {
		return
	}
	var err error
	if f.Machine.Statics, err = l.host.statics(); err != nil {
		l.unseen("static pods", err)
	}
}

// given is whether a static pod that is not of ours runs the daemon on this bootstrap machine.
func (h nodeVIPHost) given(daemon string) bool {
	list, _ := h.statics() // doctor says what cannot be read
	return slices.ContainsFunc(list, func(s facts.Static) bool { return s.Daemon == daemon && !s.Ours })
}

// staticPods notes those that are not of ours.
func (l *statusLook) staticPods(r *statusReport) {
	if l.kind() != role.Bootstrap {
		return
	}
	list, err := l.host.statics()
	if err != nil {
		r.unseen("static pods", err)
	}
	for _, s := range list {
		if !s.Ours {
			r.StaticPods = append(r.StaticPods, s.Path)
		}
	}
}
