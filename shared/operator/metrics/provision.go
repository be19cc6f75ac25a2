package metrics

// What a bootstrap machine reports of the hosts that it installs.
var (
	ProvisionPhase = gauge("onprem_provision_phase", "1 for the phase of the installation.",
		"phase")
	ProvisionSeconds = gauge("onprem_provision_phase_seconds",
		"How long each phase that has ended took, since the program started.", "phase")
	ProvisionHosts = gauge("onprem_provision_hosts", "Hosts to be installed, by how far they are.",
		"step")
	ProvisionBlocked = gauge("onprem_provision_blocked",
		"Hosts that need a person before they are installed.")
	ProvisionFailures = gauge("onprem_provision_failures",
		"Requests that failed, over all hosts, since their accounts last changed.")
	ProvisionDHCP = gauge("onprem_provision_dhcp", "1 while DHCP is ordered on.")
)
