package kubeconfig

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestWriteInPod holds that the kubeconfig of a pod names the API and the files of its account, in
// both families, and that a program outside of a pod is told.
func TestWriteInPod(t *testing.T) {
	to := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if err := WriteInPod(to); err == nil {
		t.Error("there is no pod, and no error")
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if err := WriteInPod(to); err != nil {
		t.Fatal(err)
	}
	files, err := Files(to)
	if want := []string{ServiceAccount + "/ca.crt", ServiceAccount + "/token"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("%v, %v", files, err)
	}
	config, err := load(to)
	if err != nil || config.Clusters["pod"].Server != "https://[fd00::1]:443" {
		t.Errorf("%+v, %v", config, err)
	}
}
