package metrics

// What a bootstrap machine reports of its Ironic.
var (
	IronicRunning = gauge("onprem_ironic_running", "1 while the container of Ironic runs.")
	IronicDrivers = gauge("onprem_ironic_drivers",
		"Drivers that a conductor of Ironic serves; 0 while it serves no request for a host.")
)
