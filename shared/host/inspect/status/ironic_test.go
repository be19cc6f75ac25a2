package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	width "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestInspect_Ironic holds what is reported of Ironic behind the balancer: its pods that are ready,
// that there is none, and nothing if the balancer does not serve it or does not answer.
func TestInspect_Ironic(t *testing.T) {
	pods := []haproxy.Stat{
		{Backend: haproxy.IronicAPI, Server: "s0", Status: "UP", Check: "L4OK", Sessions: 3, Address: netip.MustParseAddrPort("192.0.2.12:6388")},
		{Backend: haproxy.VirtualMedia, Server: "s0", Status: "DOWN", Check: "L4CON", Address: netip.MustParseAddrPort("192.0.2.12:6183")},
		{Backend: haproxy.IronicAPI, Server: "s1", Status: "MAINT"},
	}
	for _, tt := range []struct {
		name     string
		balances bool
		stats    []haproxy.Stat
		err      error
		json     string // of the key
		text     []string
	}{
		{"a ready pod", true, pods, nil, `"ironic":[{"of":"ironic","name":"s0","address":"192.0.2.12:6388","status":"UP","up":true,"check":"L4OK","sessions":3},` +
			`{"of":"virtual-media","name":"s0","address":"192.0.2.12:6183","status":"DOWN","up":false,"check":"L4CON","sessions":0}]`,
			[]string{"balancer: ironic s0 192.0.2.12:6388 UP, 3 sessions\n", "balancer: virtual-media s0 192.0.2.12:6183 DOWN, 0 sessions\n"}},
		{"none", true, pods[2:], nil, `"ironic":[]`, []string{"balancer: no pod of Ironic is ready: connections to it are reset\n"}},
		{"it is not balanced", false, nil, nil, "", nil},
		{"HAProxy does not answer", true, nil, errors.New("connection refused"), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := fakehost.Plan(t, vrrp.ProfileLan)
			if tt.balances {
				p.Ports[port.IronicLB] = 9448
			}
			host := fakehost.New(t, p, fakehost.Holder(p))
			host.Backends = func(context.Context) ([]haproxy.Stat, error) { return tt.stats, tt.err }
			r := status.Inspect(t.Context(), host)
			encoded, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(encoded), `"ironic":`); got != (tt.json != "") || !strings.Contains(string(encoded), tt.json) {
				t.Errorf("%s\nwant %s", encoded, tt.json)
			}
			text := r.Text(width.Width(100))
			for _, want := range tt.text {
				if !strings.Contains(text, want) {
					t.Errorf("status has no %q:\n%s", want, text)
				}
			}
			if tt.text == nil && strings.Contains(text, "ronic") {
				t.Errorf("status has Ironic:\n%s", text)
			}
		})
	}
}
