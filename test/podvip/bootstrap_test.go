package podvip

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

// TestBootstrapPod is a bootstrap machine that manifests drive, as those of the Machine Config
// Operator's bootstrap command do: kubelet runs keepalived and, beside it, the program that systemd
// runs elsewhere. It holds the API VIP before there is an API; a monitor that is killed changes
// nothing; one that is told to end gives the VIP up first, and takes it back when it runs again;
// and with the pod the VIP leaves.
func TestBootstrapPod(t *testing.T) {
	t.Parallel() // it has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileLan)
	n := l.bootstrap()
	observer, err := lab.Observe(netip.MustParseAddr(apiVIP), 10*time.Millisecond, n.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	await := func(what string, holders ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		if _, err := observer.Wait(ctx, holders...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	n.end()
	n.start()
	await("it holds the VIP", n.Host.Name)
	if text := n.proposed(); !strings.Contains(text, fmt.Sprintf("priority %d\n", l.plan.VRRP.BootstrapPriority)) {
		t.Errorf("its priority is not that of a bootstrap machine, %v:\n%s", l.plan.VRRP.BootstrapPriority, text)
	}

	n.restart("keepalived-monitor")
	time.Sleep(2 * time.Second) // a VIP that left would have left
	if holders := observer.Holders(); len(holders) != 1 {
		t.Error("the monitor was killed, and the VIP is gone")
	}
	n.signal("keepalived-monitor", syscall.SIGTERM)
	await("the monitor was told to end")
	await("the next one takes the VIP back", n.Host.Name)
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	await("the pod ended")
}

// bootstrap is a bootstrap machine whose pod has yet to be started.
func (l *lan) bootstrap() *node {
	l.t.Helper()
	machine, err := pods.New(l.add("bootstrap", "192.0.2.80"), filepath.Join(l.dir, "bootstrap"), l.images)
	if err != nil {
		l.t.Fatal(err)
	}
	n := &node{Node: machine, l: l}
	manifest := static.Bootstrap(l.plan)[0]
	if err := n.Write(
		asset.File{Path: static.KeepalivedFile, Mode: 0o644, Contents: plan.Encode(l.plan)},
		asset.File{Path: "/etc/kubernetes/manifests/" + manifest.Name + ".yaml", Mode: 0o644, Contents: pod.Render(manifest)},
	); err != nil {
		l.t.Fatal(err)
	}
	return n
}
