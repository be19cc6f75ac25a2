package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func files(t *testing.T) Files {
	dir := t.TempDir()
	return Files{filepath.Join(dir, "tls/ironic.crt"), filepath.Join(dir, "tls/ironic.key"),
		filepath.Join(dir, "auth/account.json"), filepath.Join(dir, "auth/htpasswd")}
}

func (f Files) read(t *testing.T) (all [4]string) {
	t.Helper()
	for i, path := range []string{f.Certificate, f.Key, f.Account, f.Htpasswd} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = string(text)
	}
	return all
}

var names = []string{"localhost", "127.0.0.1", "172.22.0.2", "fd00:22::2"}

func ensure(t *testing.T, f Files, names []string, now time.Time) bool {
	t.Helper()
	changed, err := f.Ensure(names, now)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestEnsure(t *testing.T) {
	f, now := files(t), time.Now()
	if !ensure(t, f, names, now) {
		t.Error("it made all, and says nothing changed")
	}
	first := f.read(t)
	for _, path := range []string{f.Key, f.Account, f.Htpasswd} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", path, info.Mode(), err)
		}
	}
	if !regexp.MustCompile(`^\{"username":"onprem-infra","password":"[A-Za-z0-9]{32}"\}\n$`).MatchString(first[2]) ||
		!regexp.MustCompile(`^onprem-infra:\$2y\$04\$[./A-Za-z0-9]{53}\n$`).MatchString(first[3]) {
		t.Errorf("the account is %q, its line %q", first[2], first[3])
	}
	if ensure(t, f, names[:2], now.Add(24*time.Hour)) || f.read(t) != first {
		t.Error("a good identity was made again")
	}
	other := files(t)
	ensure(t, other, names, now)
	if f.read(t)[2] == other.read(t)[2] {
		t.Error("two machines have one password")
	}
}

// What is missing, cut off, of another pair, for other names or near its end is made again, and
// nothing else.
func TestEnsure_MakesAgain(t *testing.T) {
	now := time.Now()
	other := files(t)
	ensure(t, other, names, now)
	for _, tt := range []struct {
		name    string
		change  func(f Files) error
		names   []string
		now     time.Time
		changed [4]bool
	}{
		{"no certificate", func(f Files) error { return os.Remove(f.Certificate) }, names, now, [4]bool{true, true}},
		{"no key", func(f Files) error { return os.Remove(f.Key) }, names, now, [4]bool{true, true}},
		{"half a certificate", func(f Files) error { return os.Truncate(f.Certificate, 100) }, names, now, [4]bool{true, true}},
		{"a key of another", func(f Files) error { return os.WriteFile(f.Key, []byte(other.read(t)[1]), 0o600) }, names, now, [4]bool{true, true}},
		{"one more address", func(Files) error { return nil }, append(names, "192.0.2.5"), now, [4]bool{true, true}},
		{"one more name", func(Files) error { return nil }, append(names, "api-int.a.b"), now, [4]bool{true, true}},
		{"near its end", func(Files) error { return nil }, names, now.Add(lifetime - renewal + time.Hour), [4]bool{true, true}},
		{"no account", func(f Files) error { return os.Remove(f.Account) }, names, now, [4]bool{false, false, true, true}},
		{"no hash", func(f Files) error { return os.Remove(f.Htpasswd) }, names, now, [4]bool{false, false, true, true}},
		{"half an account", func(f Files) error { return os.Truncate(f.Account, 30) }, names, now, [4]bool{false, false, true, true}},
		{"a hash of another", func(f Files) error { return os.WriteFile(f.Htpasswd, []byte(other.read(t)[3]), 0o600) }, names, now, [4]bool{false, false, true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := files(t)
			ensure(t, f, names, now)
			before := f.read(t)
			if err := tt.change(f); err != nil {
				t.Fatal(err)
			}
			if !ensure(t, f, tt.names, tt.now) {
				t.Error("it says nothing changed")
			}
			after := f.read(t)
			for i := range after {
				if (after[i] != before[i]) != tt.changed[i] {
					t.Errorf("file %d changed: %v, want %v", i, after[i] != before[i], tt.changed[i])
				}
			}
			if ensure(t, f, tt.names, tt.now) {
				t.Error("what was made is made again")
			}
		})
	}
}

// A client that knows the certificate reaches Ironic by each name, at any time since 1970, and no
// one else.
func TestRoots(t *testing.T) {
	f, other, now := files(t), files(t), time.Now()
	ensure(t, f, names, now)
	ensure(t, other, names, now)
	pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	ask := func(by Files, name string, at time.Time) error {
		roots, err := by.Roots()
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return at }}).Handshake()
	}
	for _, name := range names {
		for _, at := range []time.Time{time.Unix(1, 0), now, now.Add(lifetime - time.Hour)} {
			if err := ask(f, name, at); err != nil {
				t.Errorf("%s at %v: %v", name, at, err)
			}
		}
	}
	if ask(other, "localhost", now) == nil || ask(f, "example.com", now) == nil {
		t.Error("another certificate or another name is accepted")
	}
	if pair.Leaf.IsCA || pair.Leaf.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Error("its key may sign certificates")
	}
}

func TestCredentials(t *testing.T) {
	f := files(t)
	if _, err := f.Credentials(); err == nil {
		t.Error("there is an account before any was made")
	}
	ensure(t, f, names, time.Now())
	a, err := f.Credentials()
	if err != nil || a.Username != username || !strings.Contains(f.read(t)[2], a.Password.Reveal()) || a.Password.Empty() {
		t.Errorf("%v, %v", a, err)
	}
	if strings.Contains(fmt.Sprintf("%+v", a), a.Password.Reveal()) {
		t.Error("the password is printed")
	}
	if err := os.WriteFile(f.Account, []byte(`{"username":"a","password":{"p4ss":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Credentials(); err == nil || strings.Contains(err.Error(), "p4ss") {
		t.Errorf("%v, want an error without the content", err)
	}
}

// TestEnsure_Unreadable holds that a failure to read makes nothing again: hosts that booted trust
// the certificate, and clients have the account.
func TestEnsure_Unreadable(t *testing.T) {
	for i, name := range []string{"certificate", "key", "account", "hash"} {
		t.Run(name, func(t *testing.T) {
			f, now := files(t), time.Now()
			ensure(t, f, names, now)
			before := f.read(t)
			path := []string{f.Certificate, f.Key, f.Account, f.Htpasswd}[i]
			if err := errors.Join(os.Rename(path, path+".aside"), os.Symlink(path, path)); err != nil {
				t.Fatal(err)
			}
			if changed, err := f.Ensure(names, now); changed || err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("changed %v with error %v, want one that names %s", changed, err, path)
			}
			if err := os.Rename(path+".aside", path); err != nil {
				t.Fatal(err)
			}
			if ensure(t, f, names, now) || f.read(t) != before {
				t.Error("a good identity was made again")
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"username":"a","password":"b"}`))
	f.Add([]byte(`{"username":"a"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if a, err := decode(text); (err == nil) != (a.Username != "" && a.Password != "") {
			t.Errorf("%+v, %v", a, err)
		}
	})
}
