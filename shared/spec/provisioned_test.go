package spec

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	hidden "github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// goodProvisioned is an install-config whose hosts are switched on by their BMCs.
const goodProvisioned = `apiVersion: v1
baseDomain: example.com
metadata:
  name: prod
controlPlane:
  replicas: 3
compute: [{name: worker, replicas: 1}]
networking:
  machineNetwork:
  - cidr: 192.0.2.0/24
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    provisioningNetwork: Managed
    provisioningNetworkCIDR: 172.22.0.0/24
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      bmc: {address: 'redfish://198.51.100.1/redfish/v1/Systems/1', username: s3cret, password: s3cret}
    - name: m1
      role: master
      bootMACAddress: 52:54:00:00:00:02
      bmc: {address: 'redfish-virtualmedia://198.51.100.2/redfish/v1/Systems/1', username: s3cret, password: s3cret}
    - name: m2
      role: master
      bootMACAddress: 52:54:00:00:00:03
      bmc: {address: 'ipmi://198.51.100.3', username: s3cret, password: s3cret}
    - name: w0
      role: worker
      bootMACAddress: 52:54:00:00:00:04
      bmc: {address: 'redfish-uefihttp://198.51.100.4/redfish/v1/Systems/1', username: s3cret, password: s3cret}
pullSecret: '{"auths":{"s3cret":{"auth":"s3cret"}}}'
`

// goodOwn is a cluster.yaml of the same hosts.
const goodOwn = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata:
  name: prod
spec:
  baseDomain: example.com
  platform: none
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning:
    network: managed
    cidr: 172.22.0.0/24
    ip: 172.22.0.3
    dhcp: {unknown: refuse, range: '172.22.0.10,172.22.0.20', lease: 1h, gateway: 172.22.0.1}
  hosts:
  - name: m0
    role: master
    bmc: {address: 'redfish://198.51.100.1/redfish/v1/Systems/1', credentials: {file: m0.yaml}, verify: ca}
    bootMAC: 52:54:00:00:00:01
  - name: m1
    role: master
    bmc: {address: 'ipmi://198.51.100.2', credentials: {file: m1.yaml}}
    bootMAC: 52:54:00:00:00:02
`

func TestProvisionedInstallConfig(t *testing.T) {
	text := edit{"    provisioningNetwork: Managed\n", `    provisioningNetwork: Managed
    provisioningMACAddress: 52-54-00-0A-00-01
    externalMACAddress: 52:54:00:0a:00:02
    provisioningNetworkInterface: enp1s0
    clusterProvisioningIP: 172.22.0.7
    bootstrapProvisioningIP: 172.22.0.8
    provisioningDHCPRange: 172.22.0.50,172.22.0.99
    additionalNTPServers: [192.0.2.9, 192.0.2.10]
`, "    - name: w0\n", `    - name: w0
      bootMode: legacy
      rootDeviceHints: {deviceName: /dev/disk/by-path/pci-0, minSizeGigabytes: 100, rotational: false}
      hardwareProfile: default
      networkConfig: {interfaces: [{name: eno1, mac-address: '52:54:00:00:00:04', mtu: 1500}]}
