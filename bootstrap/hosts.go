package bootstrap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
)

// Provisions reports whether the bootstrap machine of a plan provisions hosts: some hosts of the
// bootstrap phase have a BMC, and the plan has an image with Ironic.
func Provisions(p plan.Plan) bool { return provisions.Runs(p) }

// Options are what the machine gets beside the plan, which has no secrets. The zero value is for a
// machine that provisions no hosts.
type Options struct {
	// Hosts are those of the description, as spec.Parse returns them. Where a cluster.yaml names a
	// file with an account, the caller reads it into BMC.Username and BMC.Password, by
	// spec.NewSecret.
	Hosts []spec.Host
	// Ignition has the documents that hosts apply at their first boot, by the name of a host or by
	// its role. That of a host's name is used before that of its role.
	Ignition map[string][]byte
	// CA are certificates in PEM by which BMCs are verified; empty for those of the machine.
	CA string
	// File is the file of hosts of a machine that has one already. If it is not nil, it is taken as
	// it is, and Hosts, Ignition and CA are not used.
	File []byte
	// Passwords is the file of the routers' BGP passwords, for a machine that announces VIPs:
	// lines of a router's address or interface, a blank and its password. Nil for none. If File
	// is set too, this is the file that the machine already has, and it is taken as it is.
	Passwords []byte
}

// checkPasswords returns an error if the file of passwords is not valid, if it names an unknown
// router, or if no host announces VIPs.
func (o Options) checkPasswords(p plan.Plan) error {
	if o.Passwords == nil || o.File != nil { // that of a machine is taken as it is, too
		return nil
	}
	if p.BGP == nil {
		return errors.New("passwords of routers are given, and the cluster's hosts announce no " +
			"VIP: leave them out")
	}
	return announcing.CheckPasswords(*p.BGP, string(o.Passwords))
}

// WrongHosts is the error of AssetsWith for Options that do not fit the hosts that the machine
// provisions. Each list may be empty, but not all of them.
type WrongHosts struct {
	Absent     []string // hosts of the plan that Options.Hosts does not have
	NoAccount  []string // hosts without an account of their BMC, or with one that is in a file
	NoDocument []string // hosts without an Ignition document, each as NAME (ROLE)
	Unknown    []string // keys of Options.Ignition that are no host's name and no role of theirs
	Pinned     []string // hosts whose BMC is known by a digest, which Ironic cannot verify
	Legacy     []string // hosts whose firmware does not boot the medium that Ironic makes
	HTTP       []string // hosts that boot by HTTP, where no DHCP server names the program
}

const (
	fixPinned = "Ironic verifies by authorities alone: if the certificate is self-signed and " +
		"names the address of the BMC, put it into bmcCA and leave verify out, else give the " +
		"BMC one that does"
	fixLegacy = "choose the boot mode UEFI, or a BMC address by which the host boots over the " +
		"network"
	fixHTTP = "write a provisioning network into the description, or use redfish-virtualmedia"
)

func pinned(h provision.Host) bool { return strings.HasPrefix(h.Verify, machine.VerifyPin) }

func legacyMedium(h provision.Host) bool {
	return h.Boot == provision.VirtualMedia && h.BootMode == machine.Legacy
}

// unnamed reports whether a host is to boot by HTTP where there is no provisioning network, on
// which the DHCP server names the program.
func unnamed(p plan.Plan, h provision.Host) bool {
	return h.Boot == provision.UEFIHTTP && !p.Provisioning.CIDR.IsValid()
}

