// Package registry runs a real container registry, docker-registry, for a test: with TLS, with or
// without a password.
package registry

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Program is the registry's executable.
const Program = "docker-registry"

// The only account of a registry that asks for one.
const (
	User     = "operator"
	Password = "hunter2"
	// bcrypt is the password as htpasswd(1) writes it with -B.
	bcrypt = "$2a$05$HVL2QoRrw8NnH1mg2KDxx.oQEqJHsHqAuVUHMGQqWvHKXayjNWNuq"
)

// Registry is a registry that can be started and stopped. What was pushed outlives it, in Dir.
type Registry struct {
	Address   netip.AddrPort // where it listens, with TLS
	Dir       string         // for its storage, its configuration and its log
	Cert, Key []byte         // PEM
	Login     bool           // whether it asks for User and Password from the next Start on
	// Command prepares a command on the registry's host, and Dial connects from there.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)

	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// config is the registry's own. Its log has a line for each request.
const config = `version: 0.1
log: {level: warn, accesslog: {disabled: false}}
storage: {filesystem: {rootdirectory: %[1]s/storage}}
http: {addr: "%[2]s", tls: {certificate: %[1]s/cert.pem, key: %[1]s/key.pem}}
`

// Start runs the registry until Stop, and returns once it answers. It does nothing while it runs.
func (r *Registry) Start(ctx context.Context) error {
	if r.cmd != nil {
		return nil
	}
	text := fmt.Sprintf(config, r.Dir, r.Address)
	if r.Login {
		text += fmt.Sprintf("auth: {htpasswd: {realm: test, path: %s/htpasswd}}\n", r.Dir)
	}
	for name, content := range map[string]string{
		"config.yml": text, "htpasswd": User + ":" + bcrypt + "\n", "cert.pem": string(r.Cert), "key.pem": string(r.Key),
	} {
		if err := os.WriteFile(r.path(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(r.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := r.Command(context.WithoutCancel(ctx), Program, "serve", r.path("config.yml"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the registry: %w", err)
	}
	r.cmd, r.done = cmd, make(chan struct{})
	go func() {
		defer close(r.done)
		_ = cmd.Wait() // how it ended is in its log
	}()
	if err := r.await(ctx); err != nil {
		text, _ := os.ReadFile(r.path("log"))
		return errors.Join(fmt.Errorf("start the registry: %w\n%s", err, text), r.Stop())
	}
	return nil
}

// await waits until the registry answers at all; without credentials the answer may be a refusal.
func (r *Registry) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: r.Dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s/", r.Address), nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err == nil {
			return answer.Body.Close()
		}
		select {
		case <-r.done:
			return errors.New("it ended")
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop takes the registry down. It does nothing while it is down.
func (r *Registry) Stop() error {
	if r.cmd == nil {
		return nil
	}
	err := r.cmd.Process.Signal(syscall.SIGKILL) // it keeps nothing that a push has not written
	<-r.done
	r.cmd = nil
	if errors.Is(err, os.ErrProcessDone) {
		return errors.New("the registry had ended by itself")
	}
	return err
}

// Requests are the requests to the API so far, one line each, such as "GET /v2/name/manifests/tag".
func (r *Registry) Requests() ([]string, error) {
	text, err := os.ReadFile(r.path("log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var requests []string
	for line := range strings.Lines(string(text)) {
		// 192.0.2.10 - - [date] "GET /v2/ HTTP/1.1" 200 2 "" "agent"
		if _, rest, ok := strings.Cut(line, `] "`); ok {
			if request, _, ok := strings.Cut(rest, " HTTP/"); ok && strings.Contains(request, " /v2/") {
				requests = append(requests, request)
			}
		}
	}
	return requests, err
}

// Credentials is a file of registry credentials, as podman and Docker read it, with this password
// for a registry at HOST:PORT.
func Credentials(address, password string) []byte {
	return fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`+"\n", address, base64.StdEncoding.EncodeToString([]byte(User+":"+password)))
}

func (r *Registry) path(name string) string { return filepath.Join(r.Dir, name) }
