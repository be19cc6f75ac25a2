package candidates

import (
	"fmt"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// TestSettle holds that of several former states the latest counts, that a present address of a family
// needs no former one, and that an address which a Node now has in another way stays its own.
func TestSettle(t *testing.T) {
	annotated := Node{Candidate: addr.Candidate{Name: "a", Annotated: addrs("192.0.2.10", "192.0.2.11")}}
	for name, tt := range map[string]struct {
		states []Node // a second apart
		want   string
	}{
		"replaced, and then lost":      {[]Node{node("a", "192.0.2.10", "2001:db8::10"), node("a", "192.0.2.11", "2001:db8::10"), node("a")}, "[192.0.2.11 2001:db8::10]"},
		"lost, and then the other":     {[]Node{node("a", "192.0.2.10", "2001:db8::10"), node("a", "2001:db8::10"), node("a")}, "[2001:db8::10 192.0.2.10]"},
		"one of two of a family":       {[]Node{node("a", "192.0.2.10", "192.0.2.11"), node("a", "192.0.2.10")}, "[192.0.2.10]"},
		"left to the network's plugin": {[]Node{node("a", "192.0.2.10"), annotated}, "[192.0.2.10]"},
		"back":                         {[]Node{node("a", "192.0.2.10"), node("a"), node("a", "192.0.2.10")}, "[192.0.2.10]"},
	} {
		var p past
		got := ""
		for i, n := range tt.states {
			settled, _ := p.settle([]Node{n}, time.Unix(int64(1000+i), 0))
			got = fmt.Sprint(settled[0].InternalIPs)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
