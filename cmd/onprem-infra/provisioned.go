package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/ignition/verify"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/accounts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const hostIgnition = "host-ignition"

// hostDocuments are the flags --host-ignition, --bgp-passwords and, of render, --infra-id.
type hostDocuments struct {
	values    []string
	passwords *routerPasswords
	infraID   string
}

func hostIgnitionFlag(cmd *cobra.Command) *hostDocuments {
	d := &hostDocuments{passwords: bgpPasswordsFlag(cmd, "hosts get it with mode 0600")}
	cmd.Flags().StringArrayVar(&d.values, hostIgnition, nil, "Ignition document of a host that "+
		"the bootstrap machine provisions, as HOST=FILE or ROLE=FILE; a host's own is used before "+
		"that of its role; may be given more than once")
	return d
}

// files are the files that the flags name.
func (d *hostDocuments) files() (all []string) {
	all = d.passwords.files()
	for _, value := range d.values {
		_, file, _ := strings.Cut(value, "=")
		all = append(all, file)
	}
	return all
}

// read returns the documents by the name of a host or by a role.
func (d *hostDocuments) read() (map[string][]byte, error) {
	all := map[string][]byte{}
	var wrong []error
	for _, value := range d.values {
		name, file, _ := strings.Cut(value, "=")
		if r, err := role.Parse(name); err == nil {
			name = string(r) // it may be an alias
		}
		switch _, twice := all[name]; {
		case name == "" || file == "":
			return nil, usage("--%s %q: write the name of a host or its role, = and the file of "+
				"its Ignition document", hostIgnition, value)
		case twice:
			return nil, usage("--%s names %s twice: leave one out", hostIgnition, name)
		}
		text, err := readFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usage("--%s: there is no file %s: name one that exists", hostIgnition,
				file)
		case err != nil:
			return nil, err
		case len(text) >= inputLimit:
			wrong = append(wrong, fmt.Errorf("%s is longer than %d bytes: have the document "+
				"fetch what is long from a server", file, inputLimit-1))
		default:
			if err := verify.Document(text); err != nil {
				wrong = append(wrong, fmt.Errorf("%s is no Ignition document for %s: %w", file,
					name, err))
			}
		}
		all[name] = text
	}
	if len(wrong) > 0 {
		return nil, negative(errors.Join(wrong...))
	}
	return all, nil
}

// options are what the bootstrap machine gets beside the plan: nothing if it provisions no hosts.
func (d *hostDocuments) options(std streams, in *input, p plan.Plan, described spec.Cluster) (
	o bootstrap.Options, err error) {
	if o.Passwords, err = d.passwords.read(std, in, p, described); err != nil {
		return o, err
	}
	if o.Ignition, err = d.read(); err != nil {
		return o, err
	}
	// With documents for hosts it is to provision them, and what it lacks for that is an error.
	if !bootstrap.Provisions(p) && len(o.Ignition) == 0 {
		if n := len(provisions.Hosts(p)); n > 0 {
			return o, printMessage(std.err, "onprem-infra: note: the description has BMCs of %d "+
				"hosts, and no images.%s: the bootstrap machine does not provision these hosts, "+
				"and another program has to, as OpenShift's installer does\n", n, spec.IronicImage)
		}
		return o, nil
	}
	if err := noteNetworks(std, p, described.Hosts); err != nil {
		return o, err
	}
	o.Hosts, o.CA, err = secretsOf(std, in, described, bootstrap.Unfit(p, described.Hosts)...)
	return o, err
}

// secretsOf are the described hosts with the accounts of their BMCs, and the certificates by which
// these are verified. It prints what is wrong with the files that have them, and other findings.
func secretsOf(std streams, in *input, described spec.Cluster, findings ...spec.Finding) (
	hosts []spec.Host, ca string, err error) {
	hosts = append(hosts, described.Hosts...)
	logins, wrong := accounts.Of(in.file, hosts)
	_, ca, caWrong := accounts.CA(in.file, described.Provisioning)
	wrong = slices.Concat(wrong, caWrong, findings)
	for _, f := range wrong {
		_ = printMessage(std.err, "%v\n", f)
	}
	if wrong.HasErrors() {
		return nil, "", negative(nil)
	}
	for i, login := range logins {
		hosts[i].BMC.Username, hosts[i].BMC.Password = login.Username, login.Password
	}
	return hosts, ca, nil
}

