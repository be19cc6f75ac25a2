package units

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// ofDaemons are the directives that systemd-analyze asks of every service and that our daemons
// leave out, with the reason.
var ofDaemons = map[string]string{
	"RootDirectory=/RootImage=":                "the program hands the host's own directories to its container by their paths",
	"User=/DynamicUser=":                       "podman's socket is root's, and so are the registry credentials and the container's first process that is signalled",
	"PrivateUsers=":                            "as User=: a root of another user namespace may not open the socket",
	"PrivateNetwork=":                          "it reads the host's network and serves it",
	"IPAddressDeny=":                           "the cluster's settings decide its peers: its API, its VIPs, its name servers",
	"RestrictAddressFamilies=~AF_UNIX":         "podman's socket, and systemd's for READY",
	"RestrictAddressFamilies=~AF_(INET|INET6)": "the probes of the API, of Ironic and of CoreDNS",
	"RestrictAddressFamilies=~AF_NETLINK":      "links, addresses and routes, and their changes",
	"ProtectHome=":                             "read-only: registry credentials are below /root, and may come later than the unit",
	"ProtectProc=":                             "a process of a container that has a capability which we lack would be invisible, and could not be told from a foreign one",
	"ProcSubset=":                              "as ProtectProc=: it reads other processes in /proc",
	"DeviceAllow=":                             "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                                   "each file is written with a mode of its own, and every user of the machine may read it",
}

// ofListener are those of a daemon that receives the adverts of its VRRP group.
var ofListener = func() map[string]string {
	more := maps.Clone(ofDaemons)
	more["RestrictAddressFamilies=~AF_PACKET"] = "it receives VRRP adverts of every router"
	more["CapabilityBoundingSet=~CAP_NET_(BIND_SERVICE|BROADCAST|RAW)"] = "as AF_PACKET"
	return more
}()

// ofProvisioning are those of the units that provision hosts and run containers by podman.
var ofProvisioning = func() map[string]string {
	same := maps.Clone(ofDaemons)
	same["PrivateNetwork="] = "hosts reach it, or what it runs, over the network"
	same["IPAddressDeny="] = "the cluster's settings decide its peers: hosts, their BMCs, the servers of images"
	same["RestrictAddressFamilies=~AF_(INET|INET6)"] = "it serves hosts, or asks what its container serves"
	return same
}()

// ofDHCP are those of the one that also keeps DHCP to the hosts that are to get an answer.
var ofDHCP = func() map[string]string {
	more := maps.Clone(ofProvisioning)
	more["CapabilityBoundingSet=~CAP_NET_ADMIN"] = "rules of the packet filter close DHCP's ports before the server ends"
	more["RestrictAddressFamilies=~AF_PACKET"] = "it receives what other DHCP servers of the link send to others"
	more["CapabilityBoundingSet=~CAP_NET_(BIND_SERVICE|BROADCAST|RAW)"] = "as AF_PACKET"
	return more
}()

// ofInterface are those of the unit that holds the provisioning address. It runs no container.
var ofInterface = map[string]string{
	"RootDirectory=/RootImage=":                                   "its report is a file of the host",
	"User=/DynamicUser=":                                          "the directory of the reports is root's",
	"PrivateUsers=":                                               "as User=: and capabilities over the host's network are those of its root",
	"PrivateNetwork=":                                             "it sets an address of the host's network",
	"IPAddressDeny=":                                              "the cluster's settings decide the network that is probed",
	"RestrictAddressFamilies=~AF_UNIX":                            "systemd's socket for READY",
	"RestrictAddressFamilies=~AF_(INET|INET6)":                    "neighbour discovery, and the kernel's requests about interfaces",
	"RestrictAddressFamilies=~AF_NETLINK":                         "links and addresses, and their changes",
	"RestrictAddressFamilies=~AF_PACKET":                          "it asks by ARP whether another host has the address",
	"CapabilityBoundingSet=~CAP_NET_ADMIN":                        "it sets the address",
	"CapabilityBoundingSet=~CAP_NET_(BIND_SERVICE|BROADCAST|RAW)": "as AF_PACKET",
	"DeviceAllow=":                                                "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                                                      "each file is written with a mode of its own, and every user of the machine may read it",
}

