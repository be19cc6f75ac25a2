package judge

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

var config = frr.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0],
	VIPs: []netip.Addr{netip.MustParseAddr("198.51.100.5")}, Peers: []frr.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}

// late has a FAKE bgpd take every command, and answer one of them after a time.
func late(t *testing.T, command string, after time.Duration) (dir string) {
	t.Helper()
	dir = t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "bgpd.vty"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var pending []byte
		for buffer := make([]byte, 4096); ; {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			pending = append(pending, buffer[:n]...)
			for one, rest, whole := bytes.Cut(pending, []byte{0}); whole; one, rest, whole = bytes.Cut(pending, []byte{0}) {
				if pending = rest; string(one) == command {
					time.Sleep(after)
				}
				if _, err := conn.Write([]byte{0, 0, 0, 0}); err != nil {
					return
				}
			}
		}
	}()
	return dir
}

// TestTest_Late holds that nothing is known of a configuration while a daemon does not answer in time, as on a host that
// boots: a refusal counts until the next configuration.
func TestTest_Late(t *testing.T) {
	t.Parallel()
	s := &scratch{name: frr.BGP, dir: late(t, "configure terminal", 1300*time.Millisecond), done: make(chan struct{})}
	if refused, err := s.test(t.Context(), config); refused != nil || err == nil {
		t.Errorf("refused %v, %v", refused, err)
	}
}

// ending is a FAKE test that takes its time to end with its context.
type ending struct {
	begun chan frr.Config
	ends  chan struct{} // closed when it may
}

func (e ending) Test(ctx context.Context, c frr.Config) (refused, err error) {
	e.begun <- c
	<-ctx.Done()
	<-e.ends
	return nil, ctx.Err()
}

// TestConsider_Back holds that a configuration whose test was ended, as another one had come, is tested when it is back.
func TestConsider_Back(t *testing.T) {
	t.Parallel()
	tester := ending{begun: make(chan frr.Config, 9), ends: make(chan struct{})}
	c := &Candidates{Tester: tester, Wake: loop.NewWake()}
	t.Cleanup(c.End)
	another := config
	another.ASN = 64513
	consider := func(one frr.Config) {
		t.Helper()
		if good, err := c.Consider(t.Context(), one); good || err != nil {
			t.Errorf("it is not tested yet: %v, %v", good, err)
		}
	}
	consider(config)
	<-tester.begun
	consider(another)
	consider(config)
	close(tester.ends)
	<-c.last.done
	if consider(config); c.last.tested() {
		t.Fatal("it is not tested anew")
	}
	if got := <-tester.begun; got.ASN != config.ASN {
		t.Errorf("%d is tested", got.ASN)
	}
}