// Unfit returns findings about the described hosts that the bootstrap machine of the plan is to
// provision, but that its Ironic cannot install. AssetsWith reports the same hosts in WrongHosts,
// without their places in the description.
func Unfit(p plan.Plan, described []spec.Host) (all spec.Findings) {
	if !Provisions(p) {
		return nil
	}
	for _, h := range provisions.Hosts(p) {
		i := slices.IndexFunc(described, func(d spec.Host) bool { return d.Name == h.Name })
		if i < 0 {
			continue
		}
		if at := described[i].BMC.VerifyAt; pinned(h) {
			all = append(all, spec.Finding{File: at.File, Line: at.Line, Column: at.Column,
				Severity: spec.Error, Path: at.Path, Text: "is a digest of the BMC's " +
					"certificate, and the bootstrap machine provisions the host: " + fixPinned})
		}
		if at := described[i].BootModeAt; legacyMedium(h) {
			all = append(all, spec.Finding{File: at.File, Line: at.Line, Column: at.Column,
				Severity: spec.Error, Path: at.Path, Text: "the medium by which the bootstrap " +
					"machine provisions the host does not boot by legacy firmware: " + fixLegacy})
		}
		if at := described[i].BMC.AddressAt; unnamed(p, h) {
			all = append(all, spec.Finding{File: at.File, Line: at.Line, Column: at.Column,
				Severity: spec.Error, Path: at.Path, Text: "the bootstrap machine provisions " +
					"the host, which would boot by HTTP, and no DHCP server of a provisioning " +
					"network names the program: " + fixHTTP})
		}
	}
	return all
}

// none reports whether nothing is wrong.
func (w WrongHosts) none() bool {
	return len(w.Absent)+len(w.NoAccount)+len(w.NoDocument)+len(w.Unknown)+len(w.Pinned)+
		len(w.Legacy)+len(w.HTTP) == 0
}

func (w WrongHosts) Error() string {
	var all []string
	for _, fault := range []struct {
		names       []string
		before, fix string
	}{
		{w.NoDocument, "no Ignition document is given for ", "give one for each, by the name of " +
			"the host or by its role"},
		{w.Unknown, "an Ignition document is given for ", "name a host that the bootstrap " +
			"machine provisions, or the role of one"},
		{w.Absent, "the description of these hosts is missing: ", "give the hosts that " +
			"spec.Parse has returned"},
		{w.Pinned, "the BMC is known by the digest of its certificate (pin:) for ", fixPinned},
		{w.Legacy, "a medium that legacy firmware boots is not made for ", fixLegacy},
		{w.HTTP, "UEFI HTTP needs a provisioning network whose DHCP server names the boot " +
			"program, for ", fixHTTP},
		{w.NoAccount, "the account of the BMC is missing for ", "have the description name a " +
			"file of it, and read that file"},
	} {
		if len(fault.names) > 0 {
			all = append(all, fault.before+strings.Join(fault.names, ", ")+": "+fault.fix)
		}
	}
	return strings.Join(all, "; ")
}

// file is the file with the secrets of the hosts that the machine provisions, in the order of the
// plan.
func (o Options) file(p plan.Plan) ([]byte, error) {
	if o.File != nil {
		return o.File, nil
	}
	described := map[string]spec.Host{}
	for _, h := range o.Hosts {
		described[h.Name] = h
	}
	var wrong WrongHosts
	file, used := hostfile.File{CA: o.CA}, map[string]bool{}
	for _, h := range provisions.Hosts(p) {
		d, ok := described[h.Name]
		if !ok {
			wrong.Absent = append(wrong.Absent, h.Name)
		}
		if ok && d.BMC.Password.Empty() {
			wrong.NoAccount = append(wrong.NoAccount, h.Name)
		}
		if pinned(h) {
			wrong.Pinned = append(wrong.Pinned, h.Name)
		}
		if legacyMedium(h) {
			wrong.Legacy = append(wrong.Legacy, h.Name)
		}
		if unnamed(p, h) {
			wrong.HTTP = append(wrong.HTTP, h.Name)
		}
		used[h.Name], used[h.Role] = true, true
		document := o.Ignition[h.Name]
		if len(document) == 0 {
			document = o.Ignition[h.Role]
		}
		if len(document) == 0 {
			wrong.NoDocument = append(wrong.NoDocument, fmt.Sprintf("%s (%s)", h.Name, h.Role))
		}
		file.Hosts = append(file.Hosts, hostfile.Host{Name: h.Name, Username: d.BMC.Username,
			Password: d.BMC.Password, Ignition: secret.New(string(document)),
			RootDisk: d.RootDisk})
	}
	for _, key := range slices.Sorted(maps.Keys(o.Ignition)) {
		if !used[key] {
			wrong.Unknown = append(wrong.Unknown, key)
		}
	}
	if !wrong.none() {
		return nil, wrong
	}
	return hostfile.Encode(file), nil
}
