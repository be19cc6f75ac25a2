package scars

// network is what one hostile or broken host of the network must not do to a cluster.
func network() []Scar {
	const far = "shared/host/supervise/far.go"
	return []Scar{
		partly("HO-01", "A host behind a router took the API VIP off the bootstrap machine with one advert.",
			"With timing compat a far host that writes a node's address into IPv6 packets is heard: nodes of today send as few hops.",
			by("cmd/onprem-supervise", "TestFarAdverts", "shared/host/supervise/loop.go", "\ts.dropFar(now)\n", ""),
			by("cmd/onprem-supervise", "TestFarAdverts", "bootstrap/vip/decide.go",
				"inst.Known, inst.Near = true,", "inst.Known, inst.Near = false,"),
			by("bootstrap/vip", "TestClosed", "bootstrap/vip/decide.go",
				"inst.Known, inst.Near = true, vrrp.HopLimited(vip, inst.Advert)", "inst.Known, inst.Near = true, true"),
			by("shared/host/supervise", "TestHopLimited", far, "!o.alone[name] && ", "")),
		kept("HO-02", "In IPv6 an advert that had passed a router outranked a node's, with any timing.",
			by("cmd/onprem-supervise", "TestFarAdverts", "shared/host/nft/vrrp.go",
				"{nftables.TableFamilyIPv6, 7, far.IPv6}", "{nftables.TableFamilyIPv6, 7, nil}"),
			by("shared/host/supervise", "TestHopLimited", "shared/vrrp/timing.go",
				"return vip.Is4() || advert < CompatTiming().Advert", "return vip.Is4()"),
			by("shared/advert", "TestHeeded", "shared/advert/advert.go", "a.From.Is6() && !limited", "a.From.Is6()")),
		kept("HO-03", "The rule against far adverts was gone for half a minute when a program had loaded all rules anew.",
			by("shared/host/nft", "TestFarFilter", "shared/host/nft/vrrp.go",
				"f.known && f.generation == now", "f.known")),
		kept("HO-04", "With IPv6 a rule for all VRRP would have cut off the users' own routers, which send as few hops.",
			by("test/daemons", "TestKnown", "shared/host/nft/vrrp.go", "equal([]byte{byte(id)}),",
				"&expr.Cmp{Op: expr.CmpOpGte, Register: register, Data: []byte{byte(id) & 0}},")),
		kept("HO-05", "Monitors had all of kubelet's directory: the secrets and the volumes of every pod.",
			by("cluster", "TestHostPaths", "cluster/pods.go", `Host: "/var/lib/kubelet/pki"}`, `Host: "/var/lib/kubelet"}`),
			by("test/poddns", "TestCredentials", "cluster/pods.go", `Host: "/var/lib/kubelet/pki"}`, `Host: "/var/lib/kubelet"}`)),
		kept("HO-06", "A monitor went on with a kubeconfig that had been replaced on the host.",
			by("test/poddns", "TestCredentials", "shared/host/file/unlinked.go", "stat.Nlink == 0", "stat.Nlink == 9")),
		partly("HO-07", "On Nutanix and oVirt a pod on the holder reached the machine config server by the balanced port, past the network plugin's filters.",
			"There the machine config server is not balanced: the holder's own serves, and a holder whose own has failed loses the VIP for that.",
			by("shared/redirect", "TestOf", "shared/redirect/redirect.go", "if len(sources) == 0 {", "if len(networks) > 0 && len(sources) == 0 {")),
		partly("HO-08", "The balanced machine config port was open to all by IPv6 after a boot, until the balancer's monitor had come up.",
			"A program that flushes all rules opens it for the half second until the monitor's next look: of IPv6 the kernel does not tell HAProxy what was redirected.",
			by("test/podlb", "TestClosedBeforeMonitor", "cmd/onprem-infra/monitor_lb.go", "\t\t\tclosePorts(p, filter{m.log}, m.log)\n", "")),
		kept("HO-09", "One client could take all 40,000 connections of the balancer.",
			by("test/podlb", "TestOneSource", "shared/haproxy/haproxy.cfg.tmpl",
				"    tcp-request connection reject if { sc0_conn_cur gt 10000 }\n", "")),
	}
}