// ofProvision are those of the phase machine. It runs no container and changes no network.
var ofProvision = map[string]string{
	"RootDirectory=/RootImage=":                                   "its files are those of the host: the secrets of the hosts, the journal, the orders",
	"User=/DynamicUser=":                                          "the file with the secrets of the hosts is root's",
	"PrivateUsers=":                                               "as User=",
	"PrivateNetwork=":                                             "it asks Ironic, BMCs and the cluster's API",
	"IPAddressDeny=":                                              "the cluster's settings decide where BMCs are",
	"RestrictAddressFamilies=~AF_UNIX":                            "systemd's socket for READY",
	"RestrictAddressFamilies=~AF_(INET|INET6)":                    "it asks Ironic, BMCs and the cluster's API",
	"RestrictAddressFamilies=~AF_NETLINK":                         "the resolver sorts a name's addresses by the routes to them",
	"RestrictAddressFamilies=~AF_PACKET":                          "it asks for other DHCP servers as a host that boots does, from no address",
	"CapabilityBoundingSet=~CAP_NET_(BIND_SERVICE|BROADCAST|RAW)": "as AF_PACKET",
	"DeviceAllow=":                                                "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                                                      "each file is written with a mode of its own",
}

// ofInstall are those of the unit that unpacks our image by podman's command line, which does by
// itself what podman's service does for the daemons.
var ofInstall = map[string]string{
	"RootDirectory=/RootImage=":                           "it installs on the host",
	"User=/DynamicUser=":                                  "it installs as root, from root's container storage",
	"PrivateUsers=":                                       "an image's files belong to the host's users",
	"PrivateNetwork=":                                     "it pulls",
	"IPAddressDeny=":                                      "the cluster's settings decide the registry",
	"RestrictAddressFamilies=~AF_UNIX":                    "podman's helpers, and the name service",
	"RestrictAddressFamilies=~AF_(INET|INET6)":            "it pulls",
	"RestrictAddressFamilies=~AF_NETLINK":                 "the resolver sorts a registry's addresses by the routes to them",
	"RestrictNamespaces=~mnt":                             "a layer is unpacked in a file system namespace of its own",
	"CapabilityBoundingSet=~CAP_SYS_ADMIN":                "it mounts the image",
	"CapabilityBoundingSet=~CAP_SYS_(NICE|RESOURCE)":      "podman sets its own limits, and complains in every message if it may not",
	"CapabilityBoundingSet=~CAP_SYS_CHROOT":               "a layer is unpacked in a root of its own, so that no link in it leads out",
	"CapabilityBoundingSet=~CAP_(DAC_*|FOWNER|IPC_OWNER)": "an image's files belong to others",
	"CapabilityBoundingSet=~CAP_(CHOWN|FSETID|SETFCAP)":   "an image's files belong to others and may have capabilities",
	"CapabilityBoundingSet=~CAP_SET(UID|GID|PCAP)":        "podman asks what it may be before it unpacks",
	"RestrictSUIDSGID=":                                   "an image has such files, which its base brings along",
	"SystemCallFilter=~@mount":                            "it mounts the image",
	"SystemCallFilter=~@privileged":                       "chown and chroot, to unpack an image",
	"NoNewPrivileges=":                                    "SELinux would keep podman in the script's domain",
	"ProtectSystem=":                                      "full: below /var and /run is the container storage",
	"ProtectHome=":                                        "read-only: registry credentials are below /root",
	"ProtectProc=":                                        "podman checks whether the process that holds a lock is alive",
	"ProcSubset=":                                         "podman asks the kernel for file systems, namespaces and overlay's features",
	"DeviceAllow=":                                        "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                                              "every user may run the programs, an image's files have modes of their own",
}

// ofResolv are those of the unit that rewrites resolv.conf.
var ofResolv = map[string]string{
	"RootDirectory=/RootImage=":        "it replaces the host's own file",
	"User=/DynamicUser=":               "the file is root's",
	"PrivateUsers=":                    "the file is root's",
	"RestrictAddressFamilies=~AF_UNIX": "the shell's tools ask the name service who they are",
	"NoNewPrivileges=":                 "SELinux would keep restorecon in the script's domain, where it may label nothing",
	"DeviceAllow=":                     "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                           "the script sets the mode of the one file that it makes",
}

// ofLeave are those of the unit that makes one request of keepalived's parent and waits until it is
// done.
var ofLeave = map[string]string{
	"RootDirectory=/RootImage=":        "the request is a file of the host",
	"User=/DynamicUser=":               "the directory of the request is root's",
	"PrivateUsers=":                    "the directory of the request is root's",
	"RestrictAddressFamilies=~AF_UNIX": "the program's log",
	"DeviceAllow=":                     "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                           "every user of the machine may read the request",
}

// ofDescribe are those of the unit that makes two files of one.
var ofDescribe = map[string]string{
	"RootDirectory=/RootImage=": "it writes files of the host",
	"User=/DynamicUser=":        "the files are root's",
	"PrivateUsers=":             "the files are root's",
	"DeviceAllow=":              "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                    "each file is written with a mode of its own, and every user of the machine may read one of them",
}

