package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// inputLimit is above what spec reads, so that a file without an end is refused there and not read
// here.
const inputLimit = 2 << 20

// input is the flags of a verb that reads a cluster.
type input struct {
	file   string
	images string
	strict bool
	knobs  spec.Knobs
}

// inputFlags gives a verb the flags -c, --strict and the knobs.
func inputFlags(cmd *cobra.Command) *input {
	in, flags := &input{}, cmd.Flags()
	flags.StringVarP(&in.file, "cluster", "c", "",
		"install-config.yaml or cluster.yaml; - is standard input")
	flags.BoolVar(&in.strict, "strict", false, "treat warnings as errors")
	knobFlags(cmd, in)
	return in
}

// knobFlags gives a verb the flags of the knobs.
func knobFlags(cmd *cobra.Command, in *input) {
	flags := cmd.Flags()
	flags.StringVar(&in.knobs.Timing, "timing", "",
		"timing profile: "+words(spec.Timings())+" (default: the cluster's own, or the platform's)")
	flags.StringVar(&in.knobs.VRRP, "vrrp", "",
		"how VRRP travels: unicast or multicast (default: the cluster's own, or unicast)")
	flags.StringVar(&in.knobs.MDNS, "mdns", "",
		"whether nodes announce themselves by multicast DNS: enabled or disabled "+
			"(default: the cluster's own, or disabled)")
	flags.StringArrayVar(&in.knobs.DNSClients, "dns-clients", nil,
		"network whose hosts may ask the cluster's name servers besides its own (default: the "+
			"cluster's own, or all clients); may be given more than once")
	flags.StringVar(&in.knobs.Metrics, "metrics", "",
		"where a Prometheus finds a host's metrics: localhost, or node, at the node's addresses "+
			"too (default: the cluster's own, or localhost)")
	flags.StringVar(&in.knobs.Clash, "on-clash", "",
		"when another router has one of the virtual router IDs: report starts beside it, refuse "+
			"keeps a new host out (default: the cluster's own, or report)")
	flags.StringArrayVar(&in.knobs.VRIDs, "vrid", nil,
		"virtual router ID (1 to 255), as api=N or ingress=N, dns=N if the cluster has a DNS VIP, "+
			"and provisioning=N if nodes share the provisioning address; may be given more than "+
			"once")
	flags.StringArrayVar(&in.knobs.Ports, "port", nil,
		"port number, as NAME=N, by the names that plan prints; may be given more than once")
	flags.StringArrayVar(&in.knobs.Proven, "proven", nil,
		"how late a host was at worst, as HOST=MICROSECONDS, which timing fast needs of each "+
			"control plane node and doctor --timing-proof measures; may be given more than once")
	completes(cmd, "timing", spec.Timings())
	completes(cmd, "vrrp", []spec.Mode{spec.Unicast, spec.Multicast})
	completes(cmd, "on-clash", clash.Policies())
	completes(cmd, "mdns", []spec.MDNS{spec.MDNSEnabled, spec.MDNSDisabled})
	completes(cmd, "metrics", []spec.Metrics{spec.MetricsLocalhost, spec.MetricsNode})
}

// imagesFlag gives a verb that writes image references the flag --images.
func imagesFlag(cmd *cobra.Command, in *input) {
	cmd.Flags().StringVar(&in.images, "images", "",
		"JSON file with the container images; wins over the cluster's own")
}

// loadCluster reads the cluster and the images that the flags name. Findings go to standard error,
// all at once; with an error among them the verb ends with exit code 1.
func loadCluster(std streams, in *input) (spec.Cluster, error) {
	if in.file == "-" && in.images == "-" {
		return spec.Cluster{}, usage("-c and --images are both standard input, which is read " +
			"once: name a file for one of the two")
	}
	name, text, err := read(std, in.file)
	if err != nil {
		return spec.Cluster{}, err
	}
	return parseCluster(std, in, name, text)
}

// loadPlan is loadCluster with the plan of that cluster.
func loadPlan(std streams, in *input) (plan.Plan, spec.Cluster, error) {
	described, err := loadCluster(std, in)
	if err != nil {
		return plan.Plan{}, described, err
	}
	p, err := compile(described)
	return p, described, err
}

// compile makes the plan; a cluster that has none is a negative answer.
func compile(described spec.Cluster) (plan.Plan, error) {
	p, err := plan.Compile(described)
	if err != nil {
		err = negative(err)
	}
	return p, err
}

// parseCluster makes the cluster of a text that has been read, under the other flags.
func parseCluster(std streams, in *input, name string, text []byte) (spec.Cluster, error) {
	cluster, findings := spec.Parse(name, text, in.knobs)
	if in.images != "" {
		name, text, err := read(std, in.images)
		if err != nil {
			return spec.Cluster{}, err
		}
		images, more := spec.ParseImages(name, text)
		findings = append(findings, more...)
		all := map[string]string{}
		maps.Copy(all, cluster.Images)
		maps.Copy(all, images) // the flag wins
		cluster.Images = all
	}
	findings = append(findings, openPasswords(name, cluster)...)
	if in.strict {
		findings = findings.Strict()
	}
	for _, f := range findings {
		_ = printMessage(std.err, "%v\n", f)
	}
	if findings.HasErrors() {
		return spec.Cluster{}, in.refused(findings)
	}
	return cluster, nil
}

// refused is the exit code of findings that have been printed: wrong usage where the value of a
// flag is wrong for every cluster, and a negative answer else.
func (in *input) refused(findings spec.Findings) error {
	for _, knob := range in.knobs.Each() {
		_, always := spec.Parse("any cluster", []byte(anyCluster), knob)
		for _, f := range always {
			if f.Severity == spec.Error && slices.Contains(findings, f) {
				return exitError{code: exitUsage}
			}
		}
	}
	return negative(nil)
}

// read returns a file, or standard input for "-", and what findings call it.
func read(std streams, path string) (name string, text []byte, err error) {
	if path == "" {
		return "", nil, usage("-c FILE is missing: name an install-config.yaml or a " +
			"cluster.yaml, or - for standard input")
	}
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(std.in, inputLimit))
		if err != nil {
			return "", nil, unreadable(err)
		}
		return "stdin", text, nil
	}
	text, err = readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, usage("there is no file %s: name one that exists, or - for standard input",
			path)
	}
	return path, text, err
}

// unreadable is the error of a standard input that cannot be read.
func unreadable(err error) error {
	return fmt.Errorf("read standard input: %w: give it a file or a pipe that can be read", err)
}

// readFile reads inputLimit bytes of a file at most: its reader refuses a text of that length.
func readFile(path string) ([]byte, error) {
	text, err := file.ReadGiven(path, inputLimit)
	if errors.Is(err, file.ErrLong) {
		return text, nil
	}
	return text, err
}
