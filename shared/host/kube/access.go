// Package kube is the door to a Kubernetes API: it follows the control plane's Nodes by one watch and makes the HTTP client with which a
// probe asks the API for its health. It is the only importer of client-go.
package kube

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// Access makes HTTP clients from a kubeconfig that may appear late and may be replaced. Its clients trust the kubeconfig's CA alone, send its
// credentials, and expect a certificate for the kubeconfig's server whatever name they dial, so that the machine's own API server can be
// asked by localhost even if its certificate does not say so. They have no overall timeout, which would cut a watch.
type Access struct {
	path string

	mu     sync.Mutex
	text   []byte // the kubeconfig that client and config were made from
	client *http.Client
	config *rest.Config
}

// NewAccess reads nothing yet.
func NewAccess(kubeconfig string) *Access {
	silence()
	return &Access{path: kubeconfig}
}

// Client is the same one until the kubeconfig changes. The error wraps fs.ErrNotExist while there is no kubeconfig. A kubeconfig that
// vanishes or turns bad later leaves the last good client in place.
func (a *Access) Client() (*http.Client, error) {
	client, _, err := a.load()
	return client, err
}

func (a *Access) load() (*http.Client, *rest.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, err := os.ReadFile(a.path)
	if err == nil && a.client != nil && bytes.Equal(text, a.text) {
		return a.client, a.config, nil
	}
	if err == nil {
		err = a.read(text)
	}
	if err != nil && a.client == nil {
		return nil, nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return a.client, a.config, nil
}

func (a *Access) read(text []byte) error {
	config, err := configure(a.path)
	if err != nil {
		return fmt.Errorf("%s: %w", a.path, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("%s: %w", a.path, err)
	}
	a.text, a.client, a.config = text, client, config
	return nil
}

func configure(path string) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, err
	}
	if config.Host == "" {
		return nil, errors.New("it names no server")
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName = server.Hostname()
	}
	config.Dial = localhost.Dial
	if config.Proxy == nil { // the proxy of the environment is for image registries; this API is on the machine or on its own network
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return config, nil
}
