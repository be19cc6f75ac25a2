package main

import "testing"

func TestVRIDs(t *testing.T) {
	const usage = "onprem-infra: NAME is missing: write onprem-infra vr-ids NAME\nSee 'onprem-infra vr-ids --help'.\n"
	tests := []struct {
		name string
		args []string
		want outcome
	}{
		{"published", []string{"vmware"}, outcome{out: "APIVirtualRouterID: 109\nIngressVirtualRouterID: 124\n"}},
		{"a DNS VIP too", []string{"--dns", "cnf10"}, outcome{out: "APIVirtualRouterID: 147\nIngressVirtualRouterID: 2\nDNSVirtualRouterID: 158\n"}},
		{"no cluster's name", []string{"a.B"}, outcome{out: "APIVirtualRouterID: 14\nIngressVirtualRouterID: 93\n",
			err: "onprem-infra: warning: no cluster can be called \"a.B\", as it is no DNS label in lower case\n"}},
		{"empty", []string{""}, outcome{code: 1, err: "onprem-infra: a cluster without a name has no virtual router IDs: give it a name\n"}},
		{"nothing", nil, outcome{code: 2, err: usage}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := invoke(t, "", append([]string{"vr-ids"}, tt.args...)...); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
