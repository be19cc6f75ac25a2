package scars

func resolver() []Scar {
	const hook = "bootstrap/files/30-local-dns-prepender"
	return []Scar{
		kept("R-18", "The bootstrap machine's resolv.conf was patched once, and NetworkManager wrote it anew.",
			by("bootstrap", "TestPrepender/new servers replace the old ones", hook, `for candidate in "$root/run/NetworkManager/resolv.conf" "$conf"; do`, `for candidate in "$conf" "$root/run/NetworkManager/resolv.conf"; do`),
			by("bootstrap", "TestPrependerActions", hook, "up | dhcp4-change | dhcp6-change | dns-change | reapply) ;;", "up) ;;"),
			by("bootstrap", "TestNetworkManager", "bootstrap/files/99-onprem-infra.conf", "rc-manager=unmanaged\n", "")),
	}
}
