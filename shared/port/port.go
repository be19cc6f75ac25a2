// Package port holds every port number that a cluster's on-prem networking uses, each with its
// owner. Configurations, health checks and probes all take their numbers from here.
package port

import (
	"maps"
	"slices"
)

// Port is one port on every host where its owner runs.
type Port struct {
	Name   string // as the user writes it
	Number uint16
	Owner  string // the program that listens
	// Free means that a cluster can choose another number. Other programs, documents or protocols
	// fix the rest.
	Free bool
}

// The names of the ports.
const (
	API = "api" // the API, on every control plane node and at the API VIP
	// the balanced API, where traffic for the VIP's API port is redirected to
	LB = "lb"
	// answers while the balancer runs and has at least one backend
	LBReady   = "lb-ready"
	LBMonitor = "lb-monitor" // answers while at least one backend is up
	// the balancer's statistics, and the two above, on the loopback only
	LBStats       = "lb-stats"
	MachineConfig = "machine-config" // Ignition documents over TLS; they hold secrets
	// the balanced machine-config port, for redirected traffic only
	MachineConfigLB = "machine-config-lb"
	DNS             = "dns"
	CoreDNSHealth   = "coredns-health"
	RouterStats     = "router-stats" // the ingress router's health, asked on the loopback
	IngressHTTP     = "ingress-http"
	IngressHTTPS    = "ingress-https"
	MonitorVIP      = "monitor-vip" // the monitors' health, asked by kubelet on the loopback
	MonitorLB       = "monitor-lb"
	MonitorDNS      = "monitor-dns"
	MonitorMDNS     = "monitor-mdns"
	MDNS            = "mdns"      // multicast DNS, which programs of a host share
	Supervise       = "supervise" // keepalived's health, served by its parent on the loopback
	// the provisioning API, probed on the bootstrap machine before the API VIP is released
	Ironic           = "ironic"
	ProvisioningHTTP = "provisioning-http" // boot files and images, on the provisioning network
	VirtualMedia     = "virtual-media"     // ISOs over TLS, fetched by BMCs
	// the balanced Ironic and virtual media of the cluster, where traffic for the VIP's ports of
	// these names is redirected to
	IronicLB       = "ironic-lb"
	VirtualMediaLB = "virtual-media-lb"
	// the provisioning API of the cluster's pod, where proxies of its operator have the port ironic
	IronicBackend    = "ironic-backend"
	MonitorAddress   = "monitor-address"   // metrics of the bootstrap machine's address
	MonitorDHCP      = "monitor-dhcp"      // health and metrics of the DHCP server of either phase
	MonitorHTTP      = "monitor-http"      // metrics of the server of boot files and media
	MonitorProvision = "monitor-provision" // metrics of the phase machine
	MonitorIronic    = "monitor-ironic"    // metrics of the bootstrap machine's Ironic
	Speaker          = "speaker"           // health and metrics of FRR's parent, on the loopback
	Clients          = "vip-clients"       // UDP: nodes report the clients of VIPs to each other
)

// All lists every port, in the order of the names above.
func All() []Port {
	return []Port{
		{API, 6443, "kube-apiserver", true},
		{LB, 9445, "HAProxy", true},
		{LBReady, 9444, "HAProxy", true},
		{LBMonitor, 9454, "HAProxy", true},
		{LBStats, 29445, "HAProxy", true},
		{MachineConfig, 22623, "machine-config-server", false},
		{MachineConfigLB, 9446, "HAProxy", true},
		{DNS, 53, "CoreDNS", false}, // resolv.conf cannot name a port
		{CoreDNSHealth, 18080, "CoreDNS", true},
		{RouterStats, 1936, "ingress router", false},
		{IngressHTTP, 80, "ingress router", false},
		{IngressHTTPS, 443, "ingress router", false},
		{MonitorVIP, 9455, "onprem-infra monitor vip", true},
		{MonitorLB, 9456, "onprem-infra monitor lb", true},
		{MonitorDNS, 9457, "onprem-infra monitor dns", true},
		{MonitorMDNS, 9459, "onprem-infra monitor mdns", true},
		{MDNS, 5353, "multicast DNS", false},
		{Supervise, 9458, "onprem-supervise", true},
		{Ironic, 6385, "Ironic", false},
		{ProvisioningHTTP, 6180, "onprem-infra bootstrap run http", false},
		{VirtualMedia, 6183, "onprem-infra bootstrap run http", false},
		{IronicLB, 9448, "HAProxy", true},
		{VirtualMediaLB, 9449, "HAProxy", true},
		{IronicBackend, 6388, "Ironic", false},
		{MonitorAddress, 9471, "onprem-infra bootstrap run address", true},
		{MonitorDHCP, 9463, "onprem-infra bootstrap run dhcp, monitor dhcp", true},
		{MonitorHTTP, 9464, "onprem-infra bootstrap run http", true},
		{MonitorProvision, 9465, "onprem-infra bootstrap run provision", true},
		{MonitorIronic, 9462, "onprem-infra bootstrap run ironic", true},
		{Speaker, 9466, "onprem-speak", true},
		{Clients, 9467, "onprem-infra monitor vip", true},
	}
}

// Provisions reports whether a port is only of clusters whose hosts are provisioned.
func Provisions(name string) bool {
	return slices.Contains([]string{MonitorAddress, MonitorDHCP, MonitorHTTP, MonitorIronic,
		MonitorProvision}, name)
}

// BalancesIronic reports whether a port is only of clusters whose balancer serves Ironic.
func BalancesIronic(name string) bool {
	return name == IronicLB || name == VirtualMediaLB || name == IronicBackend
}

// Balances reports whether the configuration of a node's balancer depends on a port. It has those
// of Ironic's pods from the API.
func Balances(name string) bool {
	return slices.Contains([]string{API, LB, LBReady, LBMonitor, LBStats, MachineConfig,
		MachineConfigLB, IronicLB, VirtualMediaLB}, name)
}

// Lookup finds a port by name.
func Lookup(name string) (Port, bool) {
	all := All()
	i := slices.IndexFunc(all, func(p Port) bool { return p.Name == name })
	if i < 0 {
		return Port{}, false
	}
	return all[i], true
}

// Numbers gives every port its number, with the cluster's own choices in place of the defaults.
func Numbers(choices map[string]uint16) map[string]uint16 {
	numbers := map[string]uint16{}
	for _, p := range All() {
		numbers[p.Name] = p.Number
	}
	maps.Copy(numbers, choices)
	return numbers
}
