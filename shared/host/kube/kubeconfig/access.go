// Package kubeconfig makes the HTTP clients of a kubeconfig, and makes them anew when the
// kubeconfig or a file that it names is replaced.
package kubeconfig

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Access makes HTTP clients from a kubeconfig that may appear late and may be replaced. The clients
// trust the CA of the kubeconfig alone and send its credentials. They expect the certificate of the
// kubeconfig's server whatever name they dial, so the local API server can be probed as localhost.
// They have no overall timeout, which would cut a watch.
type Access struct {
	path      string
	protocols []string // that TLS may agree on; nil for HTTP/2 and 1.1
	log       *slog.Logger
	others    func() []netip.AddrPort // see OrAt

	mu     sync.Mutex
	text   []byte            // the kubeconfig from which client and config were made
	files  map[string][]byte // the files that text names, with their content
	client *http.Client
	config *rest.Config
	fault  string // of the files as they are now; empty for none
}

// NewAccess makes clients for probes and reads nothing yet. They speak HTTP/1.1: a timeout closes
// its connection, while an HTTP/2 connection to a server that hangs would be kept for later
// requests. log receives a line when the files of a client in use become invalid.
func NewAccess(path string, log *slog.Logger) *Access {
	access := NewWatching(path, log)
	access.protocols = []string{"http/1.1"}
	return access
}

// NewWatching makes clients for watches, which share an HTTP/2 connection, and reads nothing yet.
func NewWatching(path string, log *slog.Logger) *Access {
	silenceClientGo()
	return &Access{path: path, log: log}
}

// OrAt has connections go to one of these addresses, in their order, if the kubeconfig's server
// does not accept them within acceptWithin: other API servers of the same cluster, which must show
// a certificate as that one does. It is called before the first connection, and others by several
// goroutines.
func (a *Access) OrAt(others func() []netip.AddrPort) *Access {
	a.others = others
	return a
}

var silenced sync.Once

// silenceClientGo drops what client-go writes to stderr wherever it was given no logger. The logger
// is one for the whole process and may be set only once while others may write to it.
func silenceClientGo() {
	silenced.Do(func() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) })
}

// Client is the same one until the kubeconfig, its CA or its client certificate changes; a kubelet
// replaces the latter while it runs. The error wraps fs.ErrNotExist only while there is no
// kubeconfig; a kubeconfig that names a missing file is invalid. If files vanish or become invalid
// later, the last valid client stays in use.
func (a *Access) Client() (*http.Client, error) {
	client, _, err := a.Load()
	return client, err
}

// Trust is what an API server's certificate is verified against: the CA's certificates as PEM,
// empty if any certificate is trusted, and the name or address that the certificate must have.
func (a *Access) Trust() (ca []byte, name string, err error) {
	_, config, err := a.Load()
	if err != nil {
		return nil, "", err
	}
	return config.CAData, config.ServerName, nil
}

// Load is Client with the configuration that the client was made from.
func (a *Access) Load() (*http.Client, *rest.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, err := os.ReadFile(a.path)
	if err == nil && !a.isCurrent(text) {
		err = a.read(text)
	}
	if err != nil && a.client == nil {
		return nil, nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	a.logFault(err)
	return a.client, a.config, nil
}

// isCurrent reports whether the client was made from the files as they are now.
func (a *Access) isCurrent(text []byte) bool {
	if a.client == nil || !bytes.Equal(text, a.text) {
		return false
	}
	for path, was := range a.files {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, was) {
			return false
		}
	}
	return true
}

func (a *Access) read(text []byte) error {
	config, err := configure(a.path)
	if err != nil {
		return fmt.Errorf("%s: %v", a.path, err)
	}
	files, err := readFiles(config)
	if err != nil {
		return fmt.Errorf("%s: %v", a.path, err)
	}
	config.NextProtos, config.Dial = a.protocols, a.dial
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("%s: %v", a.path, err)
	}
	if a.client != nil { // its own method would not reach below client-go's layers
		utilnet.CloseIdleConnectionsFor(a.client.Transport)
	}
	a.text, a.files, a.client, a.config = text, files, client, config
	return nil
}

// logFault logs when the files become invalid while the last valid client stays in use, and when
// they are valid again.
func (a *Access) logFault(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == a.fault {
		return
	}
	if a.fault = text; text == "" {
		a.log.Info("kubeconfig is valid again")
		return
	}
	a.log.Warn("kubeconfig is invalid, the last valid one stays in use", "error", text)
}