// ofNodeIP are those of the units around the node's addresses.
var ofNodeIP = map[string]string{
	"RootDirectory=/RootImage=":                "it writes drop-ins for the host's own units",
	"User=/DynamicUser=":                       "the drop-ins are root's",
	"PrivateUsers=":                            "the drop-ins are root's",
	"PrivateNetwork=":                          "it reads the host's network",
	"RestrictAddressFamilies=~AF_UNIX":         "the shell's tools ask the name service who they are",
	"RestrictAddressFamilies=~AF_(INET|INET6)": "an address is bound to see whether it can be used",
	"RestrictAddressFamilies=~AF_NETLINK":      "links, addresses and routes",
	"DeviceAllow=":                             "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                                   "each file is written with a mode of its own, and every user of the machine may read it",
}

// ofPrepender are those of the unit that writes a node's resolv.conf.
var ofPrepender = map[string]string{
	"RootDirectory=/RootImage=":            "it replaces the host's own files",
	"User=/DynamicUser=":                   "the files are root's",
	"PrivateUsers=":                        "the files are root's",
	"PrivateNetwork=":                      "it reads the host's network",
	"RestrictAddressFamilies=~AF_UNIX":     "the message bus",
	"RestrictAddressFamilies=~AF_NETLINK":  "links, addresses and routes",
	"CapabilityBoundingSet=~CAP_SYS_ADMIN": "systemd demands it to restart systemd-resolved",
	"DeviceAllow=":                         "PrivateDevices= closes it; what is left, to read the clock's device, is ProtectClock='s own doing",
	"UMask=":                               "each file is written with a mode of its own, and every user of the machine may read it",
}

// ofBrEx are those of the unit that only reads links.
var ofBrEx = func() map[string]string {
	less := maps.Clone(ofNodeIP)
	delete(less, "RestrictAddressFamilies=~AF_(INET|INET6)")
	return less
}()

// unprotected are services without any protection, with the words in the unit that give the reason.
var unprotected = map[string]string{
	"onprem-resolv-changed.service":  "# It has no sandbox. It reads nothing",
	"on-prem-resolv-changed.service": "# It has no sandbox. It reads nothing",
}

// TestExposure holds that each directive of systemd's own list is set in each of our services, or
// has its reason here. One that is dropped from a unit has none, and a reason that is not needed
// any more does not stay.
func TestExposure(t *testing.T) {
	analyze := need.Command(t, "systemd-analyze")
	explained := map[string]map[string]string{
		"onprem-keepalived.service": ofListener, "onprem-coredns.service": ofDaemons,
		"onprem-speaker.service": ofDaemons,
		"onprem-install.service": ofInstall, "onprem-resolv.service": ofResolv,
		"onprem-vip-leave.service": ofLeave, "on-prem-resolv-prepender.service": ofPrepender,
		"nodeip-configuration.service": ofNodeIP, "wait-for-node-ip.service": ofNodeIP,
		"wait-for-br-ex-up.service": ofBrEx, "onprem-describe.service": ofDescribe,
		"onprem-httpd.service": ofProvisioning, "onprem-ironic.service": ofProvisioning,
		"onprem-dnsmasq.service": ofDHCP, "onprem-provision.service": ofProvision,
		"onprem-provisioning-interface.service": ofInterface,
	}
	for unit, u := range all(t) {
		if u.Contents != nil && filepath.Ext(unit) == ".service" && explained[unit] == nil &&
			unprotected[unit] == "" {
			t.Errorf("%s: list here which directives it lacks, and why", unit)
		}
		if reason := unprotected[unit]; !strings.Contains(string(all(t)[unit].Contents), reason) {
			t.Errorf("%s lacks the text %q", unit, reason)
		}
	}
	for unit, reasons := range explained {
		path := filepath.Join(t.TempDir(), unit)
		if err := os.WriteFile(path, all(t)[unit].Contents, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--json=short", path).Output()
		if err != nil {
			t.Fatalf("systemd-analyze security %s: %v", unit, err)
		}
		var directives []struct {
			Name, Description string
			Set               *bool // nil: does not apply
		}
		if err := json.Unmarshal(out, &directives); err != nil || len(directives) < 70 {
			t.Fatalf("%d directives, %v: %s", len(directives), err, out)
		}
		open := map[string]string{}
		for _, d := range directives {
			if d.Set != nil && !*d.Set {
				open[d.Name] = d.Description
			}
		}
		for _, name := range slices.Sorted(maps.Keys(open)) {
			if reasons[name] == "" {
				t.Errorf("%s: %s (%s): set it, or list the reason here", unit, name, open[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(reasons)) {
			if _, ok := open[name]; !ok {
				t.Errorf("%s: %s is set: its reason is not needed any more", unit, name)
			}
		}
	}
}
