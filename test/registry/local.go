package registry

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// Local is a registry on a free port of this machine's loopback, down, that ends with the test. Its
// certificate is its own CA.
func Local(t testing.TB) *Registry {
	t.Helper()
	need.Command(t, Program)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // the port is free until somebody else takes it: this machine gives it to nobody soon
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	r := &Registry{
		Address: netip.MustParseAddrPort(listener.Addr().String()), Dir: t.TempDir(),
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		Dial: new(net.Dialer).DialContext,
		Command: func(ctx context.Context, name string, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when the test is cut short
			return cmd
		},
	}
	t.Cleanup(func() { _ = r.Stop() })
	return r
}