`, "redfish-uefihttp:", "redfish-virtualmedia+https:"}.of(t, goodProvisioned)
	cluster, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) > 0 {
		t.Fatal(lines(findings))
	}
	want := Provisioning{
		Network: provisioning.Managed, CIDR: netip.MustParsePrefix("172.22.0.0/24"), Interface: "enp1s0",
		MACs:    []mac.MAC{{0x52, 0x54, 0, 10, 0, 1}}, // that of the other network is no card of this one
		Address: provisioning.Two, IP: netip.MustParseAddr("172.22.0.7"), BootstrapIP: netip.MustParseAddr("172.22.0.8"),
		DHCP: provisioning.DHCP{First: netip.MustParseAddr("172.22.0.50"), Last: netip.MustParseAddr("172.22.0.99"),
			NTP: []string{"192.0.2.9", "192.0.2.10"}},
	}
	if !reflect.DeepEqual(cluster.Provisioning, want) {
		t.Errorf("got  %+v\nwant %+v", cluster.Provisioning, want)
	}
	address, _ := bmc.Parse("redfish-virtualmedia://198.51.100.4/redfish/v1/Systems/1")
	no := false
	host := Host{Name: "w0", Role: "worker", BootMACAddress: "52:54:00:00:00:04", BootMode: machine.Legacy, HardwareProfile: "default",
		BMC: machine.BMC{Address: address, AddressAt: document.Place{File: "c", Line: 44, Column: 22, Path: "platform.baremetal.hosts[3].bmc.address"},
			Username: hidden.New("s3cret"), Password: hidden.New("s3cret")},
		RootDisk: machine.RootDisk{DeviceName: "/dev/disk/by-path/pci-0", MinSizeGigabytes: 100, Rotational: &no},
		Network:  hidden.New("interfaces:\n    - name: eno1\n      mac-address: '52:54:00:00:00:04'\n      mtu: 1500\n"),
	}
	host.BootModeAt = document.Place{File: "c", Line: 38, Column: 17, Path: "platform.baremetal.hosts[3].bootMode"}
	if !reflect.DeepEqual(cluster.Hosts[3], host) {
		t.Errorf("got  %+v %q\nwant %+v", cluster.Hosts[3], cluster.Hosts[3].Network.Reveal(), host)
	}
}

// TestProvisionedInstallConfig_Cards holds which card of the bootstrap machine is on the network that hosts
// boot from: without a network of its own that is the one that the machine has anyway.
func TestProvisionedInstallConfig_Cards(t *testing.T) {
	external, both := "externalMACAddress: 52:54:00:0a:00:02", "provisioningMACAddress: 52:54:00:0a:00:01\n    externalMACAddress: 52:54:00:0a:00:02"
	for _, tt := range []struct{ network, cards, want string }{
		{"Managed", external, "[]"}, {"Unmanaged", external, "[]"},
		{"Managed", both, "[52:54:00:0a:00:01]"}, {"Unmanaged", both, "[52:54:00:0a:00:01]"},
		{"Disabled", external, "[52:54:00:0a:00:02]"},
	} {
		change := edit{"    provisioningNetwork: Managed\n", "    provisioningNetwork: " + tt.network + "\n    " + tt.cards + "\n"}
		if tt.network == "Disabled" {
			change = append(change, "    provisioningNetworkCIDR: 172.22.0.0/24\n", "", "redfish:", "redfish-virtualmedia:", "ipmi:", "redfish-virtualmedia:")
		}
		cluster, findings := Parse("c", []byte(change.of(t, goodProvisioned)), Knobs{})
		if got := fmt.Sprint(cluster.Provisioning.MACs); got != tt.want || findings.HasErrors() {
			t.Errorf("%s, %s: %s, want %s: %s", tt.network, tt.cards, got, tt.want, lines(findings))
		}
	}
}

func TestProvisionedOwn(t *testing.T) {
	text := edit{"    cidr: 172.22.0.0/24\n", "    cidr: 172.22.0.0/24\n    interface: eno2\n    macs: ['52:54:00:0a:00:01']\n    address: one\n    bmcCA: /etc/bmc.pem\n    expectedServers: ['fe80::1', '52-54-00-00-00-99']\n",
		"gateway: 172.22.0.1", "gateway: 172.22.0.1, dns: [172.22.0.1], ntp: [192.0.2.10]"}.of(t, goodOwn)
	cluster, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) > 0 {
		t.Fatal(lines(findings))
	}
	a := netip.MustParseAddr
	want := Provisioning{
		Network: provisioning.Managed, CIDR: netip.MustParsePrefix("172.22.0.0/24"), Interface: "eno2", MACs: []mac.MAC{{0x52, 0x54, 0, 10, 0, 1}},
		Address: provisioning.One, IP: a("172.22.0.3"), BMCCAFile: "/etc/bmc.pem", BMCCAAt: document.Place{File: "c", Line: 17, Column: 12, Path: "spec.provisioning.bmcCA"},
		ExpectedServers: []string{"fe80::1", "52-54-00-00-00-99"},
		DHCP: provisioning.DHCP{Unknown: provisioning.Refuse, First: a("172.22.0.10"), Last: a("172.22.0.20"), Lease: time.Hour,
			Gateway: a("172.22.0.1"), DNS: []netip.Addr{a("172.22.0.1")}, NTP: []string{"192.0.2.10"}},
	}
	if !reflect.DeepEqual(cluster.Provisioning, want) {
		t.Errorf("got  %+v\nwant %+v", cluster.Provisioning, want)
	}
	if h := cluster.Hosts[0]; h.BMC.Credentials != "m0.yaml" || h.BMC.Verify != machine.VerifyCA || h.MAC().String() != h.BootMACAddress {
		t.Errorf("host %+v", h)
	}
	if found := Check(cluster); len(found) > 0 {
		t.Errorf("Check: %s", lines(found))
	}
}

// TestUnprovisioned holds that an install-config whose hosts have no BMC is read whatever stands
// in the fields of provisioning, with one warning.
func TestUnprovisioned(t *testing.T) {
	text := edit{"    hosts:", "    provisioningNetworkCIDR: 192.0.2.1/8\n    provisioningDHCPRange: x\n    hosts:",
		"hardwareProfile: default", "rootDeviceHints: x\n      networkConfig: x\n      bootMode: x"}
	cluster, findings := Parse("c", []byte(text.of(t, goodInstallConfig)), Knobs{})
	if findings.HasErrors() || len(findings) != 1 || !reflect.DeepEqual(cluster.Provisioning, Provisioning{}) {
		t.Errorf("%+v\n%s", cluster.Provisioning, lines(findings))
	}
}

// TestRolesAreFilled holds that hosts without a role get the installer's, and that each is named.
func TestRolesAreFilled(t *testing.T) {
	text := strings.ReplaceAll(goodProvisioned, "      role: master\n", "")
	cluster, findings := Parse("c", []byte(strings.ReplaceAll(text, "      role: worker\n", "")), Knobs{})
	var roles []string
	for _, h := range cluster.Hosts {
		roles = append(roles, h.Role)
	}
	if got := strings.Join(roles, " "); got != "master master master worker" {
		t.Errorf("roles %s", got)
	}
	if len(findings) != 4 || !strings.Contains(findings[3].String(), `the host "w0" is taken as a worker`) {
		t.Error(lines(findings))
	}
}
