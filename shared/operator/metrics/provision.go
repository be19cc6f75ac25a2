package metrics

// What a bootstrap machine reports of its own work on the hosts that it installs.
var (
	ProvisionSeconds = gauge("onprem_provisioning_ended_phase_seconds",
		"How long each phase took that has ended.", "phase")
	ProvisionFailures = gauge("onprem_provisioning_failed_requests",
		"Requests that failed, over all hosts, since their accounts last changed.")
)
