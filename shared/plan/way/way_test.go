package way

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestWay holds that a word is read as it was written, and that VRRP alone has the one that former releases know.
func TestWay(t *testing.T) {
	for w, text := range map[Way]string{
		Of("lan", spec.Unicast, spec.ByVRRP): "lan/unicast", Of("compat", spec.Multicast, ""): "compat/multicast",
		Of("vm", spec.Unicast, spec.ByBoth): "vm/unicast/both", Of("lan", spec.Unicast, spec.ByBGP): "lan/unicast/bgp",
	} {
		if w.String() != text || Parse(text) != w {
			t.Errorf("%+v is %q, which is %+v", w, w, Parse(text))
		}
	}
	if got := Parse("lan"); got != (Way{Timing: "lan"}) {
		t.Errorf("%+v", got)
	}
}
