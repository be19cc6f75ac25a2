package registry

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdd reads an image from a registry as a client does: its layer has the root, and each part
// has its digest.
func TestAdd(t *testing.T) {
	r, root, image := Local(t), t.TempDir(), t.TempDir()
	err := errors.Join(os.MkdirAll(filepath.Join(root, "proc"), 0o755), os.WriteFile(filepath.Join(root, "hello"), []byte("there\n"), 0o644),
		os.WriteFile(filepath.Join(root, "proc/1"), nil, 0o644), MakeImage(t.Context(), root, image), r.Start(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := r.Add("some/image", image)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(get(t, r, "manifests", whole), &manifest); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(strings.NewReader(string(get(t, r, "blobs", manifest.Layers[0].Digest))))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	if config := string(get(t, r, "blobs", manifest.Config.Digest)); !strings.Contains(config, digest(content)) {
		t.Errorf("the configuration %s lacks the layer's digest %s", config, digest(content))
	}
	names := ""
	for files := tar.NewReader(strings.NewReader(string(content))); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names += h.Name + " "
	}
	if names != "./ ./hello " {
		t.Errorf("the layer has %q", names)
	}
}

// get is a part of the image, whose digest is compared.
func get(t *testing.T, r *Registry, kind, sum string) []byte {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.Cert)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s/v2/some/image/%s/%s", r.Address, kind, sum), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", typeManifest)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(body)); err != nil || answer.StatusCode != http.StatusOK || got != sum {
		t.Fatalf("%s: %s %v, its digest is %s", request.URL, answer.Status, err, got)
	}
	return body
}