// clusterGoods are the objects of the cluster, with those of the hosts that its operators know.
func clusterGoods(std streams, in *input, p plan.Plan, described spec.Cluster, infraID string) (
	asset.Set, error) {
	if !metal3.Knows(p) {
		if infraID != "" {
			return asset.Set{}, usage("--infra-id is for a cluster that provisions hosts: this " +
				"one has no host with a BMC, or no operators for it")
		}
		if err := noteWorkers(std, p); err != nil {
			return asset.Set{}, err
		}
		return cluster.Manifests(p)
	}
	openShift := p.Flavour().Machines
	if infraID != "" && !openShift {
		return asset.Set{}, usage("--infra-id is for OpenShift: no other Kubernetes has Machines " +
			"of its installer")
	}
	if openShift && infraID == "" && !provisions.Runs(p) {
		if err := printMessage(std.err, "onprem-infra: note: the description has BMCs, and no "+
			"images.%s: OpenShift's installer provisions these hosts and writes their objects; "+
			"with --infra-id they are among these\n", spec.IronicImage); err != nil {
			return asset.Set{}, err
		}
		return cluster.Manifests(p)
	}
	hosts, ca, err := secretsOf(std, in, described)
	if err != nil {
		return asset.Set{}, err
	}
	if openShift && infraID == "" {
		if err := printMessage(std.err, "onprem-infra: warning: without --infra-id the hosts of "+
			"the control plane belong to no Machine, and OpenShift may take a worker's host for "+
			"one: give the infraID of the installer's metadata.json\n"); err != nil {
			return asset.Set{}, err
		}
	}
	if err := noteWorkload(std, p); err != nil {
		return asset.Set{}, err
	}
	set, err := cluster.ManifestsWith(p, metal3.Given{Hosts: hosts, CA: ca, InfraID: infraID})
	if errors.As(err, new(metal3.WrongHosts)) {
		err = negative(err)
	}
	return set, err
}

// noteWorkers names what a cluster lacks that does not provision its own hosts.
func noteWorkers(std streams, p plan.Plan) error {
	if p.Provisioning == nil || len(p.Provisioning.OfPhase(provision.Cluster)) == 0 {
		return nil
	}
	lacks := "images." + spec.IronicImage
	if !provisions.InCluster(p) {
		lacks = "a provisioning network with address: one and a load balancer of ours"
	}
	return printMessage(std.err, "onprem-infra: note: the cluster itself provisions none of its "+
		"%d workers, and these objects have no Ironic: it lacks %s\n",
		len(p.Provisioning.OfPhase(provision.Cluster)), lacks)
}

// noteWorkload names what has to be there before the objects of a cluster in which Ironic runs.
func noteWorkload(std streams, p plan.Plan) error {
	if !metal3.Runs(p) {
		return nil
	}
	text := "onprem-infra: note: apply the CRDs of metal3 first, out of config/base/crds of your " +
		"baremetal-operator's release"
	if p.Images[spec.BaremetalOperatorImage] == "" {
		text += fmt.Sprintf("; the operator itself is not among these objects without images.%s",
			spec.BaremetalOperatorImage)
	}
	if p.Provisioning.ServesCluster() {
		text += fmt.Sprintf("; DHCP is not among these objects: it is a static pod of render "+
			"--role=master, with images.%s there too", spec.IronicImage)
	}
	return printMessage(std.err, "%s\n", text)
}

// noteNetworks names the hosts whose described network no part of the bootstrap machine applies: a
// host takes its network, as all of its configuration, from its Ignition document.
func noteNetworks(std streams, p plan.Plan, described []spec.Host) error {
	var names []string
	for _, h := range described {
		if !h.Network.Empty() && slices.ContainsFunc(provisions.Hosts(p),
			func(planned provision.Host) bool { return planned.Name == h.Name }) {
			names = append(names, h.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return printMessage(std.err, "onprem-infra: note: the description has a network for %s, which "+
		"the bootstrap machine does not apply: have the host's Ignition document bring it, such "+
		"as a file below /etc/nmstate or /etc/NetworkManager/system-connections\n",
		strings.Join(names, ", "))
}

// kept are the options with the files that a host has: that of the hosts, empty if it lacks
// that, and that of passwords, if it fits the plan's routers.
func kept(p plan.Plan, host fs.FS) bootstrap.Options {
	read := func(path string) []byte {
		text, err := fs.ReadFile(host, strings.TrimPrefix(path, "/"))
		if err != nil {
			return nil // the report names a file that cannot be read
		}
		return append([]byte{}, text...)
	}
	o := bootstrap.Options{File: append([]byte{}, read(layout.Hosts)...)}
	by, announces := speaks.Of(p)
	if text := read(spoken.PasswordsFile); announces &&
		announcing.CheckPasswords(*by.BGP, string(text)) == nil {
		o.Passwords = text
	}
	return o
}

// private reports whether there are files that not everyone may read.
func private(set asset.Set) bool {
	for _, f := range set.Files() {
		if f.Mode&0o004 == 0 {
			return true
		}
	}
	return false
}
