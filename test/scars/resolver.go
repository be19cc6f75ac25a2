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
			by("bootstrap", "TestNetworkManager", "bootstrap/files/99-onprem-infra.conf", "rc-manager=unmanaged\n", "")),
	}
}
