package metrics

import "time"

// What a bootstrap machine reports of the hosts that it installs.
var (
	InstallPhase = gauge("onprem_provisioning_phase",
		"1 for the phase that the installation of hosts is in.", "phase")
	InstallPhaseAge = gauge("onprem_provisioning_phase_seconds",
		"How long the installation of hosts has been in its phase.", "phase")
	InstallDHCP = gauge("onprem_provisioning_dhcp_on",
		"1 while the DHCP server of the provisioning network is ordered on.")
	InstallHosts    = gauge("onprem_provisioning_hosts", "Hosts to be installed, by step.", "step")
	InstallBlockers = gauge("onprem_provisioning_blockers",
		"What keeps hosts from being installed until a person corrects it.")
	InstallForeign = gauge("onprem_provisioning_foreign_servers",
		"Servers on the provisioning network that are none of the cluster's, seen within the last "+
			"minutes.")
	InstallRetries = counter("onprem_provisioning_retries_total",
		"Requests for a host that failed, and boots of it that were repeated.", "host")
	InstallWait = gauge("onprem_provisioning_wait_seconds",
		"How long a host has waited for its next step.", "host")
)

// Provisioning is how far the installation of hosts is.
type Provisioning struct {
	Phase             string
	Phases            []string // all that there are
	Age               time.Duration
	DHCP              bool
	Steps             []string // all that there are
	Hosts             []InstalledHost
	Blockers, Foreign int
}

// InstalledHost is a host of the plan.
type InstalledHost struct {
	Name, Step string
	Retries    int
	Wait       time.Duration // negative if it waits for nothing
}

// Onto adds the metrics to a page.
func (v Provisioning) Onto(p *Page) {
	for _, phase := range v.Phases {
		p.Flag(InstallPhase, phase == v.Phase, phase)
	}
	p.Add(InstallPhaseAge, v.Age.Seconds(), v.Phase)
	p.Flag(InstallDHCP, v.DHCP)
	count := map[string]int{}
	for _, h := range v.Hosts {
		count[h.Step]++
	}
	for _, step := range v.Steps {
		p.Add(InstallHosts, float64(count[step]), step)
	}
	p.Add(InstallBlockers, float64(v.Blockers))
	p.Add(InstallForeign, float64(v.Foreign))
	for _, h := range v.Hosts {
		p.Add(InstallRetries, float64(h.Retries), h.Name)
		if h.Wait >= 0 {
			p.Add(InstallWait, h.Wait.Seconds(), h.Name)
		}
	}
}
