package registry

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"testing"
)

// TestRegistry holds what tests rely on: who is let in, what is written down, and that a stop is
// one.
func TestRegistry(t *testing.T) {
	r := Local(t)
	r.Login = true
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		password string
		want     int
	}{{Password, http.StatusOK}, {"wrong", http.StatusUnauthorized}, {"", http.StatusUnauthorized}} {
		if got := ask(t, r, tt.password); got != tt.want {
			t.Errorf("password %q: %d, want %d", tt.password, got, tt.want)
		}
	}
	if got, err := r.Requests(); err != nil || !slices.Equal(got, []string{"GET /v2/", "GET /v2/", "GET /v2/"}) {
		t.Errorf("requests %q (%v), want the three of this test", got, err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", r.Address.String()); err == nil {
		conn.Close()
		t.Error("it listens after its stop")
	}
	if r.Login = false; r.Start(t.Context()) != nil || ask(t, r, "") != http.StatusOK {
		t.Error("it does not let everybody in without a login")
	}
}

// ask is the status of an answer to the registry's own certificate.
func ask(t *testing.T, r *Registry, password string) int {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.Cert)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.Address.String()+"/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		request.SetBasicAuth(User, password)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
