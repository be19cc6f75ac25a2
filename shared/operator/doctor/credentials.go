package doctor

import (
	"fmt"
	"path"
	"strings"
)

// credentials are kubelet's: without them a monitor sees nothing of the cluster.
func credentials(f Facts) (out []Finding) {
	c := f.Credentials
	if c == nil {
		return nil
	}
	if c.Directory {
		return []Finding{{
			Looked: "kubelet's kubeconfig, " + c.Kubeconfig,
			Seen: "it is a directory, so neither kubelet nor our monitors have credentials: the container " +
				"runtime makes one for a container that starts while the file is not there",
			Do: fmt.Sprintf("run 'systemctl stop %s' and 'rmdir %s', put the kubeconfig there, and run "+
				"'systemctl start %[1]s'; the monitors begin anew with it", f.Plan.KubeletUnit, c.Kubeconfig),
		}}
	}
	for _, file := range c.Outside {
		out = append(out, Finding{
			Looked: fmt.Sprintf("%s, which kubelet's kubeconfig %s needs", file, c.Kubeconfig),
			Seen:   "our monitors do not see it: of certificates they have " + strings.Join(c.Mounted, ", "),
			Do: fmt.Sprintf("add %s to spec.certificateDirectories of cluster.yaml, and give every host of the "+
				"cluster the files of 'onprem-infra render' again; or have the kubeconfig hold it (such as "+
				"certificate-authority-data)", path.Dir(file)),
		})
	}
	return out
}
