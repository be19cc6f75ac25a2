package metrics

// What a bootstrap machine reports of its DHCP server, which answers hosts that are provisioned.
var (
	DHCPServing = gauge("onprem_dhcp_serving",
		"1 while the DHCP and TFTP server does all that it is ordered to.")
	DHCPHosts   = gauge("onprem_dhcp_hosts", "Hosts that the DHCP server answers.")
	DHCPAnswers = counter("onprem_dhcp_answers_total",
		"Messages that the DHCP server has sent to hosts, by their kind.", "message")
	DHCPIgnored = counter("onprem_dhcp_ignored_total",
		"Messages of hosts that the DHCP server has received and does not answer.")
	DHCPForeign = counter("onprem_dhcp_foreign_total",
		"Reports of servers on the provisioning network that are none of the cluster's, by what "+
			"they configure hosts. Each server is reported once a second at most.", "kind")
)
