package handover

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

var own = Cluster{Metal3: true, Operator: true, Returns: true, Hosts: []string{"w0", "w1"}, Address: netip.MustParseAddr("172.22.0.3"), Cards: map[string]string{"02:00:00:00:00:01": "m0"}}

// hosts are a host of the control plane and two of the cluster, which wait.
func hosts(change ...func([]scale.Host)) []scale.Host {
	all := []scale.Host{{Name: "m0", External: true}, {Name: "w0", Paused: true, Handover: true}, {Name: "w1", Paused: true, Handover: true}}
	for _, c := range change {
		c(all)
	}
	return all
}

func begun(all []scale.Host) {
	all[1].Paused, all[1].Handover, all[1].State = false, false, "available"
}

var (
	paused   = scale.Operator{Exists: true, Paused: true, Handover: true}
	goesOn   = scale.Operator{Exists: true}
	byPerson = scale.Operator{Exists: true, Paused: true}
	errAway  = errors.New("connection refused")
	loose    = []scale.Pod{{Name: "metal3-5d4f-x7k2p", Node: "m1", ReplicaSet: "metal3-5d4f"}}
	lost     = []scale.Pod{{Name: "metal3-5d4f-x7k2p", Node: "m1", Ended: true, ReplicaSet: "metal3-5d4f"}}
)

