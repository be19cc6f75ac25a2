package doctor

import "fmt"

// credentials are kubelet's: without them a monitor sees nothing of the cluster.
func credentials(f Facts) []Finding {
	c := f.Credentials
	if c == nil || !c.Directory {
		return nil
	}
	return []Finding{{
		Looked: "kubelet's kubeconfig, " + c.Kubeconfig,
		Seen: "it is a directory, so neither kubelet nor our monitors have credentials: the container " +
			"runtime makes one for a container that starts while the file is not there",
		Do: fmt.Sprintf("run 'systemctl stop %s' and 'rmdir %s', put the kubeconfig there, and run "+
			"'systemctl start %[1]s'; the monitors begin anew with it", f.Plan.KubeletUnit, c.Kubeconfig),
	}}
}
