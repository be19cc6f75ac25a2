//go:build remote

package podman

import (
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// A host without SELinux cannot show a label, nor an image in OCI format a health check.
func TestGenerateWhatNoContainerHereCanShow(t *testing.T) {
	g := generate(container.Spec{
		Name: "onprem-keepalived", Image: "example.com/keepalived:1",
		Capabilities: []string{"CAP_NET_RAW"},
	})
	if !slices.Equal(g.SelinuxOpts, []string{"disable"}) {
		t.Errorf("SELinux options %q: bind mounts keep the host's labels, which a confined container may not read", g.SelinuxOpts)
	}
	if g.HealthConfig == nil || !slices.Equal(g.HealthConfig.Test, []string{"NONE"}) {
		t.Errorf("health check %+v: the image's own would fork a program each time", g.HealthConfig)
	}
	if g.Systemd != "false" {
		t.Errorf("systemd mode %q: it adds mounts when the command looks like an init", g.Systemd)
	}
	if g.Privileged || g.Stdin || g.Terminal || g.ResourceLimits != nil || g.Rlimits != nil ||
		g.OOMScoreAdj != nil {
		t.Error("a privilege, an open stdin or a limit of our own")
	}
}
