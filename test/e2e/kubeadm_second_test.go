package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// authority are the files that kubeadm has people carry from the first control plane node to the
// others.
func (m *founder) authority(ctx context.Context, t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"ca.crt", "ca.key", "sa.key", "sa.pub", "front-proxy-ca.crt", "front-proxy-ca.key"} {
		path := "/etc/kubernetes/pki/" + name
		files[path] = []byte(m.sh(ctx, t, "cat "+path))
	}
	return files
}

// joins makes a second control plane node by the phases of kubeadm that made the first one, with
// its CA: there is no controller manager here that signs what a joining kubelet asks for. All of it
// goes over the VIP, which the first node holds.
func (m *founder) joins(ctx context.Context, t *testing.T) {
	t.Helper()
	m.resolves(ctx, t)
	m.start = time.Now()
	for _, phase := range []string{"certs all", "kubeconfig all", "control-plane apiserver", "kubelet-start"} {
		m.sh(ctx, t, "kubeadm init phase "+phase+" --config /root/kubeadm.yaml")
	}
	eventually(t, 2*time.Minute, func() error {
		_, err := m.Run(ctx, "/opt/node/kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf", "--request-timeout", "2s", "get", "node", "node-"+m.role)
		return err
	})
	m.sh(ctx, t, "kubeadm init phase mark-control-plane --config /root/kubeadm.yaml")
	eventually(t, 2*time.Minute, func() error { return m.well(ctx, []string{"coredns", "haproxy", "keepalived"}) })
	eventually(t, time.Minute, func() error {
		_, err := m.Run(ctx, "/usr/local/bin/onprem-infra", "check", "lb")
		return err
	})
	t.Logf("the second node's pods are Ready and its balancer serves %s after its kubeadm began", time.Since(m.start).Round(10*time.Millisecond))
}

// holds says whether the node has the API's VIP.
func (m *founder) holds(ctx context.Context, t *testing.T) bool {
	t.Helper()
	return m.sh(ctx, t, "ip -o address show to "+chain.APIVIP.String()) != ""
}

// knows holds that the two have met: each speaks to the other, and the VIP has stayed where it was.
func (m *founder) knows(ctx context.Context, t *testing.T, second *founder) {
	t.Helper()
	for _, pair := range [][2]*founder{{m, second}, {second, m}} {
		eventually(t, time.Minute, func() error {
			config, err := pair[0].Run(ctx, "cat", "/etc/keepalived/keepalived.conf")
			_, api, _ := strings.Cut(config, "vrrp_instance prod_API_0")
			api, _, _ = strings.Cut(api, "vrrp_instance")
			if peer := nodeIPs[pair[1].role].String(); err == nil && !strings.Contains(api, peer) {
				err = fmt.Errorf("node-%s does not speak to %s:\n%s", pair[0].role, peer, config)
			}
			return err
		})
	}
	if first, other := m.holds(ctx, t), second.holds(ctx, t); !first || other {
		t.Errorf("the first node holds the VIP: %v, the second one: %v", first, other)
	}
}

// succeeds cuts the first node's power, and holds that the API answers at the VIP all the same, by
// the second node.
func (m *founder) succeeds(ctx context.Context, t *testing.T, second *founder) {
	t.Helper()
	client := http.Client{Timeout: 500 * time.Millisecond, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DialContext: m.chain.Neighbour.Dial, // who answers is seen on the nodes
	}}
	ready := func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+chain.APIVIP.String()+":6443/readyz", nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s, %w", answer.Status, err)
		}
		return nil
	}
	must(t, ready())
	cut := time.Now()
	m.Off()
	must(t, m.host.Off())
	eventually(t, time.Minute, ready)
	t.Logf("the API answers at the VIP %s after the first node's power was cut", time.Since(cut).Round(10*time.Millisecond))
	if !second.holds(ctx, t) {
		t.Error("the second node has not the VIP")
	}
	if nodes := second.sh(ctx, t, "kubectl get nodes --output name"); nodes != "node/node-master\nnode/node-second\n" {
		t.Errorf("the API names the nodes %q", nodes)
	}
}
