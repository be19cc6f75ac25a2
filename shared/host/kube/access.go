// Package kube is the door to a Kubernetes API: it follows Nodes, single ConfigMaps and the
// endpoints of a service by watches, keeps a small object of ours as it should be, and makes the
// HTTP client with which a probe asks the API for its health. It is the only importer of client-go.
package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// Access makes HTTP clients from a kubeconfig that may appear late and may be replaced. Its clients
// trust the kubeconfig's CA alone, send its credentials, and expect a certificate for the
// kubeconfig's server whatever name they dial, so that the machine's own API server can be asked by
// localhost even if its certificate does not say so. They have no overall timeout, which would cut
// a watch.
type Access struct {
	path      string
	protocols []string // that TLS may agree on; nil for HTTP/2 and 1.1
	log       *slog.Logger

	mu     sync.Mutex
	text   []byte            // the kubeconfig that client and config were made from
	files  map[string][]byte // those that text names, and what was in them; what text holds itself is in none
	client *http.Client
	config *rest.Config
	said   string // what is wrong with the files as they are now, empty when nothing is
}

// NewAccess makes clients for probes and reads nothing yet. They speak HTTP/1.1: after a timeout
// its connection is closed, while an HTTP/2 connection to a server that hangs is kept and would
// take every later question with it. log hears when the files of a client in use turn bad.
func NewAccess(kubeconfig string, log *slog.Logger) *Access {
	silence()
	return &Access{path: kubeconfig, protocols: []string{"http/1.1"}, log: log}
}

// Client is the same one until the kubeconfig changes, or a file of its CA or of its client
// certificate, which a kubelet replaces while it runs. The error wraps fs.ErrNotExist while there
// is no kubeconfig, and only then: a kubeconfig that names a file which is not there is a bad one.
// Files that vanish or turn bad later leave the last good client in place.
func (a *Access) Client() (*http.Client, error) {
	client, _, err := a.load()
	return client, err
}

func (a *Access) load() (*http.Client, *rest.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, err := os.ReadFile(a.path)
	if err == nil && !a.current(text) {
		err = a.read(text)
	}
	if err != nil && a.client == nil {
		return nil, nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	a.say(err)
	return a.client, a.config, nil
}

// current says whether the client was made from these files.
func (a *Access) current(text []byte) bool {
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
	files, err := takeFiles(config)
	if err != nil {
		return fmt.Errorf("%s: %v", a.path, err)
	}
	config.NextProtos = a.protocols
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

// takeFiles puts the content of the files that a configuration names in their place, and returns
// what it read. client-go would look at them every five minutes: too late for a server whose
// certificate was replaced with its CA.
func takeFiles(config *rest.Config) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range []struct {
		what string
		path *string
		data *[]byte
	}{
		{"CA", &config.CAFile, &config.CAData},
		{"client certificate", &config.CertFile, &config.CertData},
		{"client key", &config.KeyFile, &config.KeyData},
	} {
		if *f.path == "" {
			continue
		}
		text, err := os.ReadFile(*f.path)
		if err != nil {
			return nil, fmt.Errorf("its %s: %w", f.what, err)
		}
		files[*f.path] = text
		if len(*f.data) == 0 { // what the kubeconfig holds itself comes first
			*f.data = text
		}
		*f.path = ""
	}
	return files, nil
}

// say logs what is wrong with the files while the last good client goes on, and when they are well
// again.
func (a *Access) say(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == a.said {
		return
	}
	if a.said = text; text == "" {
		a.log.Info("kubeconfig is well again")
		return
	}
	a.log.Warn("kubeconfig has turned bad, the last good one stays in use", "error", text)
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
	config.Dial = dial
	if config.Proxy == nil { // the proxy of the environment is for image registries; this API is on the machine or on its own network
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return config, nil
}

// A connection to a VIP ends without a word when the VIP's holder loses its power: who has the VIP
// now knows nothing of it, and says so when it is asked. A watch asks nothing, so the kernel does,
// whenever the connection was silent for a second.
const (
	quiet = time.Second
	// unanswered is how long a connection lasts that nobody answers at all: longer than a VIP is
	// without a holder under any timing.
	unanswered = 10 * time.Second
)

// dial connects, and has the kernel see to it that the connection is not taken for one when the
// other side has lost it.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := localhost.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: quiet, Interval: quiet, Count: int(unanswered / quiet)}); err != nil {
			return nil, errors.Join(fmt.Errorf("ask after the connection with %s: %w", address, err), conn.Close())
		}
	}
	return conn, nil
}
