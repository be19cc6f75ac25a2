package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestClusterVIPs_Kinds holds which addresses must not be left on a host without a MASTER: those that the
// cluster's own keepalived may hold, and none that another program may set.
func TestClusterVIPs_Kinds(t *testing.T) {
	for name, tt := range map[string]struct{ spec, want string }{
		"VIPs of each kind":             {`"apiVIPs": ["192.0.2.5"], "ingressVIPs": ["192.0.2.6"], "dnsVIP": "192.0.2.7"`, "[192.0.2.5 192.0.2.6 192.0.2.7]"},
		"a shared provisioning address": {`"apiVIPs": ["192.0.2.5"], "provisioning": {"network": "managed", "address": "one", "ip": "172.22.0.3"}`, "[192.0.2.5 172.22.0.3]"},
		"of the other family":           {`"apiVIPs": ["192.0.2.5"], "provisioning": {"network": "managed", "address": "one", "ip": "fd00:22::3"}`, "[192.0.2.5]"},
		"of one of two families":        {`"apiVIPs": ["192.0.2.5", "2001:db8::5"], "provisioning": {"address": "one", "ip": "fd00:22::3"}`, "[192.0.2.5 2001:db8::5 fd00:22::3]"},
		"that an operator sets":         {`"apiVIPs": ["192.0.2.5"], "provisioning": {"network": "managed", "address": "two", "ip": "172.22.0.3", "bootstrapIP": "172.22.0.2"}`, "[192.0.2.5]"},
		"without a network":             {`"apiVIPs": ["192.0.2.5"], "provisioning": {"network": "disabled"}`, "[192.0.2.5]"},
		"none":                          {`"apiVIPs": []`, "[]"},
	} {
		path := filepath.Join(t.TempDir(), "cluster.json")
		if err := os.WriteFile(path, []byte(`{"spec": {`+tt.spec+`}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := clusterVIPs(path)
		if fmt.Sprint(got) != tt.want || (err != nil) != (tt.want == "[]") {
			t.Errorf("%s: %v, %v, want %s", name, got, err, tt.want)
		}
	}
}
