package fileserver

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
)

// site is a server with files, on the loopback.
type site struct {
	*Server
	t          *testing.T
	dir        string // has the root and, beside it, what must not be served
	plain, tls netip.AddrPort

	mu    sync.Mutex
	ended []access.Access
}

func free(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), plain: free(t), tls: free(t)}
	s.file("root/boot.ipxe", "#!ipxe\n")
	s.file("root/images/agent.kernel", strings.Repeat("0123456789", 100))
	s.file("root/redfish/boot.iso", "a secret")
	s.file("root/.hidden", "a secret")
	s.file("root/images/.agent.kernel.part", "half")
	s.file("root/later.bin", "unchecked")
	s.file("outside", "a secret")
	s.certificate("first")
	s.Server = New(Options{
		Root: s.dir + "/root", Certificate: s.dir + "/crt", Key: s.dir + "/key", Log: slog.New(slog.DiscardHandler),
		Judge: func(name string, secure bool) Verdict {
			switch {
			case strings.HasPrefix(name, "later"):
				return Later
			case strings.HasPrefix(name, "redfish/") && !secure, strings.HasPrefix(name, "never"):
				return Hidden
			}
			return Served
		},
		Ended: func(a access.Access) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ended = append(s.ended, a)
		},
	})
	t.Cleanup(s.Close)
	return s
}

func (s *site) addresses() Addresses {
	return Addresses{Plain: []netip.AddrPort{s.plain}, TLS: []netip.AddrPort{s.tls}}
}

func openSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	if err := s.Open(t.Context(), s.addresses()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) file(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// certificate writes a pair for a name.
func (s *site) certificate(name string) {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.file("key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	s.file("crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
}

// raw sends a request as it is, and returns the answer with its whole body.
func raw(t *testing.T, to netip.AddrPort, request string) (code int, header http.Header, body string) {
	t.Helper()
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return answerOf(t, c, strings.HasPrefix(request, "HEAD"))
}

func answerOf(t *testing.T, c net.Conn, head bool) (int, http.Header, string) {
	t.Helper()
	of := &http.Request{Method: "GET"}
	if head {
		of.Method = "HEAD"
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), of)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// TestServe_Paths lists what is served, and every way that we know to ask for what is not.
func TestServe_Paths(t *testing.T) {
	s := openSite(t)
	for name, to := range map[string]string{
		"root/pxelinux.cfg/inside": "../images/agent.kernel", "root/out": "../outside", "root/absolute": s.dir + "/outside",
		"root/up": "..", "root/secret": "redfish/boot.iso", "root/loop": "loop", "root/tohidden": ".hidden", "root/todir": "images", "root/passwd": "/etc/passwd",
	} {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(s.dir+"/root/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	s.file("root/odd\\..\\name", "odd")
	for path, want := range map[string]int{
		"/boot.ipxe": 200, "/images/agent.kernel": 200, "//images///agent.kernel": 200, "/hosts/../boot.ipxe": 200, "/./boot.ipxe": 200,
		"/pxelinux.cfg/inside": 200, "/boot.ipxe?x=/../../outside": 200, "/../root/boot.ipxe": 404, "/%62oot.ipxe": 200, "/odd%5c..%5cname": 200,
		"/": 404, "": 400, "/images": 404, "/images/": 404, "/boot.ipxe/": 404, "/none": 404, "/todir": 404, "/todir/agent.kernel": 200,
		"/../outside": 404, "/images/../../outside": 404, "/%2e%2e/outside": 404, "/..%2foutside": 404, "/%2e%2e%2foutside": 404, "/images/%2e%2e/%2e%2e/outside": 404,
		"/..%5coutside": 404, "/....//outside": 404, "/..;/outside": 404, "/%252e%252e/outside": 404, "/%c0%ae%c0%ae/outside": 404, "/boot.ipxe%00.png": 404, "/%00": 404,
		"//etc/passwd": 404, "/etc/passwd": 404, "/%2fetc%2fpasswd": 404, "/proc/self/environ": 404, "http://127.0.0.1/../outside": 404, "http://other/boot.ipxe": 200,
		"/out": 404, "/absolute": 404, "/up/outside": 404, "/up/root/boot.ipxe": 200 /* out and in again: the file is one of the root */, "/loop": 404, "/passwd": 404, "/pipe": 404,
		"/.hidden": 404, "/tohidden": 404, "/images/.agent.kernel.part": 404, "/images/../.hidden": 404, "/%2ehidden": 404,
		"/redfish/boot.iso": 404, "/secret": 404, "/never": 404, "/x/../redfish/boot.iso": 404, "/redfish//boot.iso": 404, "/later.bin": 503,
		"/" + strings.Repeat("a/", 600): 404, "/" + strings.Repeat("a", 3000): 404,
	} {
		code, _, body := raw(t, s.plain, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if code != want || strings.Contains(body, "secret") || strings.Contains(body, "root:") || strings.Contains(body, "<a href") {
			t.Errorf("%.80q is answered with %d, want %d: %.80q", path, code, want, body)
		}
	}
}

func TestServe_Requests(t *testing.T) {
	s := openSite(t)
	content := strings.Repeat("0123456789", 100)
	for n, tt := range []struct {
		request string
		code    int
		header  string
		body    string
	}{
		{"GET /images/agent.kernel HTTP/1.0\r\n\r\n", 200, "Content-Length: 1000", content},
		{"HEAD /images/agent.kernel HTTP/1.1\r\nHost: x\r\n\r\n", 200, "Content-Length: 1000", ""},
		{"GET /images/agent.kernel HTTP/1.1\r\nHost: x\r\n\r\n", 200, "Content-Type: application/octet-stream", content},
		{"GET /images/agent.kernel HTTP/1.1\r\nHost: x\r\nRange: bytes=990-\r\n\r\n", 206, "Content-Range: bytes 990-999/1000", "0123456789"},
		{"GET /images/agent.kernel HTTP/1.1\r\nHost: x\r\nRange: bytes=-3\r\n\r\n", 206, "Content-Range: bytes 997-999/1000", "789"},
		{"GET /images/agent.kernel HTTP/1.1\r\nHost: x\r\nRange: bytes=5-7\r\n\r\n", 206, "Content-Range: bytes 5-7/1000", "567"},
		{"GET /images/agent.kernel HTTP/1.1\r\nHost: x\r\nRange: bytes=1000-\r\n\r\n", 416, "Content-Range: bytes */1000", "*"},
		{"PUT /boot.ipxe HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405, "Allow: GET, HEAD", "*"},
		{"POST /boot.ipxe HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nabc", 405, "Allow: GET, HEAD", "*"},
		{"PROPFIND / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "Allow: GET, HEAD", "*"},
		{"GET /later.bin HTTP/1.1\r\nHost: x\r\n\r\n", 503, "Retry-After: 5", "*"},
		{"GET /boot.ipxe HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 20<<10) + "\r\n\r\n", 431, "", "*"},
		{"nonsense\r\n\r\n", 400, "", "*"},
	} {
		code, header, body := raw(t, s.plain, tt.request)
		name, value, _ := strings.Cut(tt.header, ": ")
		if code != tt.code || header.Get(name) != value && name != "" || tt.body != "*" && body != tt.body {
			t.Errorf("%.60q: %d, %v, %.40q; want %d, %s", tt.request, code, header, body, tt.code, tt.header)
		}
		// A request is reported after its answer; one that is none is not.
		for end := time.Now().Add(10 * time.Second); len(s.reported()) <= n && code != 431 && code != 400; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%.60q is not reported", tt.request)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.ended[3]; a.Client.String() != "127.0.0.1" || a.TLS || a.Method != "GET" || a.File != "images/agent.kernel" || a.Status != 206 || a.Bytes != 10 || a.Broken || a.At.IsZero() {
		t.Errorf("a request is reported as %+v", a)
	}
	if a := s.ended[9]; a.Method != "OTHER" || a.Status != 405 {
		t.Errorf("a request is reported as %+v", a)
	}
}

func (s *site) get(client *http.Client, url string) (code int, body string, err error) {
	answer, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// from is a client of another address of the loopback.
func from(address string, config *tls.Config) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSClientConfig: config}}
}

// TestServe_TLS holds that the files with secrets come over TLS alone, and that the certificate is
// read again when it is another one; one of which only one half has been written is not used.
func TestServe_TLS(t *testing.T) {
	s := newSite(t)
	if err := os.Remove(s.dir + "/key"); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), s.addresses()); err != nil {
		t.Fatal(err)
	}
	var shown string
	client := from("127.0.0.1", &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
		shown = c.PeerCertificates[0].DNSNames[0]
		return nil
	}})
	url := "https://" + s.tls.String() + "/redfish/boot.iso"
	if _, _, err := s.get(client, url); err == nil {
		t.Error("there is no key, and TLS is spoken")
	}
	if _, err := s.Ask(t.Context(), s.tls, true, "boot.ipxe"); err == nil {
		t.Error("there is no key, and the server has answered itself")
	}
	for _, name := range []string{"second", "third"} {
		s.certificate(name)
		if code, body, err := s.get(client, url); err != nil || code != 200 || body != "a secret" || shown != name {
			t.Errorf("%d, %q, %v, by the certificate of %s, want that of %s", code, body, err, shown, name)
		}
		if size, err := s.Ask(t.Context(), s.tls, true, "boot.ipxe"); err != nil || size != 7 {
			t.Errorf("the server answers itself with %d, %v", size, err)
		}
	}
	s.file("key", "half")
	if code, _, err := s.get(client, url); err != nil || code != 200 || shown != "third" {
		t.Errorf("while a pair is written: %d, %v, by the certificate of %s", code, err, shown)
	}
	if code, _, _ := s.get(client, "http://"+s.tls.String()+"/redfish/boot.iso"); code == 200 {
		t.Error("the port for TLS answers without it")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.ended {
		if !a.TLS || a.File != "redfish/boot.iso" {
			t.Errorf("reported is %+v: the server's own questions are no events", a)
		}
	}
}

// TestServe_Parallel has 200 clients at a time fetch a file that fits no buffer.
func TestServe_Parallel(t *testing.T) {
	s := openSite(t)
	content := make([]byte, 3<<20+17)
	_, _ = rand.Read(content)
	s.file("root/images/os.raw", string(content))
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			to, config := "http://"+s.plain.String(), (*tls.Config)(nil)
			if i%4 == 0 {
				to, config = "https://"+s.tls.String(), &tls.Config{InsecureSkipVerify: true}
			}
			code, body, err := s.get(from(fmt.Sprintf("127.0.1.%d", i+1), config), to+"/images/os.raw")
			if err != nil || code != 200 || !bytes.Equal([]byte(body), content) {
				t.Errorf("client %d: %d, %d bytes, %v", i, code, len(body), err)
			}
		})
	}
	wait.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	clients := map[netip.Addr]bool{}
	for _, a := range s.ended {
		if a.Bytes != int64(len(content)) || a.Broken {
			t.Errorf("reported is %+v", a)
		}
		clients[a.Client] = true
	}
	if len(clients) != 200 {
		t.Errorf("%d clients are reported", len(clients))
	}
}

