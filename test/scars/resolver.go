package scars

func resolver() []Scar {
	const hook = "bootstrap/files/30-local-dns-prepender"
	return []Scar{
		kept("R-18", "The bootstrap machine's resolv.conf was patched once, and NetworkManager wrote it anew.",
			by("bootstrap", "TestPrepender/new servers replace the old ones", hook, `for candidate in "$root/run/NetworkManager/resolv.conf" "$conf"; do`, `for candidate in "$conf" "$root/run/NetworkManager/resolv.conf"; do`),
			by("bootstrap", "TestPrependerActions", hook, "up | dhcp4-change | dhcp6-change | dns-change | reapply) ;;", "up) ;;"),
			by("bootstrap", "TestPrependerNewest", hook, "for round in 1 2 3 4 5; do", "for round in 1; do"),
			by("bootstrap", "TestPrepender/six, of both families", hook, "!/^nameserver[ \\t]/ { print; next }", "/:/ { next }\n\t!/^nameserver[ \\t]/ { print; next }"),
			by("bootstrap", "TestPrepender/a late lease does not cost the servers that are there", hook, "if grep -q '^nameserver[[:space:]]' \"$candidate\" 2>/dev/null; then", "if [ -e \"$candidate\" ]; then"),
			by("units", "TestResolvWatch", "units/onprem-resolv.path", "PathChanged=/run/NetworkManager/resolv.conf\n", ""),
			by("units", "TestResolvWatch", "units/onprem-resolv.path", "Unit=onprem-resolv-changed.service", "Unit=onprem-resolv.service"),
			by("bootstrap", "TestNetworkManager", "bootstrap/files/99-onprem-infra.conf", "rc-manager=unmanaged\n", ""),
			by("test/e2e", "TestLongNetworkManager/renewed with another name server", hook, "\t!servers { print \"nameserver 127.0.0.1\"; servers = 1 }\n", "\t!servers { servers = 1 }\n"),
			by("test/e2e", "TestLongNetworkManager/NetworkManager's file changed without an event", "units/onprem-resolv.path", "PathChanged=/run/NetworkManager/resolv.conf\n", ""),
			by("test/e2e", "TestLongNetworkManager/the connection taken up, an IPv6 name server alone", hook, "!/^nameserver[ \\t]/ { print; next }", "/:/ { next }\n\t!/^nameserver[ \\t]/ { print; next }")),
	}
}

// upstreams is what is asked of a machine whose name servers change, beside the scars.
func upstreams() []Scar {
	const load, outcome = "test/query/load.go", "test/query/outcome.go"
	return []Scar{
		kept("U-01", "A change of the name servers lost questions, or the former one was asked on.",
			by("test/daemons", "TestForwardSignalled/its host vanishes", "shared/corefile/Corefile.tmpl", "    forward .{{range .To}} {{.}}{{end}} {", "    forward . {{index .To 0}} {")),
		kept("U-02", "A loss that was not seen: an empty answer, one that there is no such name, somebody else's, or a question that nobody asked.",
			by("test/query", "TestOutcome/no such name", load, "a.Rcode != dns.RcodeSuccess || !slices", "a.Rcode != dns.RcodeSuccess && a.Rcode != dns.RcodeNameError || a.Rcode == dns.RcodeSuccess && !slices"),
			by("test/query", "TestOutcome/no such record", load, "|| !slices.Contains(a.Want, a.Text)", `|| a.Text != "" && !slices.Contains(a.Want, a.Text)`),
			by("test/query", "TestOutcome/somebody else's", load, "!slices.Contains(a.Want, a.Text)", `a.Text == "" && !slices.Contains(a.Want, a.Text)`),
			by("test/query", "TestOutcome/some never asked", outcome, "asked < o.Due {", "asked < 0 {"),
			by("test/query", "TestOutcome/more asked late than the machine was busy", outcome, "share < enough-o.Starved {", "share < 0 {")),
		kept("U-03", "systemd-resolved held the name server's port, or was asked in its place.",
			by("test/e2e", "TestLongResolved", "bootstrap/assets.go", `DNSStubListener=no\n`, `DNSStubListener=yes\n`)),
	}
}
