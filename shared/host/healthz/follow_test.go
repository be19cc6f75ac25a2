package healthz

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPublishAt holds that metrics follow the host's addresses, and are nowhere else.
func TestPublishAt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	number := uint16(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	var second atomic.Bool
	own := func() ([]netip.AddrPort, error) {
		if second.Load() {
			return []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.4"), number)}, nil
		}
		return []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), number)}, nil
	}
	pages := map[string]Page{"/metrics": {Type: "text/plain", Text: func() []byte { return []byte("onprem_build_info") }}}
	ctx, cancel := context.WithCancel(t.Context())
	var publisher sync.WaitGroup
	defer publisher.Wait()
	defer cancel()
	publisher.Go(func() {
		for ctx.Err() == nil {
			if err := PublishAt(ctx, own, 20*time.Millisecond, pages); err != nil {
				t.Error(err)
				return
			}
		}
	})
	answers := func(host string) bool {
		client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		reply, err := client.Get(fmt.Sprintf("http://%s:%d/metrics", host, number))
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		return err == nil && reply.StatusCode == http.StatusOK && strings.Contains(string(text), "onprem_build_info")
	}
	until := func(host string) {
		t.Helper()
		for start := time.Now(); !answers(host); time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("no answer at %s", host)
			}
		}
	}
	until("127.0.0.3")
	if answers("127.0.0.4") || answers("127.0.0.1") {
		t.Error("it answers elsewhere too")
	}
	second.Store(true)
	until("127.0.0.4")
	if answers("127.0.0.3") {
		t.Error("it answers at the former address")
	}
}
