package localhost

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestKnocker has a server come, go and come again, at each loopback address: it is reached
// whenever it is there, and is refused otherwise.
func TestKnocker(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Skip(err)
			}
			port := listener.Addr().(*net.TCPAddr).Port
			address, k := fmt.Sprintf("localhost:%d", port), new(Knocker)
			for i, there := range []bool{true, false, false, true, false, true} {
				switch {
				case !there:
					listener.Close()
				case i > 0:
					if listener, err = net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(port))); err != nil {
						t.Fatal(err)
					}
				}
				if there == closed(address) {
					t.Errorf("look %d: closed is %t", i, there)
				}
				conn, err := k.Dial(t.Context(), "tcp", address)
				if (err == nil) != there || err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("look %d: %v, there: %t", i, err, there)
				}
				if conn != nil {
					conn.Close()
				}
			}
			listener.Close()
		})
	}
	resting, address := &Knocker{Rest: time.Hour}, "localhost:1"
	for range 2 {
		if _, err := resting.Dial(t.Context(), "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("where nobody listens: %v", err)
		}
	}
	first := resting.refused[address].at
	resting.Rest = 0
	if _, err := resting.Dial(t.Context(), "tcp", address); err == nil || !resting.refused[address].at.After(first) {
		t.Error("nobody looks again when the rest is over")
	}
	resting.Rest = time.Hour
	last := resting.refused[address].at
	if _, err := resting.Dial(t.Context(), "tcp", address); err == nil || resting.refused[address].at != last {
		t.Error("who rests looks again")
	}
	if closed("192.0.2.1:1") || closed("localhost") || closed("localhost:x") {
		t.Error("it is said of another host, or of none, that it refuses")
	}
}
