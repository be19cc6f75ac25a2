package metrics

import "time"

// What every program reports of itself. Times are ages and not instants, as a host's clock may be
// wrong; only process_start_time_seconds is an instant.
var (
	Build = gauge("onprem_build_info", "1; which program this is.", "room", "version",
		"goversion")
	Cluster = gauge("onprem_cluster_info",
		"1; the cluster that this program belongs to, and how its nodes run VRRP.", "room",
		"cluster", "timing", "mode")
	Rounds   = counter("onprem_rounds_total", "Rounds of the program's loop.", "room")
	RoundAge = gauge("onprem_round_age_seconds",
		"Time since the last round of the program's loop.", "room")
	Faults = counter("onprem_faults_total",
		"Failed steps of the program's loop, repeated failures included.", "room", "step")
	WatchKnown = gauge("onprem_watch_synced",
		"1 after the API has listed the watched objects once since the program started, 0 before.",
		"room", "watch")
	WatchAge = gauge("onprem_watch_age_seconds",
		"Time since the API sent anything on this watch; a live API does so every minute, or "+
			"every ten minutes where its etcd reports progress less often.", "room", "watch")
	CPU      = counter("process_cpu_seconds_total", "CPU time that the program has used.")
	Memory   = gauge("process_resident_memory_bytes", "Memory that the program has in use.")
	Routines = gauge("go_goroutines", "Goroutines that exist in the program.")
	Started  = gauge("process_start_time_seconds",
		"When the program started, in seconds since 1970.")
)

// The steps of a loop that can fail.
const (
	StepObserve = "observe"
	StepApply   = "apply"
)

// Program is what is common to all programs.
type Program struct {
	Room                  string
	Version, Go           string // of the program and of what built it
	Cluster, Timing, Mode string
	Rounds                uint64
	Age                   time.Duration     // of the last round; negative before the first one
	Faults                map[string]uint64 // by step
	Watches               []Watch
	Process               Process
	Goroutines            int // 0: not known
}

// Watch is a watch of the API.
type Watch struct {
	Name   string // of a closed list: nodes, candidates, bootstrap
	Synced bool
	Age    time.Duration // since the API reported anything; negative before
}

// Process is what the kernel reports of a program. The zero value means that nothing is known.
type Process struct {
	CPU      time.Duration
	Resident int64 // bytes
	Started  time.Time
}

// Onto adds the metrics to a page.
func (s Program) Onto(p *Page) {
	p.Add(Build, 1, s.Room, s.Version, s.Go)
	p.Add(Cluster, 1, s.Room, s.Cluster, s.Timing, s.Mode)
	p.Add(Rounds, float64(s.Rounds), s.Room)
	if s.Age >= 0 {
		p.Add(RoundAge, s.Age.Seconds(), s.Room)
	}
	for _, step := range []string{StepObserve, StepApply} {
		p.Add(Faults, float64(s.Faults[step]), s.Room, step)
	}
	for _, w := range s.Watches {
		p.Flag(WatchKnown, w.Synced, s.Room, w.Name)
		if w.Age >= 0 {
			p.Add(WatchAge, w.Age.Seconds(), s.Room, w.Name)
		}
	}
	if s.Process != (Process{}) {
		p.Add(CPU, s.Process.CPU.Seconds())
		p.Add(Memory, float64(s.Process.Resident))
	}
	if s.Goroutines > 0 {
		p.Add(Routines, float64(s.Goroutines))
	}
	if !s.Process.Started.IsZero() {
		p.Add(Started, float64(s.Process.Started.UnixMilli())/1000)
	}
}

// All are the families of all programs.
func All() []Family {
	return []Family{
		Build, Cluster, Rounds, RoundAge, Faults, WatchKnown, WatchAge, CPU, Memory, Routines,
		Started,
		VIPHolder, VIPState, VIPPresent, VIPPriority, VIPPart, VIPTransitions, VIPGaps, VIPGapTotal,
		VIPGapLast, AdvertAge, AdvertJitter, Clashes,
		Check, CheckChanges, GateOpen, Running, Restarts, Reloads, Refused, Leaving, NodesKnown,
		FellBack, Late, ClientsKnown, ClientsEnded,
		LBRunning, LBRedirect, LBLost, LBReloads, LBUp, LBSessions,
		LBIronicRedirect, LBIronicUp, LBIronicSessions,
		HTTPServing, HTTPRequests, HTTPSent, HTTPConnections, HTTPItemReady, HTTPItemBytes,
		DNSRunning, DNSNodes, DNSUpstreams, DNSSource, DNSReloads, DNSStale, Announced,
		ProvisioningAddress, ProvisioningTaken, ProvisioningRestored,
		DHCPServing, DHCPHosts, DHCPAnswers, DHCPIgnored, DHCPForeign,
		IronicRunning, IronicDrivers,
		InstallPhase, InstallPhaseAge, InstallDHCP, InstallHosts, InstallBlockers, InstallForeign,
		InstallRetries, InstallWait,
		ProvisionSeconds, ProvisionFailures,
		BGPSession, BGPFlaps, BGPBFD, BGPBFDTaken, BGPAnnounced, BGPGrade, BGPOthers, BGPUnused,
		BGPClients, BGPWanted,
		BGPForeign, BGPStarts, BGPTroubles,
	}
}
