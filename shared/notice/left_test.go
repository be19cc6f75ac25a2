package notice

import "testing"

func TestBootstrapLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		data map[string]string
		left bool
	}{
		{"it serves", EncodeBootstrap(addrs("192.0.2.9"), 1), false},
		{"it names nobody", EncodeBootstrap(addrs(), 2), true},
		{"an empty list", map[string]string{"addresses": "[]"}, true},
		{"no object", nil, false},
		{"no list", map[string]string{"beat": "1"}, false},
		{"garbage", map[string]string{"addresses": "nobody"}, false},
	} {
		if got := BootstrapLeft(tt.data); got != tt.left {
			t.Errorf("%s: left %t", tt.name, got)
		}
	}
}
