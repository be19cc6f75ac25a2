package spec

import (
	"slices"
	"strconv"
	"strings"
)

// maxInstalled is the longest name of a cluster that the installer takes: it adds to it.
const maxInstalled = 54

// checkInstalled applies the rules by which the installer refuses what would be rendered here.
func (r *report) checkInstalled(d draft) {
	if n := len(d.name.value); d.name.ok && n > maxInstalled && n <= maxLabel {
		r.errorf(d.name.at, "%s has %d characters and the installer takes %d: shorten it",
			quote(d.name.value), n, maxInstalled)
	}
	if d.dnsRecords.value == string(External) && !d.userManaged() {
		r.errorf(d.dnsRecords.at, "records that others keep need a load balancer of your own: "+
			"write loadBalancer.type UserManaged, or leave dnsRecordsType out")
	}
	r.checkInner(d)
	r.checkStacks(d)
	r.checkPools(d)
}

// versions are those of an install-config. The installer converts the older ones, by the fields
// that are read here beside their successors.
func versions() []string { return []string{"v1", "v1beta4", "v1beta3"} }

// word is a text of a field that is not read for itself. What is of another kind is left to the
// installer.
func (r *reader) word(v value) (string, bool) {
	if v.node == nil || kindOf(v.node) != kindString {
		return "", false
	}
	return follow(v.node).Value, true
}

// remarks says what the installer refuses of what is not rendered here: one learns of it before the
// installation. It is what it knows without asking anybody; values that may hold a password are not
// repeated.
func (r *reader) remarks(root object, p Platform) {
	r.closedWords(root, p)
	networking := r.object(r.field(root, "networking"))
	plugin := r.field(networking, "networkType")
	switch name, _ := r.word(plugin); strings.ToLower(name) {
	case "kuryr", "openshiftsdn":
		r.refused(plugin, "the network plugin %s: write OVNKubernetes", quote(name))
	}
	if mtu := r.field(networking, "clusterNetworkMTU"); mtu.node != nil && follow(mtu.node).Value != "0" {
		r.refused(mtu, "it on this platform: remove it")
	}
	r.hostPrefixes(networking)
	if s := r.field(root, "operatorPublishingStrategy"); s.node != nil {
		r.refused(s, "it on this platform: remove it")
	}
	old, _ := r.list(r.field(root, "imageContentSources"))
	if digests, _ := r.list(r.field(root, "imageDigestSources")); len(old) > 0 && len(digests) > 0 {
		r.refused(r.field(root, "imageContentSources"), "it beside imageDigestSources: leave one of the two")
	}
	if gates, _ := r.list(r.field(root, "featureGates")); len(gates) > 0 {
		if set, _ := r.word(r.field(root, "featureSet")); set != "CustomNoUpgrade" {
			r.refused(r.field(root, "featureGates"),
				"it without featureSet CustomNoUpgrade: remove it, or write the feature set")
		}
	}
	proxy := r.object(r.field(root, "proxy"))
	if proxy.given && !proxy.lost && !proxy.has("httpProxy") && !proxy.has("httpsProxy") {
		r.refused(r.field(root, "proxy"),
			"a proxy without httpProxy and httpsProxy: write one of them, or remove the proxy")
	}
	r.computeNames(root)
}

func (r *reader) refused(v value, format string, args ...any) {
	r.warnf(v.at, "the installer refuses "+format, args...)
}

// closedWords holds the fields with a short list of words to it.
func (r *reader) closedWords(root object, p Platform) {
	modes := map[Platform][]string{Nutanix: {"Manual"}, OpenStack: {"Passthrough"}}
	control := r.object(r.field(root, "controlPlane"))
	for _, f := range []struct {
		v     value
		words []string
	}{
		{r.field(root, "publish"), []string{"External"}},
		{r.field(root, "additionalTrustBundlePolicy"), []string{"Proxyonly", "Always"}},
		{r.field(root, "cpuPartitioningMode"), []string{"None", "AllNodes"}},
		{r.field(root, "credentialsMode"), modes[p]},
		{r.field(control, "hyperthreading"), []string{"Enabled", "Disabled"}},
	} {
		switch word, ok := r.word(f.v); {
		case !ok || word == "" || slices.Contains(f.words, word):
		case len(f.words) == 0:
			r.refused(f.v, "it on this platform: remove it")
		default:
			r.refused(f.v, "%s here: write one of %s", quote(word), strings.Join(f.words, ", "))
		}
	}
}

// computeNames holds each group of workers to the one name there is.
func (r *reader) computeNames(root object) {
	pools, _ := r.list(r.field(root, "compute"))
	for i, e := range pools {
		v := r.field(r.object(e), "name")
		switch word, ok := r.word(v); {
		case ok && word != "worker":
			r.refused(v, "a group of workers of the name %s: write worker", quote(word))
		case ok && i > 0:
			r.refused(v, "a second group of workers: leave one")
		}
	}
}

// hostPrefixes holds what each node gets of the pods' networks.
func (r *reader) hostPrefixes(networking object) {
	pods, _ := r.list(r.field(networking, "clusterNetwork"))
	for _, e := range pods[:min(len(pods), maxNetworks)] {
		o := r.object(e)
		cidr, _ := r.word(r.field(o, "cidr"))
		_, length, _ := strings.Cut(cidr, "/")
		v := r.field(o, "hostPrefix")
		whole, err := strconv.Atoi(length)
		if err != nil || v.node == nil || kindOf(v.node) == kindNull {
			continue
		}
		var host int32 // as the installer has it
		six := strings.Contains(cidr, ":")
		switch {
		case follow(v.node).Decode(&host) != nil:
			r.refused(v, "what is not a whole number of bits: write one, such as 23, and 64 with an IPv6 network")
		case six && host != 64:
			r.refused(v, "%d with an IPv6 network: write 64", host)
		case !six && host > 32:
			r.warnf(v.at, "%d is more than the 32 bits of an IPv4 address: write less, such as 23", host)
		case int(host) < whole:
			r.refused(v, "%d, as a node's part is then larger than %s: write more", host, quote(cidr))
		}
	}
}