// TestServe_Limit holds that one client cannot keep others from their files, whatever it opens.
func TestServe_Limit(t *testing.T) {
	s := openSite(t)
	for range maxOfClient + 20 {
		c, err := net.Dial("tcp", s.plain.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	// The server counts a connection, and its end, somewhat later than the client.
	until := func(is func(n int) bool) {
		for end := time.Now().Add(10 * time.Second); !is(s.Connections()) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	until(func(n int) bool { return n >= maxOfClient })
	if _, _, err := s.get(from("127.0.0.1", nil), "http://"+s.plain.String()+"/boot.ipxe"); err == nil {
		t.Error("a client has one more connection than it may have")
	}
	if code, _, err := s.get(from("127.0.0.2", nil), "http://"+s.plain.String()+"/boot.ipxe"); err != nil || code != 200 {
		t.Errorf("another client: %d, %v", code, err)
	}
	until(func(n int) bool { return n <= maxOfClient })
	if got := s.Connections(); got != maxOfClient {
		t.Errorf("%d connections, want %d", got, maxOfClient)
	}
}

// TestLimit_All holds that there is a limit for all clients together, and that nothing is kept of
// those that have left.
func TestLimit_All(t *testing.T) {
	var l limit
	client := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range maxConnections {
		if !l.take(client(i)) {
			t.Fatalf("connection %d is refused", i)
		}
	}
	if l.take(client(maxConnections)) {
		t.Errorf("more than %d connections", maxConnections)
	}
	l.free(client(0))
	if !l.take(client(maxConnections)) {
		t.Error("a connection that has ended still counts")
	}
	for i := range maxConnections {
		l.free(client(i + 1))
	}
	if l.count() != 0 || len(l.of) != 0 {
		t.Errorf("%d connections and %d clients are left", l.count(), len(l.of))
	}
}

// TestSending_Write holds that an answer of several pieces arrives whole and is counted.
func TestSending_Write(t *testing.T) {
	to := httptest.NewRecorder()
	s := &sending{ResponseWriter: to, control: http.NewResponseController(to), within: time.Second}
	text := bytes.Repeat([]byte("0123456"), chunk/3)
	if n, err := s.Write(text); n != len(text) || err != nil || s.bytes != int64(n) || !bytes.Equal(to.Body.Bytes(), text) {
		t.Errorf("wrote %d of %d, counted %d, %v", n, len(text), s.bytes, err)
	}
}

// TestServe_Slow holds that a client that sends or takes nothing loses its connection, and is
// reported as one that has not got its file.
func TestServe_Slow(t *testing.T) {
	s := newSite(t)
	s.sendHead, s.takeChunk = 300*time.Millisecond, 300*time.Millisecond
	if err := s.Open(t.Context(), s.addresses()); err != nil {
		t.Fatal(err)
	}
	s.file("root/images/os.raw", strings.Repeat("x", 32<<20))
	for _, request := range []string{"GET /boot", "GET /images/os.raw HTTP/1.1\r\nHost: x\r\n\r\n"} {
		c, err := net.Dial("tcp", s.plain.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(20 * time.Second); s.Connections() > 0 || len(s.reported()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are open", s.Connections())
		}
	}
	if all := s.reported(); len(all) != 1 || !all[0].Broken || all[0].Kind() != access.Broken || all[0].Bytes >= 32<<20 {
		t.Errorf("reported are %+v", all)
	}
}

func (s *site) reported() []access.Access {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func TestOpen(t *testing.T) {
	s := openSite(t)
	opened := s.open
	if err := s.Open(t.Context(), s.addresses()); err != nil || s.Err() != nil || s.open != opened {
		t.Errorf("open again: %v, %v, connections are closed: %t", err, s.Err(), s.open != opened)
	}
	c, err := net.Dial("tcp", s.plain.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other := newSite(t)
	at := other.addresses()
	at.TLS = []netip.AddrPort{s.tls}
	if err := other.Open(t.Context(), at); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d of 127.0.0.1 is taken by another program", s.tls.Port())) {
		t.Errorf("%v, want that the port is taken", err)
	}
	if l, err := net.Listen("tcp", other.plain.String()); err != nil {
		t.Errorf("a port is kept by a server that could not open: %v", err)
	} else {
		l.Close()
	}
	if other.Err() == nil {
		t.Error("a server that could not open reports no error")
	}
	s.Close()
	s.Close()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection outlives its server: %v", err)
	}
	if err := other.Open(t.Context(), at); err != nil {
		t.Errorf("when the port is free: %v", err)
	}
	// An address that the machine does not have yet.
	if err := other.Open(t.Context(), Addresses{Plain: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.77:16180"), netip.MustParseAddrPort("[2001:db8::77]:16180")}}); err != nil {
		t.Errorf("an address that comes later: %v", err)
	}
	if _, _, err := other.get(from("127.0.0.1", nil), "http://"+other.plain.String()+"/boot.ipxe"); err == nil {
		t.Error("the former address is still served")
	}
	other.Root = "/does/not/exist"
	if err := other.Open(t.Context(), at); err == nil {
		t.Error("there is no directory, and it is served")
	}
}

// TestAsk holds that another server at the address does not count as this one.
func TestAsk(t *testing.T) {
	s, other := openSite(t), openSite(t)
	if size, err := s.Ask(t.Context(), s.plain, false, "images/agent.kernel"); err != nil || size != 1000 {
		t.Errorf("%d, %v", size, err)
	}
	for name, ask := range map[string]func() error{
		"another server":      func() error { _, err := s.Ask(t.Context(), other.plain, false, "boot.ipxe"); return err },
		"another certificate": func() error { _, err := s.Ask(t.Context(), other.tls, true, "boot.ipxe"); return err },
		"not there":           func() error { _, err := s.Ask(t.Context(), s.plain, false, "none"); return err },
		"not ready":           func() error { _, err := s.Ask(t.Context(), s.plain, false, "later.bin"); return err },
		"no server":           func() error { _, err := s.Ask(t.Context(), free(t), false, "boot.ipxe"); return err },
	} {
		if err := ask(); err == nil || !strings.HasPrefix(err.Error(), "ask for http") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.reported()) != 0 {
		t.Errorf("the server's own questions are reported: %+v", s.reported())
	}
}
