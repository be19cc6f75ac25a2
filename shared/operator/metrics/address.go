package metrics

// What a bootstrap machine reports of its address on the provisioning network.
var (
	ProvisioningAddress = gauge("onprem_provisioning_address",
		"1 while this machine has its address on the provisioning network.")
	ProvisioningTaken = gauge("onprem_provisioning_address_taken",
		"Other hosts that answered for that address when this machine last asked.")
	ProvisioningRestored = counter("onprem_provisioning_address_restored_total",
		"How often this machine put that address back after another program had removed it.")
)

// BootstrapAddress is a bootstrap machine's address on the provisioning network.
type BootstrapAddress struct {
	Held     bool
	Taken    int // other hosts with it
	Restored uint64
}

// Onto adds the metrics to a page.
func (b BootstrapAddress) Onto(p *Page) {
	p.Flag(ProvisioningAddress, b.Held)
	p.Add(ProvisioningTaken, float64(b.Taken))
	p.Add(ProvisioningRestored, float64(b.Restored))
}
