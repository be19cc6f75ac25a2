package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/chain"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// announcing are the pods of a control plane node that announces its VIPs.
var announcing = []string{"coredns", "haproxy", "speaker"}

// TestLongSpeakerPod has a real kubelet run the pod with FRR on a control plane node whose leaf is a real
// FRR: the leaf gets the VIP once the API serves, containers have what their manifests say, what
// hangs is started again, and the VIP leaves in order before a shutdown and with the pod.
func TestLongSpeakerPod(t *testing.T) {
	needLong(t)
	need.Root(t)
	need.File(t, daemons.Programs+"bgpd")
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make", "containerd", "ctr", "catatonit", "etcd"} {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	k := newKubernetes(ctx, t)
	k.images[chain.FRRImage] = kubenode.Image{Tree: routerImage(t).Tree}
	n := announcingNode{leaf: newLeaf(t, k.chain), kubernetes: k}
	start := time.Now()
	n.member = k.boot(ctx, t, "master", routedCluster(), passwordsFlag(t))
	n.registered(ctx, t, k)
	eventually(t, 2*time.Minute, func() error { return n.well(ctx, announcing) })
	n.has(t, time.Minute)
	n.way = n.leaf.paths(t, routedAPI)[nodeIPs["master"].String()]
	t.Logf("the leaf has the VIP %s after the power", time.Since(start).Round(10*time.Millisecond))
	n.serves(ctx, t)
	n.stays(ctx, t, announcing)
	n.confined(ctx, t)
	frozen := map[string]bool{}
	for _, name := range []string{"coredns", "coredns-monitor", "haproxy", "haproxy-monitor"} { // TestLongPods has these
		frozen[name] = true
	}
	n.hangs(ctx, t, announcing, frozen)
	n.has(t, time.Minute)
	n.goes(ctx, t, "before a shutdown", "systemctl stop onprem-vip-leave.service")
	eventually(t, time.Minute, func() error { return n.well(ctx, announcing) }) // the pod is still there
	n.comes(ctx, t, "systemctl start onprem-vip-leave.service")
	const manifest = "/etc/kubernetes/manifests/speaker.yaml"
	n.goes(ctx, t, "with its pod", "mv "+manifest+" /root")
	eventually(t, time.Minute, func() error {
		pods, err := n.pods(ctx)
		if _, there := pods["speaker"]; err == nil && there {
			err = errors.New("kubelet still has the pod")
		}
		return err
	})
	eventually(t, 10*time.Second, func() error { // kubelet forgets it before its containers have ended
		if out, err := n.Run(ctx, "pgrep", "-l", "zebra|bgpd|bfdd|onprem-speak"); err == nil {
			return fmt.Errorf("of the pod there are still\n%s", out)
		}
		return nil
	})
	n.comes(ctx, t, "mv /root/speaker.yaml "+manifest)
}

// announcingNode is a control plane node that announces the API VIP.
type announcingNode struct {
	*member
	*kubernetes
	leaf leaf
	way  int // how many systems its path has while it serves, 0: any
}

// has waits until the leaf has the VIP from the node alone, by a path that is not made longer any more.
func (n announcingNode) has(t *testing.T, within time.Duration) {
	t.Helper()
	eventually(t, within, func() error {
		got := n.leaf.paths(t, routedAPI)
		if way, there := got[nodeIPs["master"].String()]; !there || len(got) != 1 || n.way != 0 && way != n.way {
			return fmt.Errorf("the leaf has it from %v", got)
		}
		return nil
	})
}

// serves asks through the VIP, by way of the leaf and of the node's balancer.
func (n announcingNode) serves(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(t, 20*time.Second, func() error {
		connection, err := n.chain.Neighbour.Dial(ctx, "tcp", routedAPI.String()+":6443")
		if err != nil {
			return err
		}
		return connection.Close()
	})
}

// goes holds the order in which the VIP leaves by a command: the way gets longer, there is none, the
// address goes.
func (n announcingNode) goes(ctx context.Context, t *testing.T, what, command string) {
	t.Helper()
	node := nodeIPs["master"].String()
	events, stop, err := n.hosts["master"].Watch(routedAPI)
	must(t, err)
	defer stop()
	first, longest, withdrawn := n.leaf.paths(t, routedAPI)[node], 0, time.Time{}
	begun, ran := time.Now(), make(chan error, 1)
	go func() { _, err := n.Run(ctx, "sh", "-euc", command); ran <- err }()
	for ; withdrawn.IsZero(); time.Sleep(5 * time.Millisecond) {
		got := n.leaf.paths(t, routedAPI)
		longest = max(longest, got[node])
		if len(got) == 0 {
			withdrawn = time.Now()
		} else if time.Since(begun) > time.Minute {
			t.Fatalf("%s: the leaf has %v", what, got)
		}
	}
	must(t, <-ran)
	select {
	case e := <-events:
		if e.Added || e.At.Before(withdrawn) || longest <= first {
			t.Errorf("%s: the way was %d systems, then %d; withdrawn %s after the order, and the address %+v", what, first, longest, withdrawn.Sub(begun), e)
		}
		t.Logf("%s: the way of %d systems is %d at last, withdrawn %s after the order, the address away after %s", what, first, longest,
			withdrawn.Sub(begun).Round(time.Millisecond), e.At.Sub(begun).Round(time.Millisecond))
	case <-time.After(10 * time.Second):
		t.Errorf("%s: the address stays", what)
	}
	eventually(t, 10*time.Second, func() error {
		text, err := n.Run(ctx, "cat", spoken.RunDir+"/"+spoken.StatusFile)
		if err != nil {
			return err
		}
		status, err := spoken.Decode[spoken.Status]([]byte(text))
		if err == nil && !status.Left {
			err = fmt.Errorf("the status is %s", strings.TrimSpace(text))
		}
		return err
	})
}

// comes has the VIP announced again by a command.
func (n announcingNode) comes(ctx context.Context, t *testing.T, command string) {
	t.Helper()
	begun := time.Now()
	_, err := n.Run(ctx, "sh", "-euc", command)
	must(t, err)
	n.has(t, time.Minute)
	t.Logf("announced again %s after %s", time.Since(begun).Round(10*time.Millisecond), command)
	n.serves(ctx, t)
}
