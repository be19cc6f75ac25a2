package probe

import (
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// timeServer is a FAKE time server whose clock is ahead of the local host's.
func timeServer(t *testing.T, ahead time.Duration, change func(answer []byte)) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		question := make([]byte, 100)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			answer := make([]byte, sntpLength)
			answer[0], answer[1] = 4<<3|sntpServer, 2
			copy(answer[sntpOrigin:], question[sntpSent:n])
			binary.BigEndian.PutUint32(
				answer[sntpSent:], uint32(time.Now().Add(ahead).Unix()+sntpSeconds),
			)
			change(answer)
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

// TestTime holds that a time server's clock is read correctly, after its overflow in 2036 too, and
// that a server whose clock is not set is an error.
func TestTime(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ahead  time.Duration
		change func([]byte)
		wrong  string
	}{
		{"in step", 0, func([]byte) {}, ""},
		{"five minutes ahead", 5 * time.Minute, func([]byte) {}, ""},
		{"five minutes behind", -5 * time.Minute, func([]byte) {}, ""},
		{"after 2036", 20 * 365 * 24 * time.Hour, func([]byte) {}, ""},
		{"without a clock", 0, func(a []byte) { a[0] |= 3 << 6 }, "its own clock is not set"},
		{"a kiss of death", 0, func(a []byte) { a[1] = 0 }, "its own clock is not set"},
		{"another request's answer", 0, func(a []byte) {
			a[sntpOrigin]++
		}, "query the time of 127.0.0.1"},
	} {
		got, err := Time(t.Context(), timeServer(t, tt.ahead, tt.change))
		if tt.wrong == "" && (err != nil || (got-tt.ahead).Abs() > 2*time.Second) ||
			tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
	}
}

// TestDate holds that any server gives its clock, also with an untrusted certificate.
func TestDate(t *testing.T) {
	date := ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = []string{date}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	for _, ahead := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		date = time.Now().Add(ahead).UTC().Format(http.TimeFormat)
		if got, err := Date(t.Context(), server.URL); err != nil ||
			(got-ahead).Abs() > 2*time.Second {
			t.Errorf("%v: %v, %v", ahead, got, err)
		}
	}
	date = "today"
	if _, err := Date(t.Context(), server.URL); err == nil {
		t.Error("no date is none")
	}
	server.Close()
	if _, err := Date(t.Context(), server.URL); err == nil {
		t.Error("no server answers")
	}
}

// TestImage holds which answers of a registry mean that an image cannot be pulled, and which
// request it receives.
func TestImage(t *testing.T) {
	code, asked := 200, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		w.WriteHeader(code)
	}))
	defer server.Close()
	before := http.DefaultTransport
	http.DefaultTransport = server.Client().Transport
	defer func() { http.DefaultTransport = before }()
	host := strings.TrimPrefix(server.URL, "https://")
	for _, tt := range []struct {
		reference, asked string
		code             int
		well             bool
	}{
		{host + "/a/b:1", "HEAD /v2/a/b/manifests/1", 200, true},
		{host + "/a/b", "HEAD /v2/a/b/manifests/latest", 401, true},
		{host + "/a/b:1@sha256:00", "HEAD /v2/a/b/manifests/sha256:00", 200, true},
		{host + "/a/b:1", "HEAD /v2/a/b/manifests/1", 404, false},
		{host + "/a/b:1", "HEAD /v2/a/b/manifests/1", 503, false},
	} {
		code = tt.code
		if err := Image(t.Context(), tt.reference); (err == nil) != tt.well || asked != tt.asked {
			t.Errorf("%s: %d: asked %q, %v", tt.reference, tt.code, asked, err)
		}
	}
	for _, reference := range []string{"keepalived", "library/keepalived:1", "127.0.0.1:1/a/b:1"} {
		if err := Image(t.Context(), reference); err == nil {
			t.Errorf("%s can be had", reference)
		}
	}
}
