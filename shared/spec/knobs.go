package spec

// Knobs are the settings beside the cluster's own data as the command line gives them; each replaces the field of cluster.yaml that it
// stands for.
type Knobs struct {
	Timing string
	VRRP   string
	VRIDs  []string // "api=9", "ingress=10"
	Ports  []string // "NAME=N"
}
