package kubeconfig

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles reads which files monitors need beside the kubeconfig.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, path, `apiVersion: v1
kind: Config
clusters:
- {name: k, cluster: {server: "https://api:6443", certificate-authority: /etc/kubernetes/pki/ca.crt}}
- {name: other, cluster: {server: "https://other:6443", certificate-authority: /other.crt}}
users:
- {name: k, user: {client-certificate: pki/one.pem, client-key: pki/one.pem, tokenFile: /run/token}}
- {name: other, user: {client-certificate: /other.pem}}
contexts:
- {name: other, context: {cluster: other, user: other}}
- {name: k, context: {cluster: k, user: k}}
current-context: k
`)
	want := []string{"/etc/kubernetes/pki/ca.crt", "/run/token", filepath.Join(filepath.Dir(path), "pki/one.pem")}
	slices.Sort(want)
	if got, err := Files(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	write(t, path, "apiVersion: v1\nkind: Config\n")
	if got, err := Files(path); err != nil || len(got) > 0 {
		t.Errorf("of an empty one: %q, %v", got, err)
	}
	write(t, path, "{")
	if _, err := Files(path); err == nil {
		t.Error("one that cannot be read names nothing")
	}
}
