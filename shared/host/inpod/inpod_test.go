package inpod

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// TestKeepalived_Stop holds that Stop waits until the supervisor has released the VIP, and no
// longer.
func TestKeepalived_Stop(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var asked atomic.Int32
	reads := 0
	k := NewKeepalived(plan.Plan{}, func(now bool) error {
		if !now {
			t.Error("it takes a request back")
		}
		asked.Add(1)
		return nil
	}, func() (supervised.Status, error) {
		if reads++; reads < 3 {
			return supervised.Status{PID: 7, Leaving: supervised.Asked}, nil
		}
		return supervised.Status{PID: 7, Leaving: supervised.Left}, nil
	})
	k.health = probe.NewHTTP(server.URL, dial)
	if err := k.Stop(t.Context(), "keepalived"); err != nil || asked.Load() != 1 || reads != 3 {
		t.Errorf("%v; asked %d times, read the status %d times", err, asked.Load(), reads)
	}
	if err := k.Ensure(t.Context(), container.Spec{}); err != nil {
		t.Errorf("the supervisor answers, want no error: %v", err)
	}

	k.status = func() (supervised.Status, error) { return supervised.Status{PID: 7, Leaving: supervised.Asked}, nil }
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := k.Stop(soon, "keepalived"); err == nil {
		t.Error("the VIP is still held, want an error")
	}
	answers := k.health
	k.health = probe.NewHTTP(server.URL, func(context.Context, string, string) (net.Conn, error) { return nil, os.ErrDeadlineExceeded })
	slowly, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := k.Stop(slowly, "keepalived"); err == nil {
		t.Error("the supervisor is slow to answer, want an error")
	}
	k.health = answers
	k.status = func() (supervised.Status, error) { return supervised.Status{}, errors.New("no disk") }
	if err := k.Stop(t.Context(), "keepalived"); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("a status that cannot be read: %v", err)
	}

	server.Close() // its last status is stale
	k.status = func() (supervised.Status, error) { return supervised.Status{PID: 7, Leaving: supervised.Stays}, nil }
	if err := k.Stop(t.Context(), "keepalived"); err != nil {
		t.Errorf("there is no supervisor, want no wait: %v", err)
	}
	if err := k.Ensure(t.Context(), container.Spec{}); err == nil || !strings.Contains(err.Error(), "kubelet starts it") {
		t.Errorf("there is no supervisor: %v", err)
	}
}

// TestBootstrapCoreDNS holds that a CoreDNS started by kubelet is found and gets signals, and that
// another one is found after its exit.
func TestBootstrapCoreDNS(t *testing.T) {
	command := []string{"sleep", "86399"}
	c := &BootstrapCoreDNS{}
	defer c.Drop()
	if err := c.Ensure(t.Context(), container.Spec{Command: command}); err == nil || c.Running() {
		t.Fatalf("none runs: %v", err)
	}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := c.Ensure(t.Context(), container.Spec{Command: command}); err != nil || !c.Running() {
			t.Fatalf("one runs: %v", err)
		}
		if err := c.Signal(15); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || c.Running() {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}
