package scars

// credentials are kubelet's, as the monitors' pods have them.
func credentials() []Scar {
	const command = "cmd/onprem-infra"
	return []Scar{
		partly("RI-10", "Every monitor ended as soon as its kubeconfig was removed, and its next container had a directory made in the file's place.",
			"A kubeconfig that is away for more than five minutes while kubelet runs, or that the API refuses, still ends the monitors.",
			by(command, "TestUnlinkedKubeconfig", command+"/monitor_kubeconfig.go", "now.Sub(u.since) >= keepKubeconfig", "true")),
		kept("RI-11", "A directory in the place of kubelet's kubeconfig was named nowhere.",
			by(command, "TestDoctorLooks", command+"/doctor_credentials.go", "Directory: is.IsDir()", "Directory: is.IsDir() && false")),
		kept("RI-12", "Monitors could not be given certificates outside of /var/lib/kubelet/pki, as k0s and k3s have theirs.",
			by("cluster", "TestHostPaths", "cluster/pods.go", "range p.CertificateDirectories {", "range p.CertificateDirectories[:0] {")),
		kept("RI-13", "Nothing named the certificate that monitors did not see.",
			by(command, "TestDoctorLooks", command+"/doctor_credentials.go", "!cluster.Sees(l.plan, step)", "false")),
	}
}
