package identity

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// serve is a FAKE Ironic with an identity. The returned asker has that of files.
func serve(t *testing.T, own, files Files, handler http.HandlerFunc) *Asker {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(own.Certificate, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return &Asker{Files: files, Host: "localhost", Port: uint16(server.Listener.Addr().(*net.TCPAddr).Port)}
}

func made(t *testing.T) Files {
	f := files(t)
	ensure(t, f, names, time.Now())
	return f
}

func TestAsker(t *testing.T) {
	f := made(t)
	account, err := f.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"drivers":[{"name":"redfish","hosts":["onprem-bootstrap"]},{"name":"ipmi","hosts":["onprem-bootstrap"]},{"name":"idrac","hosts":[]}]}`
	a := serve(t, f, f, func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		switch {
		case r.URL.Path == "/v1" && !ok:
		case r.URL.Path == "/v1/drivers" && user == account.Username && password == account.Password.Reveal():
			io.WriteString(w, answer)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	if err := a.Answers(t.Context()); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		answer string
		want   []string
		err    string
	}{
		{answer, []string{"ipmi", "redfish"}, ""},
		{`{"drivers":[]}`, nil, ""},
		{`{}`, nil, "no list"},
		{`<html>`, nil, "no list"},
	} {
		answer = tt.answer
		got, err := a.Drivers(t.Context())
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, %v", tt.answer, got, err)
		}
	}
	// A certificate that was made again is known at once.
	ensure(t, f, append(names, "192.0.2.7"), time.Now())
	if err := a.Answers(t.Context()); err != nil {
		if !strings.Contains(err.Error(), "certificate") {
			t.Error(err)
		}
	} else {
		t.Error("the former certificate is accepted")
	}
}

// Whoever listens at the port without the certificate never gets the account.
func TestAsker_OtherProgram(t *testing.T) {
	asked := false
	a := serve(t, made(t), made(t), func(http.ResponseWriter, *http.Request) { asked = true })
	if _, err := a.Drivers(t.Context()); err == nil || asked {
		t.Errorf("another program was asked: %v, %v", asked, err)
	}
	a = serve(t, a.Files, a.Files, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) })
	if err := a.Answers(t.Context()); err == nil {
		t.Error("a redirect is an answer")
	}
}

func FuzzReadDrivers(f *testing.F) {
	f.Add([]byte(`{"drivers":[{"name":"redfish","hosts":["a"]}]}`))
	f.Add([]byte(`{"drivers":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		names, err := readDrivers(body)
		if err != nil && names != nil || slices.Contains(names, "") || !slices.IsSorted(names) {
			t.Errorf("%q, %v", names, err)
		}
	})
}
