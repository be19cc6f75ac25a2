package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
)

// clusterVIPs are all VIPs of the cluster that a host's file describes. That one of them is never this host's to hold is no reason to leave it on an
// interface. Of the file no more is read than its VIPs: whether it is right is said by the programs that live by the rest.
func clusterVIPs(path string) ([]netip.Addr, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs: %w", err)
	}
	var cluster struct {
		Spec struct{ APIVIPs, IngressVIPs []netip.Addr }
	}
	if err := json.Unmarshal(text, &cluster); err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: %w", path, err)
	}
	vips := append(cluster.Spec.APIVIPs, cluster.Spec.IngressVIPs...)
	if len(vips) == 0 {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: it names none", path)
	}
	return vips, nil
}
