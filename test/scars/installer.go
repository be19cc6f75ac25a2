package scars

// installers is what OpenShift's installer refuses of an install-config, and what it does where one
// says nothing: whoever renders hosts from a file that it refuses has hosts of no cluster.
func installers() []Scar {
	const (
		room    = "shared/spec"
		refused = "shared/spec/refused.go"
		inner   = "shared/spec/innernetworks.go"
		pools   = "shared/spec/pools.go"
		unknown = "shared/spec/unknown.go"
		broken  = "TestRefusedByTheInstaller/"
	)
	return []Scar{
		kept("IN-01", "A misspelt key of an install-config was left out without a word, and with it a balancer of the user's own.",
			by(room, "TestUnknownFields/of the platform", "shared/spec/installconfig.go", "\tr.unknownFields(root)\n", ""),
			by(room, "TestUnknownFields/of a host", unknown, "\t\t\tu.value(v, known[names[i]], hidden", "\t\t\tu.value(value{}, known[names[i]], hidden")),
		kept("IN-02", "A hand that slips beside a password makes the password a key.",
			by(room, "TestUnknownFields/beside a password, which is not named", unknown, "\tif hidden || !plainKey", "\tif !plainKey"),
			by(room, "TestUnknownFields/that is no name", unknown, "\tif hidden || !plainKey.MatchString(name) {", "\tif hidden {")),
		kept("IN-03", "A map to which many aliases lead had its finding for each of them.",
			by(room, "TestUnknownFieldOnce", unknown, "\t\tif !u.seen[node] {", "\t\tif true {")),
		kept("IN-04", "Records that others keep beside our own balancer.",
			by(room, broken+"records that others keep beside our balancer", refused, "&& !d.userManaged() {", "&& false {")),
		kept("IN-05", "A load balancer of no type was taken for ours.",
			by(room, broken+"a balancer of no type", "shared/spec/platform.go", "\tif balancer.given && !d.loadBalancer.given {", "\tif false {")),
		kept("IN-06", "Services and pods had addresses of the hosts, of each other, or of the network plugin.",
			by(room, broken+"services in a machine network", inner, "|| !s.prefix.Overlaps(other.prefix) {", "|| true {"),
			by(room, broken+"machines in the pods' network that is taken", inner, "\t\t\t\tat, its = other, s\n", ""),
			by(room, broken+"services in OVN-Kubernetes' join network", inner, "\t\trest = append(rest, own...)\n", "\t\trest = append(rest, own[1:]...)\n")),
		kept("IN-07", "Services of both families on machines or pods of one.",
			by(room, broken+"services of both families on machines of one", inner, "\t\tcase !four || !six:\n", "\t\tcase !four && !six:\n"),
			by(room, broken+"two networks of services", inner, "\tcase !six && len(services.span) > 1:", "\tcase !six && len(services.span) > 2:")),
		kept("IN-08", "IPv6 first on a platform whose installer takes none there.",
			by(room, broken+"IPv6 first on Nutanix", inner, "(d.platform == Nutanix || d.platform == OVirt)", "d.platform == OVirt")),
		kept("IN-09", "Fencing or an arbiter where there is neither.",
			by(room, broken+"fencing on vSphere", pools, "\tcase f.given && d.platform != BareMetal", "\tcase false && d.platform != BareMetal"),
			by(room, broken+"an arbiter on OpenStack", pools, "\tcase d.platform != BareMetal && d.platform != \"\":", "\tcase false:")),
		kept("IN-10", "An arbiter of nobody, or of a number that nobody wrote, made two nodes of a cluster that has three.",
			by(room, broken+"an arbiter of nobody", pools, "\tcase n.ok && n.value == 0:", "\tcase n.ok && n.value < 0:"),
			by(room, broken+"an arbiter without a number", pools, "\tcase !n.given:", "\tcase false:")),
		kept("IN-11", "Two nodes of which none can put the other out of the way.",
			by(room, broken+"two nodes and nothing beside them", pools, "\tcase two && !d.pools.hasArbiter", "\tcase false && !d.pools.hasArbiter")),
		kept("IN-12", "Fencing by one credential, by IPMI, or of three nodes.",
			by(room, broken+"fencing of one", pools, "len(f.addresses) != 2:", "len(f.addresses) > 2:"),
			by(room, broken+"fencing by IPMI", pools, `strings.HasPrefix(protocol, "ipmi")`, `strings.HasPrefix(protocol, "lan")`),
			by(room, broken+"fencing without a protocol", pools, "(!named || ", "(!named && false || "),
			by(room, broken+"fencing of three nodes", pools, "\tcase f.given && !two &&", "\tcase false && !two &&")),
		kept("IN-13", "A name that the installer adds to until it is none.",
			by(room, broken+"a name of 55 characters", refused, "const maxInstalled = 54", "const maxInstalled = 55")),
		kept("IN-14", "Fewer workers than none, and a provisioning network of no kind.",
			by(room, broken+"fewer workers than none", pools, "w.ok && w.value < 0", "w.ok && w.value < -1"),
			by(room, broken+"an unknown provisioning network", "shared/spec/own.go", `if network := r.text(r.field(section, "provisioningNetwork")); network.value != "" {`,
				`if network := r.text(r.field(section, "provisioningNetwork")); false {`)),
		kept("IN-15", "A version that the installer converts was refused.",
			by(room, "TestOlderVersions", refused, `"v1", "v1beta4", "v1beta3"`, `"v1", "v1beta3"`)),
		kept("IN-16", "What the installer refuses beside what is rendered was learnt at the installation.",
			by(room, broken+"what is private", refused, `{r.field(root, "publish"), []string{"External"}}`, `{r.field(root, "publish"), []string{"External", "Internal"}}`),
			by(room, broken+"a platform that it has removed", "shared/spec/platform.go", "\tif found[0] == string(OVirt) {", "\tif false {"),
			by(room, broken+"workers twice", refused, "\t\tcase ok && i > 0:", "\t\tcase ok && i > 9:"),
			by(room, broken+"a node's part of IPv6", refused, "host != 64:", "host > 65:")),
		kept("IN-17", "The installer's rules were held against clusters that it never sees.",
			by(room, "TestOwnFormIsFree", "shared/spec/validate.go", "\tif d.installConfig {\n\t\tr.checkInstalled(d)", "\tif true {\n\t\tr.checkInstalled(d)")),
		kept("IN-18", "An OpenStack cluster without virtual IPs was refused, for which the installer takes two.",
			by(room, "TestAssumedVIPs/both", "shared/spec/validate.go", "\td = d.assume()\n", ""),
			by(room, "TestAssumedVIPs/the other one has it", "shared/spec/assumed.go", "\tfill(&d.ingress, ingress)\n", "\t_ = ingress\n"),
			by("shared/plan", "TestAssumedVIPs", "shared/spec/assumed.go", "assumedIngressHost = 7", "assumedIngressHost = 6"),
			by("cmd/onprem-infra", "TestPlanSaysAssumedVIPs", "shared/plan/compile.go", "\tvips.Assumed = assumed\n", "\t_ = assumed\n")),
		kept("IN-19", "A map that several rules look into was of the wrong kind several times.",
			by(room, "TestInstallConfigFindings/control plane is a list", "shared/spec/finding.go", "\t\tagain := seen[f]\n", "\t\tagain := false\n")),
		kept("IN-20", "A node with two IPv4 addresses in one network was known by another one once our program chose.",
			by("shared/addr", "TestForNode/two addresses in the VIP's network, the lowest", "shared/addr/ladder.go", "n.Secondary && !(f.lowest && n.Prefix.Addr().Is4())", "n.Secondary"),
			by("shared/addr", "TestForNode/the lowest is no temporary IPv6 address", "shared/addr/ladder.go", "!(f.lowest && n.Prefix.Addr().Is4())", "!f.lowest"),
			by("cmd/onprem-infra", "TestNodeIPTold", "cmd/onprem-infra/nodeip.go", "\tcase preferLowest:\n\t\treturn true, nil", "\tcase preferLowest:\n\t\treturn false, nil")),
		kept("IN-21", "diff said of a node that goes over to our program no word of its address.",
			by("shared/drift", "TestNodeIP", "shared/drift/effects.go", "\tcase c.Path == nodeIPUnit && node && c.others:", "\tcase false:"),
			by("shared/drift", "TestNodeIP", "shared/drift/drift.go", `!bytes.Contains(text, []byte("onprem-infra"))`, `bytes.Contains(text, []byte("podman")) || true`)),
		kept("IN-22", "A cluster.json of the operator's, which is told of no machine networks on some platforms, was another network to diff.",
			by("shared/drift", "TestMeanings/machine networks that the operator does not know", "shared/drift/meaning.go", "next.Platform == spec.Nutanix || ", "")),
	}
}