// TestCluster holds, phase by phase, what is seen, what the phase waits for, and what it does.
func TestCluster(t *testing.T) {
	anyKubernetes := own
	anyKubernetes.Operator = false
	foreign := Cluster{Returns: true}
	noNetwork := own
	noNetwork.Address = netip.Addr{}
	listed := own
	listed.Listed = true
	none := own
	none.Hosts = nil
	for name, tt := range map[string]struct {
		do   func(Cluster, View) Next
		c    Cluster
		v    View
		want Next // texts by their beginning
	}{
		"the operator is paused":         {Cluster.Unpause, own, View{Fleet: scale.Fleet{Operator: paused}}, Next{Waits: "OpenShift's operator of metal3 to go on", Unpause: true}},
		"it goes on":                     {Cluster.Unpause, own, View{Fleet: scale.Fleet{Operator: goesOn}}, Next{Evidence: "OpenShift's operator of metal3 is not paused"}},
		"a person has paused it":         {Cluster.Unpause, own, View{Fleet: scale.Fleet{Operator: byPerson}}, Next{Waits: "OpenShift's operator of metal3, which is paused: run 'kubectl annotate provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused-'; a person has paused it"}},
		"its object is not there":        {Cluster.Unpause, own, View{}, Next{Waits: "the object that OpenShift's operator of metal3 follows: apply"}},
		"the API is away":                {Cluster.Unpause, own, View{Err: errAway, Fleet: scale.Fleet{Operator: goesOn}}, Next{Waits: "the cluster: connection refused"}},
		"there is no operator":           {Cluster.Unpause, anyKubernetes, View{Err: errAway}, Next{Evidence: "no operator was paused"}},
		"nothing is ours":                {Cluster.Unpause, foreign, View{Err: errAway}, Next{Evidence: Foreign}},
		"Ironic is not ready":            {Cluster.Takeover, own, View{Holders: []string{"x"}}, Next{Waits: "the cluster's own Ironic to be ready (the Deployment metal3)"}},
		"of any Kubernetes":              {Cluster.Takeover, anyKubernetes, View{Fleet: scale.Fleet{Deployment: "metal3-ironic", Pods: 1}}, Next{Waits: "the cluster's own Ironic to be ready (the Deployment metal3-ironic)"}},
		"no machine has the address":     {Cluster.Takeover, own, View{Fleet: scale.Fleet{Ironic: true}}, Next{Waits: "a machine of the cluster to have 172.22.0.3"}},
		"a node has it":                  {Cluster.Takeover, own, View{Fleet: scale.Fleet{Ironic: true}, Holders: []string{"02:00:00:00:00:01", "02:00:00:00:00:99"}}, Next{Evidence: "the cluster's own Ironic is ready, and 172.22.0.3 is at m0 (02:00:00:00:00:01), 02:00:00:00:00:99"}},
		"only another machine has it":    {Cluster.Takeover, listed, View{Fleet: scale.Fleet{Ironic: true}, Holders: []string{"02:00:00:00:00:99"}}, Next{Waits: "02:00:00:00:00:99, which has 172.22.0.3 and is no host of the description: switch it off"}},
		"another one and a node have it": {Cluster.Takeover, listed, View{Fleet: scale.Fleet{Ironic: true}, Holders: []string{"02:00:00:00:00:01", "02:00:00:00:00:99"}}, Next{Evidence: "the cluster's own Ironic is ready"}},
		"a node has it by its interface": {Cluster.Takeover, own, View{Fleet: scale.Fleet{Ironic: true}, Holders: []string{"02:00:00:00:00:99"}}, Next{Evidence: "the cluster's own Ironic is ready"}},
		"the network cannot be asked":    {Cluster.Takeover, own, View{Err: errAway, Fleet: scale.Fleet{Ironic: true}, Holders: []string{"x"}}, Next{Waits: "the cluster: connection refused"}},
		"there is no address":            {Cluster.Takeover, noNetwork, View{Fleet: scale.Fleet{Ironic: true}}, Next{Evidence: "the cluster's own Ironic is ready"}},
		"another one's Ironic":           {Cluster.Takeover, foreign, View{Err: errAway}, Next{Evidence: Foreign}},
		"hosts may begin":                {Cluster.Release, own, View{Fleet: scale.Fleet{Hosts: hosts(), Ironic: true, Bootstrap: true}}, Next{Waits: "metal3 to begin with 2 hosts", Begin: []string{"w0", "w1"}}},
		"Ironic has ended again":         {Cluster.Release, own, View{Fleet: scale.Fleet{Hosts: hosts(), Bootstrap: true}}, Next{Waits: "the cluster's own Ironic to be ready"}},
		"all have begun":                 {Cluster.Release, own, View{Fleet: scale.Fleet{Hosts: hosts(begun)[:2]}}, Next{Evidence: "no host waits; 1 have begun"}},
		"their objects are not there":    {Cluster.Release, own, View{Fleet: scale.Fleet{Ironic: true}}, Next{Waits: "the objects of 2 hosts: apply"}},
		"the cluster has no hosts":       {Cluster.Release, none, View{}, Next{Evidence: "no host waits"}},
		"the API refuses":                {Cluster.Release, own, View{Err: errAway}, Next{Waits: "the cluster: connection refused, or a person to run 'onprem-infra hosts release --apply'"}},
		"hosts of another":               {Cluster.Release, foreign, View{Err: errAway}, Next{Evidence: Foreign}},
		"taken back, and the API away":   {Cluster.TakeBack, own, View{Err: errAway}, Next{Waits: "the cluster: connection refused"}},
		"taken back, the operator works": {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: goesOn, Pods: 1}}, Next{Waits: "OpenShift's operator of metal3 to be paused", Pause: true}},
		"taken back, Ironic runs":        {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: paused, Pods: 1}}, Next{Waits: "the cluster: the cluster's own Ironic runs: stop it by 'kubectl annotate --overwrite provisionings"}},
		"taken back, the address stays":  {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: paused}, Holders: []string{"02:00:00:00:00:01"}}, Next{Waits: "the cluster: m0 (02:00:00:00:00:01) has 172.22.0.3"}},
		"taken back, a pod may run on":   {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: paused, MayRun: lost}}, Next{Waits: "the cluster: Kubernetes has not seen the end of the cluster's own Ironic on m1"}},
		"taken back, no Deployment":      {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: paused, MayRun: loose}}, Next{Waits: "the cluster: the cluster's own Ironic runs in the pod metal3-5d4f-x7k2p, without its Deployment"}},
		"taken back, a host has begun":   {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(begun), Operator: goesOn}}, Next{Waits: "'onprem-infra hosts hand-over': metal3 may have begun with 1 hosts (w0)"}},
		"taken back, and all is off":     {Cluster.TakeBack, own, View{Fleet: scale.Fleet{Hosts: hosts(), Operator: byPerson}}, Next{Evidence: "the cluster's own Ironic is off"}},
		"taken back from another":        {Cluster.TakeBack, foreign, View{Err: errAway}, Next{Evidence: Foreign}},
	} {
		got := tt.do(tt.c, tt.v)
		texts := strings.HasPrefix(got.Waits, tt.want.Waits) && strings.HasPrefix(got.Evidence, tt.want.Evidence) && (got.Waits == "") == (tt.want.Waits == "")
		if !texts || got.Pause != tt.want.Pause || got.Unpause != tt.want.Unpause || !slices.Equal(got.Begin, tt.want.Begin) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRefusal holds when a person may take provisioning back: not once a host of the cluster may have
// begun, nor while the cluster's own Ironic runs or has its address.
func TestRefusal(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	in := func(p progress.Phase, change ...func(*ledger.Memory)) ledger.Memory {
		m := ledger.Memory{Phase: p}
		for _, c := range change {
			c(&m)
		}
		return m
	}
	good := View{Fleet: scale.Fleet{Hosts: hosts(), Operator: paused}}
	with := func(change func(*View)) View {
		v := good
		v.Fleet.Hosts = slices.Clone(v.Fleet.Hosts)
		change(&v)
		return v
	}
	noNetwork, foreign := own, own
	noNetwork.Returns, foreign.Metal3 = false, false
	for name, tt := range map[string]struct {
		c    Cluster
		m    ledger.Memory
		v    View
		want string
	}{
		"the parts go off":        {own, in(progress.DHCPOff), good, ""},
		"Ironic is awaited":       {own, in(progress.Takeover), good, ""},
		"before the release":      {own, in(progress.Release), good, ""},
		"a cluster of another":    {foreign, in(progress.Release), View{Err: errAway}, ""},
		"before":                  {own, in(progress.Settle), good, `the handover has not begun: the phase is "settle"`},
		"after":                   {own, in(progress.Ended), good, "the handover has ended"},
		"taken back already":      {own, in(progress.Deploy, func(m *ledger.Memory) { m.Held = at }), good, "it was taken back at 2026-11-20T10:00:00Z: 'onprem-infra hosts hand-over' hands it over again"},
		"this machine released":   {own, in(progress.Release, func(m *ledger.Memory) { m.Released = at }), good, "this machine has let hosts of the cluster begin at 2026-11-20T10:00:00Z"},
		"a person released":       {own, in(progress.Takeover), with(func(v *View) { begun(v.Fleet.Hosts) }), "metal3 may have begun with 1 hosts (w0)"},
		"Ironic runs":             {own, in(progress.Takeover), with(func(v *View) { v.Fleet.Pods = 1 }), "the cluster's own Ironic runs: stop it by 'kubectl annotate --overwrite provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused=\"until the handover\" && kubectl --namespace openshift-machine-api scale deployment metal3 --replicas=0'"},
		"of any Kubernetes":       {own, in(progress.Takeover), with(func(v *View) { v.Fleet.Pods, v.Fleet.Deployment = 1, "metal3-ironic" }), "the cluster's own Ironic runs: stop it by 'kubectl --namespace onprem-infra-metal3 scale deployment metal3-ironic --replicas=0'"},
		"a pod may run on":        {own, in(progress.Takeover), with(func(v *View) { v.Fleet.MayRun = lost }), "Kubernetes has not seen the end of the cluster's own Ironic on m1, which may run on there: if that node does not come back, switch it off and run 'kubectl --namespace openshift-machine-api delete pod metal3-5d4f-x7k2p --grace-period=0 --force'"},
		"no Deployment counts it": {own, in(progress.Takeover), with(func(v *View) { v.Fleet.MayRun = loose }), "the cluster's own Ironic runs in the pod metal3-5d4f-x7k2p, without its Deployment: stop it by 'kubectl --namespace openshift-machine-api delete replicaset metal3-5d4f'"},
		"it has its address":      {own, in(progress.Takeover), with(func(v *View) { v.Holders = []string{"02:00:00:00:00:09"} }), "02:00:00:00:00:09 has 172.22.0.3"},
		"the API is away":         {own, in(progress.Takeover), View{Err: errAway}, "it is not known whether hosts of the cluster have begun: connection refused"},
		"no provisioning network": {noNetwork, in(progress.Takeover), good, "without a provisioning network"},
	} {
		if got := tt.c.Refusal(tt.m, tt.v); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
