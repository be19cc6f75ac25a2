package port

import "testing"

// others are ports that other programs of a cluster's hosts are known to listen on.
var others = map[uint16]string{
	2379: "etcd", 2380: "etcd", 9977: "etcd", 9978: "etcd", 9979: "etcd", 6080: "kube-apiserver-operator", 17697: "kube-apiserver",
	4180: "machine-config-daemon", 8797: "machine-config-daemon", 9001: "machine-config-daemon", 9100: "node-exporter",
	7443: "kube-apiserver's recovery", 8080: "cluster-network-operator", 9443: "kube-controller-manager's recovery",
	9537: "CRI-O", 10010: "CRI-O", 10248: "kubelet", 10250: "kubelet", 10251: "kube-scheduler", 10256: "kube-proxy",
	10257: "kube-controller-manager", 10258: "cloud-controller-manager", 10259: "kube-scheduler", 10357: "cluster-policy-controller",
	10443: "ingress router", 10444: "ingress router", 11443: "kube-scheduler's recovery", 22624: "machine-config-server without TLS",
	6181: "image cache", 8084: "Ironic", 9447: "baremetal-operator",
	9608: "Ironic", 5050: "Ironic inspector", 60000: "baremetal-operator",
}

func TestAll(t *testing.T) {
	names, numbers := map[string]bool{}, map[uint16]string{}
	for _, p := range All() {
		if p.Name == "" || p.Owner == "" || p.Number == 0 {
			t.Errorf("%+v is not complete", p)
		}
		if names[p.Name] {
			t.Errorf("port %s is there twice", p.Name)
		}
		if first, taken := numbers[p.Number]; taken {
			t.Errorf("ports %s and %s are both %d", first, p.Name, p.Number)
		}
		if p.Number >= 30000 && p.Number <= 32767 {
			t.Errorf("port %s: %d may be handed out as a NodePort", p.Name, p.Number)
		}
		if p.Number >= 32768 && p.Number <= 60999 {
			t.Errorf("port %s: %d may be the source of any connection", p.Name, p.Number)
		}
		if owner, taken := others[p.Number]; taken {
			t.Errorf("port %s: %d belongs to %s", p.Name, p.Number, owner)
		}
		names[p.Name], numbers[p.Number] = true, p.Name
	}
}

// TestNumbers holds what other programs and operators rely on.
func TestNumbers(t *testing.T) {
	for name, want := range map[string]uint16{
		"api": 6443, "lb": 9445, "lb-ready": 9444, "lb-monitor": 9454, "lb-stats": 29445, "machine-config": 22623,
		"machine-config-lb": 9446, "coredns-health": 18080, "dns": 53, "router-stats": 1936, "ingress-http": 80, "ingress-https": 443,
		"ironic": 6385, "monitor-vip": 9455, "monitor-lb": 9456, "monitor-dns": 9457, "monitor-mdns": 9459, "mdns": 5353, "supervise": 9458,
		"provisioning-http": 6180, "virtual-media": 6183, "monitor-dhcp": 9463, "monitor-http": 9464,
		"ironic-lb": 9448, "virtual-media-lb": 9449, "ironic-backend": 6388,
	} {
		if p, ok := Lookup(name); !ok || p.Number != want {
			t.Errorf("port %s is %d (%v), want %d", name, p.Number, ok, want)
		}
	}
	if p, ok := Lookup("LB"); ok {
		t.Errorf("port LB found as %+v", p)
	}
}

func TestNumbers_Chosen(t *testing.T) {
	for name, tt := range map[string]struct{ choices, want map[string]uint16 }{
		"defaults": {nil, map[string]uint16{"lb": 9445, "api": 6443}},
		"a choice": {map[string]uint16{"lb": 9545}, map[string]uint16{"lb": 9545, "api": 6443}},
		"a swap": {map[string]uint16{"lb": 9444, "lb-ready": 9445},
			map[string]uint16{"lb": 9444, "lb-ready": 9445}},
	} {
		got := Numbers(tt.choices)
		for port, want := range tt.want {
			if got[port] != want || len(got) != len(All()) {
				t.Errorf("%s: port %s = %d of %d, want %d", name, port, got[port], len(got), want)
			}
		}
	}
}
