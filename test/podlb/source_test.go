package podlb

import (
	"testing"
	"time"
)

// TestOneSource holds that one client cannot take all connections to the API, that others do not
// feel its bound, and that it has its room back when its connections have ended. The bound is the
// rendered one by another number: ten thousand connections are the machine's and not the test's.
func TestOneSource(t *testing.T) {
	const bound, tries = 50, 60
	b := alone(t, true, "true", "sc0_conn_cur gt 10000", "sc0_conn_cur gt 50")
	go func() {
		for {
			conn, err := b.server.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
		}
	}()
	served := func(address string) (end func(), ok bool) {
		conn, err := b.host.Dial(t.Context(), "tcp", address)
		if err != nil {
			return func() {}, false // it was reset at once
		}
		if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err = conn.Read(make([]byte, 1))
		return func() { conn.Close() }, err == nil
	}
	var held []func()
	n := 0
	for range tries {
		end, ok := served("192.0.2.10:9445") // from this address, too
		held = append(held, end)
		if ok {
			n++
		}
	}
	if n != bound {
		t.Errorf("%d of %d connections of one source are served, want %d", n, tries, bound)
	}
	for _, other := range []string{"127.0.0.1:9445", "[::1]:9445"} {
		end, ok := served(other)
		end()
		if !ok {
			t.Errorf("another source, of %s, is not served", other)
		}
	}
	for _, end := range held {
		end()
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		end, ok := served("192.0.2.10:9445")
		end()
		if ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the source has ended its connections and is still refused")
		}
	}
}
