// Package apihost is a lab host that runs the FAKE API of package fakeapi: for tests of what nodes
// make of the API's answers, and of its absence.
package apihost

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// API is the FAKE API on a host. It keeps its nodes over an end and another start.
type API struct {
	Host *lab.Host

	t       *testing.T
	base    string
	program string
	state   string
	running *exec.Cmd

	authority *kubeapi.Authority // nil without TLS
	pair      string             // certificate and key of the API
}

// Start has a host, whose address is given, run the API until the test ends. dir is the test's own.
func Start(t *testing.T, host *lab.Host, address, dir string) *API {
	t.Helper()
	return start(t, host, address, dir, nil)
}

// StartTLS is the same with TLS, so that kubelets' credentials can name their nodes.
func StartTLS(t *testing.T, host *lab.Host, address, dir string) *API {
	t.Helper()
	authority, err := kubeapi.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	id, err := authority.Server(nil, []netip.Addr{netip.MustParseAddr(address)})
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "api.pem"), append(id.Cert, id.Key...), 0o600)); err != nil {
		t.Fatal(err)
	}
	return start(t, host, address, dir, authority)
}

func start(t *testing.T, host *lab.Host, address, dir string, authority *kubeapi.Authority) *API {
	t.Helper()
	a := &API{authority: authority, Host: host, t: t, base: "http://" + address + ":6443", program: filepath.Join(dir, "fakeapi"), state: filepath.Join(dir, "nodes.json")}
	if authority != nil {
		a.pair, a.base = filepath.Join(dir, "api.pem"), "https://"+address+":6443"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", a.program, "github.com/onprem-infra/onprem-infra/test/fakeapi")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build fakeapi: %v\n%s", err, out)
	}
	a.Up()
	return a
}

// Up starts it, and waits until it answers.
func (a *API) Up() {
	a.t.Helper()
	args := []string{"-state", a.state}
	if a.authority != nil {
		args = append(args, "-cert", a.pair, "-key", a.pair)
	}
	running := a.Host.Command(context.WithoutCancel(a.t.Context()), a.program, args...)
	if err := running.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.running = running
	a.t.Cleanup(func() {
		_ = running.Process.Kill() // it may be gone
		_ = running.Wait()
	})
	begun := time.Now()
	for err := a.Call(http.MethodGet, "/api/v1/nodes", nil); err != nil; err = a.Call(http.MethodGet, "/api/v1/nodes", nil) {
		if time.Since(begun) > 20*time.Second {
			a.t.Fatalf("the API does not answer: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Down ends it at once.
func (a *API) Down() {
	_ = a.running.Process.Kill() // it may be gone
	_ = a.running.Wait()
}

// Call makes a request from the API's own host; a patch merges. Every answer but one of success is
// an error.
func (a *API) Call(method, path string, body []byte) error {
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	transport := &http.Transport{DialContext: a.Host.Dial, DisableKeepAlives: true}
	if a.authority != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: a.authority.Pool()}
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: transport}
	reply, err := client.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s %s %v", method, path, reply.Status, text, err)
	}
	return nil
}

// Register makes a Node with these labels and internal addresses.
func (a *API) Register(name string, labels []string, addresses ...string) {
	a.t.Helper()
	keys := map[string]string{}
	for _, key := range labels {
		keys[key] = ""
	}
	var internal []map[string]string
	for _, address := range addresses {
		internal = append(internal, map[string]string{"type": "InternalIP", "address": address})
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "labels": keys}, "status": map[string]any{"addresses": internal}})
	if err == nil {
		err = a.Call(http.MethodPost, "/api/v1/nodes", body)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// Kubeconfig is what the kubelet of a node has for it.
func (a *API) Kubeconfig(node string) []byte {
	a.t.Helper()
	if a.authority == nil {
		return fmt.Appendf(nil, "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n", a.base)
	}
	id, err := a.authority.Sign(kubeapi.Node(node))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.authority.Kubeconfig(a.base, id)
}
