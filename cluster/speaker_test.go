package cluster

import (
	"bytes"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// TestSpeakerPod holds the pod of a node whose VIPs its routers alone know, and of one that holds some
// by VRRP beside that.
func TestSpeakerPod(t *testing.T) {
	for name, change := range map[string]func(*spec.Cluster){"routed": routed, "both": both} {
		t.Run(name, func(t *testing.T) { golden.Check(t, pod.Render(speakerPod(compiled(t, change), role.Worker))) })
	}
}

// TestAssetsWith_Passwords holds that the routers' passwords are in one file for root alone.
func TestAssetsWith_Passwords(t *testing.T) {
	for name, change := range map[string]func(*spec.Cluster){"routed": routed, "both": both, "VRRP": func(*spec.Cluster) {}} {
		set, err := AssetsWith(compiled(t, change), role.Worker, []byte("192.0.2.1 s3cret\n"))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range set.Tree() {
			if f.Path == spoken.PasswordsFile && f.Mode == 0o600 {
				found++
			} else if bytes.Contains(f.Contents, []byte("s3cret")) {
				t.Errorf("%s: %s has a password, mode %v", name, f.Path, f.Mode)
			}
		}
		if (found == 1) != (name != "VRRP") {
			t.Errorf("%s: %d files of passwords", name, found)
		}
	}
}
