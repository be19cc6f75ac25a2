package podlb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// TestClosedBeforeMonitor boots a node again whose monitor does not come up: HAProxy goes by the
// members that it had, and of IPv6 it cannot tell whether a connection was redirected to the
// balanced machine config port. Pods must be kept from that port all the same.
func TestClosedBeforeMonitor(t *testing.T) {
	w := three(t)
	m1 := w.hosts["m1"]
	if err := w.node.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := m1.Do(func() error { _, err := nft.Ensure(redirect.Rules{}); return err }); err != nil {
		t.Fatal(err)
	}
	const manifest = "/etc/kubernetes/manifests/haproxy.yaml"
	text, err := os.ReadFile(filepath.Join(w.node.Root, manifest))
	if err != nil {
		t.Fatal(err)
	}
	const monitor, none = "    - monitor\n    - lb\n    image:", "    - version\n    image:"
	if strings.Count(string(text), monitor) != 1 {
		t.Fatalf("the manifest has another command:\n%s", text)
	}
	crippled := asset.File{Path: manifest, Mode: 0o644, Contents: []byte(strings.Replace(string(text), monitor, none, 1))}
	if err := w.node.Write(crippled); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := w.node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	w.up(3)
	for _, address := range []string{"[" + vip6 + "]:9446", vip + ":9446"} {
		if err := dialled(t, w.client, address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v, want it refused", address, err)
		}
	}
	if err := dialled(t, w.client, "["+vip6+"]:9445"); err != nil {
		t.Errorf("HAProxy does not listen, so that this shows nothing: %v", err)
	}
}
