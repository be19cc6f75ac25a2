package kube

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

func addresses(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// fakeNode is what matters of a Node.
type fakeNode struct {
	Labels, Annotations map[string]string
	Addresses           [][2]string // type, address
}

func (f fakeNode) node() *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "master-0", ResourceVersion: "7", Labels: f.Labels, Annotations: f.Annotations,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{"x"}, SizeBytes: 1}}},
	}
	for _, a := range f.Addresses {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeAddressType(a[0]), Address: a[1]})
	}
	return n
}

func TestNodeAddresses(t *testing.T) {
	const cidrs, hosts = "k8s.ovn.org/host-cidrs", "k8s.ovn.org/host-addresses"
	for _, tt := range []struct {
		name string
		node fakeNode
		want addr.Candidate
	}{
		{"internal addresses in their order, nothing else",
			fakeNode{Addresses: [][2]string{{"Hostname", "192.0.2.9"}, {"InternalIP", "192.0.2.11"}, {"ExternalIP", "203.0.113.1"}, {"InternalIP", "2001:db8::11"}, {"InternalIP", "192.0.2.10"}}},
			addr.Candidate{InternalIPs: addresses("192.0.2.11", "2001:db8::11", "192.0.2.10")}},
		{"an address that is none", fakeNode{Addresses: [][2]string{{"InternalIP", "host.example.com"}, {"InternalIP", ""}, {"InternalIP", "192.0.2.10"}}},
			addr.Candidate{InternalIPs: addresses("192.0.2.10")}},
		{"K-15: an IPv4-mapped address stays IPv6", fakeNode{Addresses: [][2]string{{"InternalIP", "::ffff:192.0.2.10"}}},
			addr.Candidate{InternalIPs: addresses("::ffff:192.0.2.10")}},
		{"no address yet", fakeNode{}, addr.Candidate{}},
		{"annotated prefixes", fakeNode{Annotations: map[string]string{cidrs: `["192.0.2.10/24","2001:db8::10/64","192.0.2.5/32"]`}},
			addr.Candidate{Annotated: addresses("192.0.2.10", "2001:db8::10", "192.0.2.5")}},
		{"annotated addresses, the older form", fakeNode{Annotations: map[string]string{hosts: `["192.0.2.10","2001:db8::10"]`}},
			addr.Candidate{Annotated: addresses("192.0.2.10", "2001:db8::10")}},
		{"both: the newer counts", fakeNode{Annotations: map[string]string{cidrs: `["192.0.2.10/24"]`, hosts: `["192.0.2.99"]`}},
			addr.Candidate{Annotated: addresses("192.0.2.10")}},
		{"the newer is garbage", fakeNode{Annotations: map[string]string{cidrs: `{"a":1}`, hosts: `["192.0.2.99"]`}},
			addr.Candidate{Annotated: addresses("192.0.2.99")}},
		{"garbage among addresses", fakeNode{Annotations: map[string]string{cidrs: `[7,null,"x","192.0.2.300/24","192.0.2.10/99",["192.0.2.1"],"192.0.2.10/24"]`}},
			addr.Candidate{Annotated: addresses("192.0.2.10")}},
		{"not JSON", fakeNode{Annotations: map[string]string{cidrs: `192.0.2.10/24`}}, addr.Candidate{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Name = "master-0"
			if got := address(tt.node.node()); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("address() = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// One label selects the control plane of a running cluster; the bootstrap machine takes either.
func TestNodeLabels(t *testing.T) {
	const master, controlPlane = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"
	either := []string{controlPlane, master}
	for _, tt := range []struct {
		name   string
		marks  []string
		labels map[string]string
		want   Node
	}{
		{"none", either, nil, Node{}},
		{"a worker", either, map[string]string{"node-role.kubernetes.io/worker": ""}, Node{}},
		{"the older", either, map[string]string{master: ""}, Node{ControlPlane: true}},
		{"the newer", either, map[string]string{controlPlane: ""}, Node{ControlPlane: true}},
		{"any value", either, map[string]string{controlPlane: "true", "node-role.kubernetes.io/worker": ""}, Node{ControlPlane: true}},
		{"an arbiter", either, map[string]string{"node-role.kubernetes.io/arbiter": ""}, Node{Arbiter: true}},
		{"a remote worker", either, map[string]string{"node.openshift.io/remote-worker": ""}, Node{Remote: true}},
		{"one without VIPs", either, map[string]string{"onprem-infra.node-restriction.kubernetes.io/no-vip": ""}, Node{Remote: true, Apart: true}},
		{"a rack", either, map[string]string{"onprem-infra.io/rack": "b"}, Node{Rack: "b"}},
		{"the one that counts", []string{master}, map[string]string{master: ""}, Node{ControlPlane: true}},
		{"the other", []string{master}, map[string]string{controlPlane: ""}, Node{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels}}
			if got := readNode(n, tt.marks); !got.Equal(tt.want) {
				t.Errorf("readNode() = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestNodeReady(t *testing.T) {
	for _, tt := range []struct {
		conditions []corev1.NodeCondition
		want       bool
	}{
		{nil, false},
		{[]corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}, true},
		{[]corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}, false},
		{[]corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}, false},
		{[]corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}, false},
	} {
		n := &corev1.Node{Status: corev1.NodeStatus{Conditions: tt.conditions}}
		if got := readNode(n, nil).Ready; got != tt.want {
			t.Errorf("%v: ready %v, want %v", tt.conditions, got, tt.want)
		}
	}
}

// What is kept of a Node of a long list must be all that is read of it, and little else.
func TestSlimNode(t *testing.T) {
	clientsKey := strings.Repeat("A", 43) + "=" // 32 bytes
	node := func() *corev1.Node {
		n := fakeNode{Labels: map[string]string{labelMaster: ""}, Addresses: [][2]string{{"InternalIP", "192.0.2.10"}},
			Annotations: map[string]string{cidrs: `["192.0.2.10/24"]`, hosts: `["192.0.2.11"]`, notice.Rank: "3",
				notice.ClientsKey: clientsKey, notice.Way: "lan/unicast", machineState: "Done", "a": strings.Repeat("b", 10000)}}.node()
		n.CreationTimestamp, n.Status.NodeInfo = metav1.Unix(1_700_000_000, 0), corev1.NodeSystemInfo{KubeletVersion: "v1.33.1", OSImage: "a"}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1_700_000_100, 0), Message: "kubelet is posting ready status"}}
		return n
	}
	whole, slim := node(), node()
	slimNode(slim)
	if got := readNode(slim, nil); got.Rank != "3" || !got.Created.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("its rank is %q, of a Node of %s", got.Rank, got.Created)
	} else if !got.Ready || !got.Since.Equal(time.Unix(1_700_000_100, 0)) {
		t.Errorf("it is ready %t since %s", got.Ready, got.Since)
	} else if got.Way != "lan/unicast" || got.State != "Done" || got.Kubelet != "v1.33.1" {
		t.Errorf("its way is %q, its state %q, of kubelet %q", got.Way, got.State, got.Kubelet)
	} else if got.ClientsKey != clientsKey {
		t.Errorf("its key is %q", got.ClientsKey)
	}
	if want := readNode(whole, []string{labelMaster}); !reflect.DeepEqual(readNode(slim, []string{labelMaster}), want) || slim.ResourceVersion != "7" {
		t.Errorf("read %+v of the slim node of version %s, want %+v", readNode(slim, []string{labelMaster}), slim.ResourceVersion, want)
	}
	if len(slim.Status.Images) > 0 || len(slim.ManagedFields) > 0 || len(slim.Annotations) != 6 || len(slim.Status.Conditions) != 1 || slim.Status.NodeInfo.OSImage != "" {
		t.Errorf("the slim node holds %v %v %v", slim.Status.Images, slim.ManagedFields, slim.Annotations)
	}
}

