// Package installer holds what OpenShift's installer accepts of an install-config, as far as it is
// not rendered here: machine pools, hosts, fencing.
package installer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
)

// checker reads a document and reports what the installer refuses.
type checker struct{ *document.Reader }

// Check reports what the installer refuses in fields that are not rendered here, so that the user
// learns of it before the installation. It makes checks for which the installer needs no query;
// README of shared/spec lists those that are left to it. Values that may hold a password are not
// repeated. Call it after all other fields are read.
func Check(reader *document.Reader, root document.Map, p platform.Platform) {
	r := checker{reader}
	r.closedWords(root, p)
	r.texts(root)
	networking := r.Map(r.Field(root, "networking"))
	plugin := r.Field(networking, "networkType")
	switch name, _ := plugin.Word(); strings.ToLower(name) {
	case "kuryr", "openshiftsdn":
		r.refused(plugin, "the network plugin %s: write OVNKubernetes", document.Quote(name))
	}
	if mtu := r.Field(networking, "clusterNetworkMTU"); mtu.Node != nil &&
		mtu.Target().Value != "0" {
		r.refused(mtu, "it on this platform: remove it")
	}
	r.hostPrefixes(networking)
	if s := r.Field(root, "operatorPublishingStrategy"); s.Node != nil {
		r.refused(s, "it on this platform: remove it")
	}
	old, _ := r.List(r.Field(root, "imageContentSources"))
	if digests, _ := r.List(r.Field(root, "imageDigestSources")); len(old) > 0 && len(digests) > 0 {
		r.refused(r.Field(root, "imageContentSources"),
			"it beside imageDigestSources: leave one of the two")
	}
	if gates, _ := r.List(r.Field(root, "featureGates")); len(gates) > 0 {
		if set, _ := r.Field(root, "featureSet").Word(); set != "CustomNoUpgrade" {
			r.refused(r.Field(root, "featureGates"),
				"it without featureSet CustomNoUpgrade: remove it, or write the feature set")
		}
	}
	r.proxy(root)
	r.computeNames(root)
	r.unknownFields(root)
}

// Versions are those of an install-config. The installer converts the older ones; their fields
// are read here beside the newer ones.
func Versions() []string { return []string{"v1", "v1beta4", "v1beta3"} }

// maxName is the longest name of a cluster that the installer takes: it appends to the name.
const maxName = 54

// CheckName reports a cluster's name that the installer refuses for its length.
func CheckName(r *document.Report, s document.Scalar[string]) {
	if n := len(s.Value); n > maxName && n <= name.MaxLabel {
		r.Refuse(s, fmt.Sprintf("has %d characters and the installer takes %d: shorten it", n,
			maxName))
	}
}

func (r checker) refused(v document.Value, format string, args ...any) {
	r.Warnf(v.At, "the installer refuses "+format, args...)
}

// closedWords checks the fields that have a short list of words.
func (r checker) closedWords(root document.Map, p platform.Platform) {
	modes := map[platform.Platform][]string{platform.Nutanix: {"Manual"},
		platform.OpenStack: {"Passthrough"}}
	type field struct {
		v     document.Value
		words []string
	}
	all := []field{
		{r.Field(root, "publish"), []string{"External"}},
		{r.Field(root, "additionalTrustBundlePolicy"), []string{"Proxyonly", "Always"}},
		{r.Field(root, "cpuPartitioningMode"), []string{"None", "AllNodes"}},
		{r.Field(root, "credentialsMode"), modes[p]},
	}
	for _, pool := range r.pools(root) {
		all = append(all, field{r.Field(pool, "hyperthreading"), []string{"Enabled", "Disabled"}},
			field{r.Field(pool, "architecture"), []string{"amd64", "arm64", "ppc64le", "s390x"}})
	}
	for _, f := range all {
		switch word, ok := f.v.Word(); {
		case !ok || word == "" || slices.Contains(f.words, word):
		case len(f.words) == 0:
			r.refused(f.v, "it on this platform: remove it")
		default:
			r.refused(f.v, "%s here: write one of %s", document.Quote(word),
				strings.Join(f.words, ", "))
		}
	}
}

// pools are all groups of machines.
func (r checker) pools(root document.Map) []document.Map {
	all := []document.Map{r.Map(r.Field(root, "controlPlane")), r.Map(r.Field(root, "arbiter"))}
	compute, _ := r.List(r.Field(root, "compute"))
	for _, e := range compute {
		all = append(all, r.Map(e))
	}
	return all
}

// computeNames checks the names of the groups of workers: there is only one.
func (r checker) computeNames(root document.Map) {
	pools, _ := r.List(r.Field(root, "compute"))
	for i, e := range pools {
		v := r.Field(r.Map(e), "name")
		switch word, ok := v.Word(); {
		case ok && word != "worker":
			r.refused(v, "a group of workers of the name %s: write worker", document.Quote(word))
		case ok && i > 0:
			r.refused(v, "a second group of workers: leave one")
		}
	}
}

// hostPrefixes checks how much each node gets of the pods' networks.
func (r checker) hostPrefixes(networking document.Map) {
	pods, _ := r.List(r.Field(networking, "clusterNetwork"))
	for _, e := range pods[:min(len(pods), 64)] {
		o := r.Map(e)
		cidr, _ := r.Field(o, "cidr").Word()
		_, length, _ := strings.Cut(cidr, "/")
		v := r.Field(o, "hostPrefix")
		whole, err := strconv.Atoi(length)
		if err != nil || v.Node == nil {
			continue
		}
		var host int32 // as the installer has it
		six := strings.Contains(cidr, ":")
		switch {
		case v.Target().Decode(&host) != nil:
			r.refused(v, "what is not a whole number of bits: write one, such as 23, and 64 with "+
				"an IPv6 network")
		case six && host != 64:
			r.refused(v, "%d with an IPv6 network: write 64", host)
		case !six && host > 32:
			r.Warnf(v.At, "%d is more than the 32 bits of an IPv4 address: write less, such as 23",
				host)
		case int(host) < whole:
			r.refused(v, "%d, as a node's part is then larger than %s: write more", host,
				document.Quote(cidr))
		}
	}
}
