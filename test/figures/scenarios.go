package figures

// The scenarios of clusters that announce their VIPs to routers. Those that the plan has a bound for
// have its name.
const (
	PowerLoss     = "bgp-power-loss"  // of a host
	RouterLoss    = "bgp-router-loss" // one of two that a host has
	Leave         = "bgp-leave"
	Reboot        = "bgp-reboot"
	Upgrade       = "bgp-upgrade" // of the programs of a host's pod
	KillBGP       = "bgp-kill-bgpd"
	KillBFD       = "bgp-kill-bfdd"
	KillZebra     = "bgp-kill-zebra"
	LBCrash       = "bgp-lb-crash"  // of a node whose own API server serves
	NodeDown      = "bgp-node-down" // nothing serves on it any more, and it lives
	Handover      = "bgp-handover"
	HandoverAlone = "bgp-handover-alone" // the bootstrap machine is the last host of its rack
	Migrate       = "bgp-migrate"        // from VRRP to both
	MigrateBack   = "bgp-migrate-back"
	AtRest        = "bgp-steady"
	UnderLoad     = "bgp-load"
)

// Scenarios are all.
func Scenarios() []string {
	return []string{PowerLoss, RouterLoss, Leave, Reboot, Upgrade, KillBGP, KillBFD, KillZebra, LBCrash, NodeDown, Handover, HandoverAlone, Migrate, MigrateBack,
		AtRest, UnderLoad}
}