// Whatever a Node holds, nothing panics and no invalid address is taken.
func FuzzAddress(f *testing.F) {
	f.Add("192.0.2.10", `["192.0.2.10/24","2001:db8::10/64"]`)
	f.Add("2001:db8::10", `["192.0.2.10"]`)
	f.Add("fe80::1%eth0", `[7,null,["::1"],"::ffff:192.0.2.1/99"]`)
	f.Add("", `{"a":1}`)
	f.Fuzz(func(t *testing.T, internal, hosts string) {
		n := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"k8s.ovn.org/host-cidrs": hosts}},
			Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: internal}}},
		}
		got := address(n)
		for _, ip := range append(got.InternalIPs, got.Annotated...) {
			if !ip.IsValid() {
				t.Errorf("address() = %+v", got)
			}
		}
	})
}

// TestAddress_Bounded reads of a Node with 15,000 InternalIPs only so many, of each family.
func TestAddress_Bounded(t *testing.T) {
	var f fakeNode
	for i := range 15000 {
		f.Addresses = append(f.Addresses, [2]string{"InternalIP", fmt.Sprintf("10.0.%d.%d", i/250, 1+i%250)},
			[2]string{"ExternalIP", "203.0.113.1"})
	}
	f.Addresses = append(f.Addresses, [2]string{"InternalIP", "2001:db8::11"})
	got := address(f.node()).InternalIPs
	if len(got) != mostInternal+1 || got[0] != netip.MustParseAddr("10.0.0.1") || got[mostInternal] != netip.MustParseAddr("2001:db8::11") {
		t.Errorf("%d addresses are read: %v", len(got), got)
	}
}

// TestAnnotated_Bounded reads of a Node that claims 15,000 addresses only so many.
func TestAnnotated_Bounded(t *testing.T) {
	var all []string
	for i := range 15000 {
		all = append(all, fmt.Sprintf(`"10.0.%d.%d/16"`, i/250, 1+i%250))
	}
	if got := annotated("[" + strings.Join(all, ",") + "]"); len(got) != mostAnnotated {
		t.Errorf("%d addresses are read, want %d", len(got), mostAnnotated)
	}
}
