package redfish

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestRead_ManyParts has a machine of more parts than are read.
func TestRead_ManyParts(t *testing.T) {
	machine := fakebmc.Sample(1)
	for i := range 60 {
		machine.Ports = append(machine.Ports, fakebmc.Port{MAC: fmt.Sprintf("52:54:00:00:00:%02x", i)})
		machine.Disks = append(machine.Disks, fakebmc.Disk{Name: fmt.Sprint(i), Bytes: 1e12})
	}
	b := start(t, fakebmc.Certificate{}, fakebmc.Quirks{}, machine)
	f := b.read(t)
	if f.Login != Accepted || f.Sent != 64 || len(b.Requests()) != 64 {
		t.Errorf("login %s, %d requests", f.Login, f.Sent)
	}
	s, unread := f.System, strings.Join(f.Unread, "\n")
	if len(s.Ports) != 32 || s.DisksSeen || len(s.Disks) == 0 {
		t.Errorf("%d ports, %d disks, all %t", len(s.Ports), len(s.Disks), s.DisksSeen)
	}
	if !strings.Contains(unread, "more than 32 members") || !strings.Contains(unread, "after 64 documents") {
		t.Errorf("unread:\n%s", unread)
	}
}

// TestRead_CertificateChanges has another host take the BMC's place after the first answer.
func TestRead_CertificateChanges(t *testing.T) {
	first, err := fakebmc.Certificate{}.Make()
	if err != nil {
		t.Fatal(err)
	}
	other, err := fakebmc.Certificate{}.Make()
	if err != nil {
		t.Fatal(err)
	}
	const root = "/redfish/v1/"
	for name, redirects := range map[string]bool{"after the root": false, "before the root, by a redirect": true} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int32
			b := start(t, fakebmc.Certificate{}, fakebmc.Quirks{})
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if redirects && r.URL.Path == root && connections.Load() == 1 {
					w.Header().Set("Connection", "close")
					http.Redirect(w, r, strings.TrimSuffix(root, "/"), http.StatusMovedPermanently)
					return
				}
				b.ServeHTTP(w, r)
			}))
			server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				made := first
				if connections.Add(1) > 1 {
					made = other
				}
				return &tls.Config{Certificates: []tls.Certificate{made.TLS}, MinVersion: tls.VersionTLS12}, nil
			}}
			server.Config.SetKeepAlivesEnabled(redirects)
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // the client ends a handshake
			server.StartTLS()
			defer server.Close()
			b.service.URL, b.service.Verify = server.URL, byCA(fakebmc.Running{Made: first})
			f := b.read(t)
			if f.Login == Accepted || !strings.Contains(f.Why, "certificate is not trusted") {
				t.Errorf("login %s: %s", f.Login, f.Why)
			}
			if len(b.Requests()) == 0 {
				t.Error("the root was not read")
			}
			for _, r := range b.Requests() {
				if r.Authorization != "" || r.Method != http.MethodGet {
					t.Errorf("sent %+v", r)
				}
			}
		})
	}
}
